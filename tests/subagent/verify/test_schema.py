"""What a schema finds wrong is told with place, expectation and value."""

from __future__ import annotations

import pytest

from protocol.errors import SpecError
from subagent.verify.answer import JsonValue
from subagent.verify.schema import SchemaCheck

SCHEMA = b"""{
    "type": "object", "required": ["name"], "additionalProperties": false,
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "kind": {"enum": ["bolt", "nut"]},
        "price": {"type": "number", "minimum": 0, "multipleOf": 0.01},
        "day": {"type": "string", "format": "date"},
        "parts": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["id"]}]}}
    }
}"""


def problems(value: JsonValue) -> list[str]:
    return list(SchemaCheck(SCHEMA, "test").problems(value))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, ['$: "name" is a required property']),
        ([], ['$: it is not of type "object" (got an array of 0)']),
        ({"name": 5}, ['$.name: it is not of type "string" (got 5)']),
        ({"name": "too long"}, ['$.name: it is longer than 5 characters (got "too long")']),
        ({"name": "a", "kind": "x"}, ['$.kind: it is not one of "bolt" or "nut" (got "x")']),
        ({"name": "a", "price": -1}, ["$.price: it is less than the minimum of 0 (got -1)"]),
        ({"name": "a", "day": "2024-13-01"}, ['$.day: it is not a "date" (got "2024-13-01")']),
        ({"name": "a", "odd one": 1}, ["$: Additional properties are not allowed ('odd one' was unexpected)"]),
        (
            {"name": 5, "kind": "x"},
            ['$.name: it is not of type "string" (got 5)', '$.kind: it is not one of "bolt" or "nut" (got "x")'],
        ),
        ({"name": "a", "price": 1, "day": "2024-12-01", "parts": ["x", {"id": 1}]}, []),
    ],
)
def test_every_error_is_told_with_place_expectation_and_value(value: JsonValue, told: list[str]) -> None:
    assert sorted(problems(value)) == sorted(told)


def test_a_value_that_fits_no_form_is_told_what_each_form_wants() -> None:
    (told,) = problems({"name": "a", "parts": [{"x": 1}]})
    assert told.startswith("$.parts[0]: it is not valid under any of the schemas")
    assert told.endswith(
        ': either $.parts[0]: it is not of type "string" (got an object) or $.parts[0]: "id" is a required property'
    )


def test_a_value_is_quoted_within_bounds() -> None:
    (told,) = problems({"name": "x" * 100_000})
    assert len(told) < 400


def test_a_pattern_made_to_backtrack_is_answered_at_once() -> None:
    check = SchemaCheck(rb'{"type":"string","pattern":"^(a+)+$"}', "test")
    assert len(list(check.problems("a" * 50 + "b"))) == 1


def test_a_schema_that_cannot_be_used_is_a_spec_error() -> None:
    with pytest.raises(SpecError, match="^here: is no JSON Schema"):
        SchemaCheck(b'{"type":"strin"}', "here")
