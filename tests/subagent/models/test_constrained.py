from __future__ import annotations

import json

import jsonschema_rs
import msgspec
import pytest

from subagent.models.constrained import ActionSchemas
from subagent.models.types import ToolSchema

READ = ToolSchema(
    "read_file", "", msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}')
)
TREE = ToolSchema(
    "walk",
    "",
    msgspec.Raw(
        b'{"type":"object","properties":{"next":{"$ref":"#"},"leaf":{"$ref":"#/$defs/leaf"}},"$defs":{"leaf":{"type":"integer"}}}'
    ),
)
ANSWER = (
    b'{"type":"object","properties":{"n":{"$ref":"#/definitions/n"}},"required":["n"],'
    b'"definitions":{"n":{"type":"number"}}}'
)


def tool(name: str, **args: object) -> dict[str, object]:
    return {"action": "tool", "tool": name, "args": args}


def final(answer: object) -> dict[str, object]:
    return {"action": "final", "answer": answer}


def accepts(schema: bytes, value: object) -> bool:
    return jsonschema_rs.is_valid(json.loads(schema), value)


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        (tool("read_file", path="a"), True),
        (tool("read_file"), False),
        (tool("walk", next={"next": {"leaf": 1}}), True),
        (tool("walk", next={"next": {"leaf": "x"}}), False),
        (tool("rm", path="a"), False),
        (final({"n": 1.5}), True),
        (final({"n": "x"}), False),
        (final("text"), False),
        ({**final({"n": 1}), "more": 1}, False),
    ],
)
def test_any_action_is_a_call_of_an_offered_tool_or_an_answer_of_the_contract(value: object, valid: bool) -> None:
    assert accepts(ActionSchemas.compose([READ, TREE], ANSWER).for_call(may_answer=True), value) is valid


def test_no_answer_is_possible_where_none_may_be_given() -> None:
    schema = ActionSchemas.compose([READ], None).for_call(may_answer=False)
    assert accepts(schema, tool("read_file", path="a"))
    assert not accepts(schema, final("x"))


def test_without_a_contract_the_answer_is_a_string() -> None:
    schema = ActionSchemas.compose([READ], None).any_action
    assert accepts(schema, final("x"))
    assert not accepts(schema, final(5))


def test_without_tools_an_answer_is_all_there_is() -> None:
    schemas = ActionSchemas.compose([], None)
    assert schemas.for_call(may_answer=False) == schemas.for_call(may_answer=True)
    assert accepts(schemas.any_action, final("x"))
