"""Flags and environment to a model: precedence, refusals, and keys that show nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import SpecError
from supervisor.providers import PROVIDERS, Chosen, ModelFlags, check_base_url, choose_model

SECRET = "sk-very-secret-0123456789"


def choose(model: str | None = None, base_url: str | None = None, window: int | None = None, **environ: str) -> Chosen:
    return choose_model(ModelFlags(model, base_url, window), environ)


def refusal(*args: str | None, **environ: str) -> str:
    with pytest.raises(SpecError) as caught:
        choose(*args, **environ)
    return str(caught.value)


@pytest.mark.parametrize("provider", [p for p in PROVIDERS.values() if p.needs_key], ids=lambda p: p.name)
def test_a_provider_uses_its_own_endpoint_and_the_key_of_its_own_variable(provider):
    chosen = choose(f"{provider.name}/m", **{provider.keys[0]: SECRET})
    assert (chosen.spec.base_url, chosen.secrets.api_key, chosen.service) == (provider.base_url, SECRET, None)


@pytest.mark.parametrize(
    "provider", [p for p in PROVIDERS.values() if p.base_url and not p.needs_key], ids=lambda p: p.name
)
def test_a_server_on_this_machine_needs_no_key_and_gets_none_of_another_provider(provider):
    chosen = choose(f"{provider.name}/m", OPENAI_API_KEY=SECRET)
    assert chosen.secrets.api_key is None
    assert chosen.spec.base_url.startswith("http://localhost:")


def test_every_default_endpoint_passes_its_own_check():
    for provider in PROVIDERS.values():
        if provider.base_url:
            assert check_base_url(provider.base_url, "x") == provider.base_url


def test_a_name_may_hold_slashes():
    assert choose("openrouter/meta-llama/llama-3", OPENROUTER_API_KEY="k").spec.name == "meta-llama/llama-3"


def test_a_flag_wins_over_covey_variables_and_those_over_the_providers_own():
    environ = {
        "COVEY_MODEL": "groq/g",
        "COVEY_BASE_URL": "http://covey/v1",
        "OPENAI_BASE_URL": "http://openai/v1",
        "COVEY_API_KEY": "covey-key",
        "OPENAI_API_KEY": "openai-key",
    }
    by_flag = choose("openai/o", "http://flag/v1/", **environ)
    assert (by_flag.spec.name, by_flag.spec.base_url, by_flag.secrets.api_key) == ("o", "http://flag/v1", "covey-key")
    assert choose(**environ).spec.provider == "groq"
    assert choose("openai/o", **environ).spec.base_url == "http://covey/v1"
    own = {name: text for name, text in environ.items() if name.startswith("OPENAI")}
    assert choose("openai/o", **own).spec.base_url == "http://openai/v1"
    assert choose("openai/o", **own).secrets.api_key == "openai-key"


def test_an_empty_variable_is_as_good_as_unset():
    told = refusal("openai/o", COVEY_BASE_URL="", COVEY_API_KEY="", OPENAI_API_KEY="")
    assert "no key for openai" in told


def test_a_chosen_endpoint_may_do_without_a_key():
    assert choose("openai/o", "http://localhost:4000/v1").secrets.api_key is None


def test_no_model_tells_every_choice_and_the_demo():
    told = refusal()
    assert told.startswith("--model: no model is chosen")
    for choice in ("openai/NAME", "OPENAI_API_KEY", "ollama", "custom/NAME", "scripted/FILE", "./dev demo"):
        assert choice in told


@pytest.mark.parametrize(
    ("model", "part"),
    [
        ("opnai/gpt", "did you mean openai?"),
        ("gpt-4o", "write PROVIDER/NAME"),
        ("openai/", "write a name behind 'openai/'"),
        ("openai/a\nb", "control characters"),
        ("zzz/q", "no provider 'zzz'"),
        ("custom/m", "give --base-url"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_with_the_fix(model, part):
    assert part in refusal(model, OPENAI_API_KEY="k")


def test_a_refusal_names_the_variable_that_the_value_came_from():
    assert refusal(COVEY_MODEL="nonsense").startswith("COVEY_MODEL: ")


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass-word@host/v1",
        "http://user@host/v1",
        "https://host/v1?key=pass-word",
        "https://host/v1#pass-word",
        "ftp://host/pass-word",
        "host/pass-word",
        "https:///pass-word",
        "https://host:99999/pass-word",
        "https://host:0/pass-word",
        "https://ho st/pass-word",
        "https://höst/pass-word",
        "https://host/v1/pass-word/chat/completions",
        "http://[::1/pass-word",
    ],
)
def test_a_bad_endpoint_is_refused_and_never_quoted(url):
    told = refusal("custom/m", url)
    assert told.startswith("--base-url: ")
    assert "pass-word" not in told


def test_a_key_is_stripped_and_one_that_no_header_can_carry_is_refused_unseen():
    assert choose("openai/o", OPENAI_API_KEY=f" {SECRET}\n").secrets.api_key == SECRET
    for bad in (f"{SECRET}\nX-Evil: 1", f"{SECRET} {SECRET}", f"{SECRET}é", "   "):
        told = refusal("openai/o", OPENAI_API_KEY=bad)
        assert told.startswith("OPENAI_API_KEY: is no key")
        assert "secret" not in told


def test_a_chosen_model_shows_no_key():
    chosen = choose("openai/o", OPENAI_API_KEY=SECRET)
    assert SECRET not in repr(chosen)
    assert SECRET not in str(chosen.spec)


def test_the_output_cap_fits_a_small_window_and_a_window_of_zero_stays_zero():
    assert choose("ollama/m", window=2_048).spec.max_output == 512
    assert choose("ollama/m").spec.max_output == 4_096
    off = choose("ollama/m", window=0).spec
    assert (off.context_window, off.max_output) == (0, 4_096)


@given(st.text(), st.text(), st.text())
def test_any_text_gives_a_model_or_a_spec_error(model, url, key):
    try:
        chosen = choose(model, url, OPENAI_API_KEY=key)
    except SpecError:
        return
    assert chosen.spec.base_url.startswith(("http://", "https://"))
