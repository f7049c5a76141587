"""JSON that can mean only one thing: no key twice, no NaN, nothing that UTF-8 cannot carry. Pure."""

from __future__ import annotations

import json
from typing import NoReturn

import msgspec


def parse_strict(text: str) -> object:
    """The value of `text`. Raises ValueError for anything but one unambiguous JSON value."""
    try:
        value: object = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
        msgspec.json.decode(text)  # what the tools decode with: it also refuses halves of surrogate pairs
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def is_object(text: str) -> bool:
    """Whether `text` is exactly one JSON object."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (ValueError, RecursionError):
        return False


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    distinct = dict(pairs)
    if len(distinct) != len(pairs):
        raise ValueError("a key occurs twice")
    return distinct


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
