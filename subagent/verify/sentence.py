"""How a problem names the place in an answer and the value that stands there: bounded, on one line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from subagent.verify.answer import JsonValue, encode_json

SHOWN_CHARS = 120

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def place(path: Sequence[str | int]) -> str:
    """A path into a JSON value: `$` is the value itself, `$.items[2].price` a part of it."""
    parts = (
        f".{part}" if isinstance(part, str) and _PLAIN_NAME.fullmatch(part) else f"[{_json(part)}]" for part in path
    )
    return cut("$" + "".join(parts))


def shown_value(value: JsonValue) -> str:
    """A value as JSON, or what kind of value it is where it has parts."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return cut(_json(value))


def cut(text: str) -> str:
    """At most SHOWN_CHARS of `text`."""
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"


def _json(value: JsonValue) -> str:
    return bytes(encode_json(value)).decode()
