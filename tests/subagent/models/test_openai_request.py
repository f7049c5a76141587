from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from protocol.model import ModelSpec
from subagent.models.openai_request import RequestFrame, encode_message
from subagent.models.tool_names import ToolNames
from subagent.models.types import CallFault, CallOptions, Message, ToolCall, ToolSchema

NAMES = ToolNames(["read.file"])
TOOL = ToolSchema("read.file", "Reads.", msgspec.Raw(b'{"type":"object"}'))
OPTIONS = CallOptions(max_output=77, timeout_s=1.0, deadline_s=0.0)


def sent(message: Message) -> Any:
    return json.loads(encode_message(message, NAMES))


def body_of(spec: ModelSpec, *tools: ToolSchema, response_schema: bytes | None = None) -> Any:
    messages = [encode_message(Message("user", "a"), NAMES), encode_message(Message("user", "b"), NAMES)]
    return json.loads(RequestFrame(spec, tools, NAMES).body(messages, OPTIONS, response_schema))


def test_plain_messages_have_role_and_content_alone() -> None:
    assert sent(Message("system", "é")) == {"role": "system", "content": "é"}
    assert sent(Message("assistant", "")) == {"role": "assistant", "content": ""}


def test_a_call_goes_back_under_its_wire_name_with_its_arguments_as_they_came() -> None:
    message = sent(Message("assistant", "", (ToolCall("a", "read.file", '{"p": 1}'),)))
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{"p": 1}'}}
    ]


def test_a_result_names_its_call() -> None:
    assert sent(Message("tool", "text", call_id="a", tool="read.file")) == {
        "role": "tool",
        "content": "text",
        "tool_call_id": "a",
    }


def test_broken_calls_go_back_valid() -> None:
    broken = (
        ToolCall("a", "read.file", '{"p', CallFault.TRUNCATED),
        ToolCall("b", "", "5", CallFault.NO_NAME),
        ToolCall("c", "no such tool!", "{}", None),
        ToolCall("d", "f", '{"malformed": "{p"}', CallFault.UNPARSABLE),
    )
    functions = [call["function"] for call in sent(Message("assistant", "x", broken))["tool_calls"]]
    assert functions == [
        {"name": "read_file", "arguments": "{}"},
        {"name": "unnamed", "arguments": "{}"},
        {"name": "no_such_tool_", "arguments": "{}"},
        {"name": "f", "arguments": '{"malformed": "{p"}'},
    ]


def test_content_that_utf_8_cannot_carry_is_still_sent() -> None:
    assert sent(Message("user", "a\ud83d"))["content"] == "a\ufffd"


def test_a_body_joins_the_messages_and_asks_for_a_stream_with_usage() -> None:
    assert body_of(ModelSpec("x", "m", "http://h/v1")) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 77,
        "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    }


def test_openai_itself_is_given_the_new_name_of_the_output_limit() -> None:
    body = body_of(ModelSpec("openai", "m", "https://h/v1"))
    assert body["max_completion_tokens"] == 77
    assert "max_tokens" not in body


def test_tools_temperature_and_response_schema_are_sent_where_there_are_any() -> None:
    body = body_of(ModelSpec("x", "m", "http://h", temperature=0.0), TOOL, response_schema=b'{"type":"string"}')
    assert body["temperature"] == 0.0
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "read_file", "description": "Reads.", "parameters": {"type": "object"}},
        }
    ]
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "action", "schema": {"type": "string"}},
    }


@pytest.mark.parametrize("schema", [None, b'{"type":"string"}'])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_size_is_told_without_joining_and_never_too_low(schema: bytes | None, count: int) -> None:
    frame = RequestFrame(ModelSpec("x", "m", "http://h"), [TOOL], NAMES)
    messages = [encode_message(Message("user", "hello"), NAMES)] * count
    size = len(frame.body(messages, OPTIONS, schema))
    assert size <= frame.size_bytes(messages, schema) <= size + 16
