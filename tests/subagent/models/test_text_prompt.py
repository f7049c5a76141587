from __future__ import annotations

import json

import msgspec

from subagent.models.text_actions import ToolAction, read_action
from subagent.models.text_prompt import as_text, catalogue
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


def test_other_messages_stay_what_they_are() -> None:
    assert [as_text(Message(role, "x"), "suffix") for role in ("user", "assistant")] == [
        Message("user", "x"),
        Message("assistant", "x"),
    ]
