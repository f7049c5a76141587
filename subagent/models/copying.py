"""Narrowing the schema of an answer to values that occur in its sources: copying, where a model errs at judging.

After the verify gate has sent a grounded answer back, a constrained model is offered, for every free string and
number of the schema, only what could be copied from the sources and satisfies that field's own rules. A field
without a candidate stays free: the gate still has the last word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

MAX_WORDS = 6
MAX_CANDIDATES = 400
"""Of one field. More would make the grammar slower than the model is worth: then the field stays free."""

_PIECE = re.compile(r'[^\s|;=<>":]+(?::(?=\S)[^\s|;=<>":]+)*')
_BREAK = re.compile(r'[|;=<>"\n]')
_NUMBER = re.compile(r"(?<![\w.,/+-])-?\d+(?:\.\d+)?(?![\w/]|[.,-]\d)")
_EDGES = "#+(@$"

Schema = dict[str, Any]
"""A decoded JSON Schema: its keys are the standard's, so it has no struct."""


def narrow(schema: bytes, sources: Sequence[str]) -> bytes:
    """`schema` with each free string and number limited to candidates from `sources`."""
    return msgspec.json.encode(_narrow(msgspec.json.decode(schema), sources))


def _narrow(schema: Schema, sources: Sequence[str]) -> Schema:
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return schema
    match schema.get("type"):
        case "object":
            fields = {key: _narrow(field, sources) for key, field in schema.get("properties", {}).items()}
            return {**schema, "properties": fields}
        case "array" if "items" in schema:
            return {**schema, "items": _narrow(schema["items"], sources)}
        case "string" | "integer" | "number":
            found = list(dict.fromkeys(_candidates(schema, sources)))
            return {"enum": found} if 0 < len(found) <= MAX_CANDIDATES else schema
    return schema


def _candidates(field: Schema, sources: Sequence[str]) -> Iterator[str | int | float]:
    """What could be copied into a field, in order of appearance."""
    for source in sources:
        if field["type"] == "string":
            yield from (span for line in source.splitlines() for span in _spans(line) if _fits(field, span))
        else:
            yield from _numbers(field, source)


def _numbers(field: Schema, source: str) -> Iterator[int | float]:
    """Numbers that stand alone: no part of a date, an id or a longer number."""
    for digits in _NUMBER.findall(source):
        number = float(digits) if "." in digits else int(digits)
        whole_enough = field["type"] == "number" or isinstance(number, int)
        if whole_enough and field.get("minimum", number) <= number <= field.get("maximum", number):
            yield number


def _spans(line: str) -> Iterator[str]:
    """Every run of up to MAX_WORDS pieces that no strong separator divides."""
    edges = list(_pieces(line))
    for first, (start, _) in enumerate(edges):
        for _, end in edges[first : first + MAX_WORDS]:
            if _BREAK.search(line, start, end):
                break
            yield line[start:end]


def _pieces(line: str) -> Iterator[tuple[int, int]]:
    """Where words stand, without the punctuation around them; the inside of brackets is a piece of its own, too."""
    for found in _PIECE.finditer(line):
        start, end = found.span()
        while start < end and not (line[start].isalnum() or line[start] in _EDGES):
            start += 1
        while end > start and not (line[end - 1].isalnum() or (line[end - 1] == ")" and "(" in line[start:end])):
            end -= 1
        if line[start : start + 1] == "(":
            yield start + 1, end - (line[end - 1] == ")")
        if end > start:
            yield start, end


def _fits(field: Schema, text: str) -> bool:
    """Whether a string satisfies its field's own rules. A pattern that Python cannot read lets everything pass."""
    if not field.get("minLength", 1) <= len(text) <= field.get("maxLength", 200):
        return False
    try:
        return "pattern" not in field or re.search(field["pattern"], text) is not None
    except re.error:
        return True
