"""The one JSON value in what a model wrote: bare, in a code fence, or with words around it.

Tolerant of the wrapping, never of doubt: two different values are no answer (supervision.md 1, "Schema'd answers").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import msgspec

from protocol.errors import CoveyError
from protocol.nesting import MAX_NESTING, is_too_deep

JsonValue = dict[str, "JsonValue"] | list["JsonValue"] | str | int | float | Decimal | bool | None

MAX_ANSWER_NESTING = MAX_NESTING - 8
"""An answer travels inside a frame and a journal entry, which have levels of their own."""

_FENCE = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)

# Decimal: a number is handed on with the digits that the model wrote.
_decoder = msgspec.json.Decoder(float_hook=Decimal)
_encoder = msgspec.json.Encoder(decimal_format="number", order="deterministic")
_result_encoder = msgspec.json.Encoder(decimal_format="number")


class NoSingleValue(CoveyError):
    """There is no JSON value in a text, or more than one. The sentence is for the model."""


def parse_json(text: str) -> JsonValue:
    """The JSON value of an answer. Raises NoSingleValue."""
    whole = text.strip()
    try:
        return _decode(whole)
    except ValueError as error:
        reason = str(error)
    values = {_encoder.encode(value): value for value in _enclosed(whole)}
    if len(values) > 1:
        raise NoSingleValue(
            f"the answer holds {len(values)} different JSON values: reply with exactly one, and no other text"
        )
    if not values:
        raise NoSingleValue(f"the answer is not JSON ({reason}): reply with exactly one JSON value, and no other text")
    return next(iter(values.values()))


def encode_json(value: JsonValue) -> msgspec.Raw:
    """The value as compact JSON."""
    return msgspec.Raw(_result_encoder.encode(value))


def _enclosed(text: str) -> Iterator[JsonValue]:
    """The values in code fences and between the outermost braces or brackets, but not those inside others."""
    taken: list[tuple[int, int]] = []
    fences = [fence.span(1) for fence in _FENCE.finditer(text)]  # never one inside another
    for number, (start, end) in enumerate([*fences, *_outermost(text)]):
        if number >= len(fences) and any(first <= start and end <= last for first, last in taken):
            continue
        try:
            value = _decode(text[start:end])
        except ValueError:
            continue
        taken.append((start, end))
        yield value


def _outermost(text: str) -> list[tuple[int, int]]:
    """From the first opening brace to the last closing one, and the same of brackets, in order."""
    between = [(text.find(opening), text.rfind(closing) + 1) for opening, closing in ("{}", "[]")]
    return sorted(span for span in between if 0 <= span[0] < span[1])


def _decode(text: str) -> JsonValue:
    """Raises ValueError, of which msgspec's DecodeError is one."""
    encoded = text.strip().encode()
    if is_too_deep(encoded, MAX_ANSWER_NESTING):
        raise ValueError(f"nested deeper than {MAX_ANSWER_NESTING} levels")
    value: JsonValue = _decoder.decode(encoded)
    return value
