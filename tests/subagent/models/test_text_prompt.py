from __future__ import annotations

import json

import msgspec
import pytest

from protocol.model import ActionExample
from subagent.models.text_actions import ToolAction, read_action
from subagent.models.text_prompt import as_text, catalogue, worked
from subagent.models.types import CallFault, Message, ToolCall, ToolSchema

TOOL = ToolSchema("read_file", "Reads a file.", msgspec.Raw(b'{"type":"object"}'))


def test_the_system_text_ends_with_the_catalogue() -> None:
    text = as_text(Message("system", "You work."), catalogue([TOOL])).content
    assert text.startswith("You work.\n\nReply with exactly one JSON object")
    assert text.endswith('- read_file: Reads a file. args: {"type":"object"}')


def test_without_tools_no_tools_are_spoken_of() -> None:
    assert "Tools:" not in catalogue([])


def test_a_result_is_told_as_a_user_and_names_its_tool() -> None:
    assert as_text(Message("tool", "text", call_id="a", tool="read_file"), "") == Message(
        "user", "Result of read_file:\ntext"
    )


def test_a_call_goes_back_as_the_action_that_it_was() -> None:
    message = as_text(Message("assistant", "", (ToolCall("a", "read_file", '{"path": "é"}'),)), "")
    assert message.calls == ()
    assert read_action(message.content) == ToolAction("read_file", '{"path": "é"}', None)


def test_broken_arguments_are_left_out() -> None:
    message = as_text(Message("assistant", "", (ToolCall("a", "f", '{"p', CallFault.TRUNCATED),)), "")
    assert json.loads(message.content) == {"action": "tool", "tool": "f", "args": {}}


def test_a_user_message_stays_what_it_is() -> None:
    assert as_text(Message("user", "x"), "suffix") == Message("user", "x")


@pytest.mark.parametrize(
    ("answer", "value"),
    [("x y", "x y"), ('{"a":1}', {"a": 1}), ("7", 7), ("null", None), ("[" * 3_000 + "]" * 3_000,) * 2],
)
def test_an_answer_goes_back_as_the_final_action_that_it_was(answer: str, value: object) -> None:
    told = as_text(Message("assistant", answer), "suffix")
    assert json.loads(told.content) == {"action": "final", "answer": value}


def test_a_worked_example_is_four_messages_in_the_shape_of_a_run() -> None:
    example = ActionExample("Do it.", "read_file", msgspec.Raw(b'{"path":"a"}'), "text", msgspec.Raw(b'{"n":1}'))
    told = worked(example)
    assert [m.role for m in told] == ["user", "assistant", "user", "assistant"]
    assert json.loads(told[1].content) == {"action": "tool", "tool": "read_file", "args": {"path": "a"}}
    assert told[2].content == "Result of read_file:\ntext"
    assert json.loads(told[3].content) == {"action": "final", "answer": {"n": 1}}
