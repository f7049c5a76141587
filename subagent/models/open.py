"""Which wire speaks to a model. The only place that knows them all."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

from protocol.errors import SpecError
from protocol.frames import Secrets
from protocol.model import ModelSpec
from subagent.models.openai_chat import OpenAIChat
from subagent.models.text_wire import TextWire
from subagent.models.types import ToolSchema, Wire


def open_wire(spec: ModelSpec, secrets: Secrets, tools: Sequence[ToolSchema], answer_schema: bytes | None) -> Wire:
    """The wire to `spec`, offering `tools`. Nothing is sent yet: the endpoint is judged by the first call.

    `answer_schema` is the JSON Schema of the final answer, for a model that can be constrained to it. Raises
    SpecError for a base URL or a key that cannot be used.
    """
    url = chat_url(spec.base_url)
    _check_key(secrets.api_key)
    if spec.tool_style == "native":
        return OpenAIChat(spec, url, secrets, tools)
    inner = OpenAIChat(spec, url, secrets, ())
    return TextWire(inner, tools, answer_schema, spec.examples, constrained=spec.constrained)


def chat_url(base_url: str) -> str:
    """The URL to post to; a query of the base URL is kept (Azure has its version there). Raises SpecError."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise SpecError("base URL", "must be http://HOST[:PORT]/PATH or https://…, without /chat/completions")
    if parts.username is not None or parts.password is not None:
        raise SpecError("base URL", "holds a user name or a password: give the key as COVEY_API_KEY instead")
    path = parts.path.rstrip("/") + "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _check_key(key: str | None) -> None:
    """An HTTP header carries printable ASCII only; an error raised deeper down would quote the key."""
    if key is not None and not (key.isascii() and key.isprintable() and key == key.strip()):
        raise SpecError("API key", "has characters that no HTTP header can carry (a line end, perhaps)")
