"""JSON that can mean only one thing: no key twice, no NaN, no lone surrogate, no endless nesting. Pure."""

from __future__ import annotations

import json
from typing import NoReturn

import msgspec

from protocol.nesting import is_too_deep


def parse_strict(text: str) -> object:
    """The value of `text`. Raises ValueError for anything but one unambiguous JSON value, up to MAX_NESTING levels."""
    parse(text)  # with what the tools decode with: it also refuses halves of surrogate pairs
    value: object = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    return value


def parse(text: str) -> object:
    """The value of `text`. Raises ValueError if it is no JSON, or nests deeper than MAX_NESTING levels."""
    if is_too_deep(text.encode()):
        raise ValueError("nested too deep")
    value: object = msgspec.json.decode(text)
    return value


def is_object(text: str) -> bool:
    """Whether `text` is exactly one JSON object, up to MAX_NESTING levels."""
    try:
        return isinstance(parse(text), dict)
    except ValueError:
        return False


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    distinct = dict(pairs)
    if len(distinct) != len(pairs):
        raise ValueError("a key occurs twice")
    return distinct


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
