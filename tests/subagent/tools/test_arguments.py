"""Arguments are checked field by field: every problem is named at once, with what was expected and what came."""

from __future__ import annotations

from typing import Annotated, Any

import jsonschema_rs
import msgspec
import pytest
from msgspec import UNSET, Meta, UnsetType

from subagent.tools.arguments import decode_arguments, parameters_schema, tool_spec
from subagent.tools.types import READ_ONLY, ToolRefused


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="Where.")]
    first: Annotated[int, Meta(ge=1)] = 1
    limit: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    all: bool = False


class Optional(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str = "."


USAGE = "Arguments: path (string), first (integer, optional), limit (integer, optional), all (boolean, optional)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b"{}", "path is missing"),
        (b"", "path is missing"),
        (b'{"path":5}', "path: Expected `str`, got `int`; received '5'"),
        (b'{"path":null}', "path: Expected `str`, got `null`; received 'null'"),
        (b'{"path":"a","first":0}', "first: Expected `int` >= 1; received '0'"),
        (b'{"path":"a","first":"3"}', "first: Expected `int`, got `str`; received '\"3\"'"),
        (b'{"path":"a","first":1.5}', "first: Expected `int`, got `float`; received '1.5'"),
        (b'{"path":"a","limit":-1}', "limit: Expected `int` >= 1; received '-1'"),
        (b'{"path":"a","all":"yes"}', "all: Expected `bool`, got `str`; received '\"yes\"'"),
        (b'{"path":"a","pth":1}', "there is no argument 'pth'"),
        (
            b'{"pth":1,"first":0}',
            "there is no argument 'pth'; path is missing; first: Expected `int` >= 1; received '0'",
        ),
    ],
)
def test_a_bad_argument_is_named_with_what_it_takes_and_what_came(arguments: bytes, told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        decode_arguments(arguments, Shape)
    assert str(refused.value) == f"{told}. {USAGE}"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b"[]", "the arguments must be one JSON object: Expected `object`, got `array`"),
        (b"null", "the arguments must be one JSON object"),
        (b'{"path"', "the arguments are not JSON that can be read"),
        (b'{"path":"a"} x', "the arguments are not JSON that can be read"),
        (b'{"path":"\xff"}', "path: Invalid UTF-8"),
        (b'{"path":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "the arguments are not JSON that can be read"),
    ],
)
def test_what_is_no_object_is_refused_in_words(arguments: bytes, told: str) -> None:
    with pytest.raises(ToolRefused) as refused:
        decode_arguments(arguments, Shape)
    assert str(refused.value).startswith(told)
    assert str(refused.value).endswith(USAGE)


def test_good_arguments_become_the_struct() -> None:
    assert decode_arguments(b'{"path":"a","limit":3,"all":true}', Shape) == Shape("a", 1, 3, True)


@pytest.mark.parametrize("arguments", [b"", b"  ", b"{}", b'{"path":null}'])
def test_nothing_or_null_leaves_optional_fields_at_their_defaults(arguments: bytes) -> None:
    assert decode_arguments(arguments, Optional) == Optional(".")


def test_a_received_value_is_quoted_within_bounds() -> None:
    with pytest.raises(ToolRefused) as refused:
        decode_arguments(b'{"path":["' + b"x" * 50_000 + b'"]}', Shape)
    assert len(str(refused.value)) < 500


def test_a_thousand_bad_arguments_are_no_long_answer() -> None:
    strange = b",".join(b'"x%d":1' % number for number in range(1_000))
    with pytest.raises(ToolRefused) as refused:
        decode_arguments(b"{%s}" % strange, Shape)
    assert len(str(refused.value)) < 600


def test_the_schema_has_no_references_and_agrees_with_the_check() -> None:
    schema: dict[str, Any] = parameters_schema(Shape)
    assert b"$ref" not in msgspec.json.encode(schema)
    assert schema["properties"]["path"] == {"type": "string", "description": "Where."}
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1}
    validator = jsonschema_rs.validator_for(schema)
    for text in (b'{"path":"a"}', b'{"path":5}', b'{"path":"a","first":0}', b'{"path":"a","x":1}', b"{}"):
        try:
            decode_arguments(text, Shape)
        except ToolRefused:
            assert not validator.is_valid(msgspec.json.decode(text))
        else:
            assert validator.is_valid(msgspec.json.decode(text))


def test_a_spec_carries_the_schema_encoded() -> None:
    spec = tool_spec("look", "Looks.", READ_ONLY, Shape)
    assert msgspec.json.decode(spec.parameters) == parameters_schema(Shape)
