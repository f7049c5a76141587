"""Narrowing a schema to values that occur in its sources: copying, where a model errs at inventing.

After the verify gate has sent a grounded answer back, a constrained model is offered, for every free string and
number of the schema, only what could be copied from the sources and satisfies that field's own rules; a value
that was copied already is kept. A field without a candidate stays free: the gate has the last word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from subagent.models.strict_json import parse
from subagent.models.types import Copying

MAX_WORDS = 6
MAX_CANDIDATES = 400
"""Of one field. More would make the grammar slower than the model is worth: then the field stays free."""

_PIECE = re.compile(r'[^\s|;=<>":]+(?::(?=\S)[^\s|;=<>":]+)*')
_BREAK = re.compile(r'[|;=<>"\n]')
_NUMBER = re.compile(r"(?<![\w.,/+-])-?\d{1,15}(?:\.\d{1,15})?(?![\w/]|[.,-]\d)")
_EDGES = "#+(@$"

Schema = dict[str, Any]
"""A decoded JSON Schema: its keys are the standard's, so it has no struct."""


def narrow(schema: bytes, copying: Copying) -> bytes:
    """`schema` with each free string and number limited to what can be copied; a value that could be is kept."""
    return msgspec.json.encode(_narrow(msgspec.json.decode(schema), copying.sources, _decoded(copying.answer)))


def _decoded(answer: str) -> object:
    try:
        return parse(answer)
    except ValueError:
        return None


def _narrow(schema: Schema, sources: Sequence[str], value: object) -> Schema:
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return schema
    match schema.get("type"):
        case "object":
            given = value if isinstance(value, dict) else {}
            fields = schema.get("properties", {})
            return {**schema, "properties": {k: _narrow(field, sources, given.get(k)) for k, field in fields.items()}}
        case "array" if "items" in schema:
            return {**schema, "items": _narrow(schema["items"], sources, None)}
        case "string" | "integer" | "number":
            return _narrow_leaf(schema, sources, value)
    return schema


def _narrow_leaf(field: Schema, sources: Sequence[str], value: object) -> Schema:
    found: dict[str | int | float, None] = {}
    for candidate in _candidates(field, sources):
        if candidate == value:
            return {"const": value}
        if len(found) <= MAX_CANDIDATES:
            found[candidate] = None
        elif value is None:
            break
    return {"enum": list(found)} if 0 < len(found) <= MAX_CANDIDATES else field


def _candidates(field: Schema, sources: Sequence[str]) -> Iterator[str | int | float]:
    """What could be copied into a field, in order of appearance."""
    fits = _rules(field) if field["type"] == "string" else None
    for source in sources:
        if fits is not None:
            yield from (span for line in source.splitlines() for span in _spans(line) if fits(span))
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


def _rules(field: Schema) -> Callable[[str], bool]:
    """Whether a string satisfies its field's own rules, as the verify gate will see it.

    By the gate's validator: it gives up on a pattern that would backtrack without end, and Python's would not.
    """
    from protocol.schema_check import compile_schema  # 20 ms that a wire without copying does not pay

    given = {rule: field[rule] for rule in ("minLength", "maxLength", "pattern") if rule in field}
    return compile_schema(msgspec.json.encode({"minLength": 1, "maxLength": 200, **given}), "field").is_valid
