"""A conversation for a model without native calls: the tools in the system text, results as user text. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from protocol.model import ActionExample
from subagent.models.strict_json import is_object, parse
from subagent.models.types import Message, ToolCall, ToolSchema

RULES = """\
Reply with exactly one JSON object and nothing else. To use a tool:
{"action": "tool", "tool": NAME, "args": {...}}
To give the final answer:
{"action": "final", "answer": ...}"""


def catalogue(tools: Sequence[ToolSchema]) -> str:
    """The block that the system text ends with: how to reply, and each tool on one line with its parameters."""
    lines = [f"- {tool.name}: {tool.description} args: {bytes(tool.parameters).decode()}" for tool in tools]
    return "\n".join([RULES, "Tools:", *lines] if lines else [RULES])


def as_text(message: Message, system_suffix: str) -> Message:
    """`message` without calls or tool roles. `system_suffix` ends the system text."""
    match message.role:
        case "system":
            return Message("system", f"{message.content}\n\n{system_suffix}")
        case "tool":
            return Message("user", _result(message.tool, message.content))
        case "assistant" if message.calls:
            return Message("assistant", "\n".join(_action(call) for call in message.calls))
        case "assistant":
            return Message("assistant", _final(message.content))
        case _:
            return Message(message.role, message.content)


def _action(call: ToolCall) -> str:
    """The call as its model should have written it. Arguments that are no object are left out."""
    arguments = call.arguments if is_object(call.arguments) else "{}"
    return _tool_action(call.name, msgspec.json.decode(arguments))


def _tool_action(tool: str, args: object) -> str:
    return json.dumps({"action": "tool", "tool": tool, "args": args}, ensure_ascii=False)


def worked(example: ActionExample) -> list[Message]:
    """An example as the messages that it would have been."""
    return [
        Message("user", example.task),
        Message("assistant", _tool_action(example.tool, msgspec.json.decode(example.args))),
        Message("user", _result(example.tool, example.result)),
        Message("assistant", _final(bytes(example.answer).decode())),
    ]


def _result(tool: str, content: str) -> str:
    return f"Result of {tool}:\n{content}"


def _final(answer: str) -> str:
    """The final action as its model wrote it: an answer that is JSON stands as JSON."""
    try:
        value = parse(answer)
    except ValueError:
        value = answer
    return json.dumps({"action": "final", "answer": value}, ensure_ascii=False)
