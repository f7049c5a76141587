"""The request of the chat-completions wire: every part encoded once, bodies joined from bytes. Pure.

A message never changes, so a conversation keeps its bytes and each request joins them: its cost does not grow
with what is inside. History is made valid here: a broken call goes back under a legal name and, unless its
arguments are an object, with "{}", since servers refuse the whole conversation for less.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from protocol.model import ModelSpec
from subagent.models.strict_json import is_object
from subagent.models.surrogates import encodable
from subagent.models.tool_names import ToolNames
from subagent.models.types import CallOptions, Message, ToolCall, ToolSchema

UNNAMED = "unnamed"
"""Stands in history for a call that came without a name."""


class _FunctionCall(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class _Call(msgspec.Struct, frozen=True):
    id: str
    function: _FunctionCall
    type: str = "function"


class _Message(msgspec.Struct, frozen=True, omit_defaults=True):
    role: str
    content: str | None
    tool_calls: tuple[_Call, ...] = ()
    tool_call_id: str = ""


class _Function(msgspec.Struct, frozen=True):
    name: str
    description: str
    parameters: msgspec.Raw


class _Tool(msgspec.Struct, frozen=True):
    function: _Function
    type: str = "function"


_encode = msgspec.json.Encoder().encode


def encode_message(message: Message, names: ToolNames) -> bytes:
    """A message as this wire sends it."""
    calls = tuple(_call(call, names) for call in message.calls)
    content = None if calls and not message.content else encodable(message.content)
    return _encode(_Message(message.role, content, calls, message.call_id))


def _call(call: ToolCall, names: ToolNames) -> _Call:
    name = names.to_wire(call.name) if call.name else UNNAMED
    usable = call.fault is None or is_object(call.arguments)
    return _Call(call.id, _FunctionCall(name, call.arguments if usable else "{}"))


class RequestFrame:
    """All of a request body but its messages. `response_schema` of `body` is the one part that calls may differ in."""

    def __init__(self, spec: ModelSpec, tools: Sequence[ToolSchema], names: ToolNames) -> None:
        # OpenAI's own newer models know only the new name of the output limit; most others know only the old one.
        self._limit_field = b"max_completion_tokens" if spec.provider == "openai" else b"max_tokens"
        self._head = b'{"model":%s,"stream":true,"stream_options":{"include_usage":true}' % _encode(spec.name)
        if spec.temperature is not None:
            self._head += b',"temperature":%s' % _encode(spec.temperature)
        if tools:
            self._head += b',"tools":%s' % _encode([_tool(tool, names) for tool in tools])

    def body(self, messages: Sequence[bytes], options: CallOptions, response_schema: bytes | None) -> bytes:
        """The whole request body."""
        shape = b"" if response_schema is None else _RESPONSE_FORMAT % response_schema
        limit = b',"%s":%d' % (self._limit_field, options.max_output)
        return b"".join((self._head, limit, shape, _MESSAGES, b",".join(messages), b"]}"))

    def size_bytes(self, messages: Sequence[bytes], response_schema: bytes | None) -> int:
        """The size of `body`, without joining it; the digits of the output limit are counted as their most."""
        shape = 0 if response_schema is None else len(_RESPONSE_FORMAT) + len(response_schema)
        fixed = len(self._head) + len(self._limit_field) + _LIMIT_DIGITS + shape + len(_MESSAGES) + 2
        return fixed + sum(map(len, messages)) + len(messages)


_RESPONSE_FORMAT = b',"response_format":{"type":"json_schema","json_schema":{"name":"action","schema":%s}}'
_MESSAGES = b',"messages":['
_LIMIT_DIGITS = 12


def _tool(tool: ToolSchema, names: ToolNames) -> _Tool:
    return _Tool(_Function(names.to_wire(tool.name), tool.description, tool.parameters))
