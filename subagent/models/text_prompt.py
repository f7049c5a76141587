"""A conversation for a model without native calls: the tools in the system text, results as user text. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from subagent.models.strict_json import is_object
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
            return Message("user", f"Result of {message.tool}:\n{message.content}")
        case "assistant" if message.calls:
            return Message("assistant", "\n".join(_action(call) for call in message.calls))
        case _:
            return Message(message.role, message.content)


def _action(call: ToolCall) -> str:
    """The call as its model should have written it. Arguments that are no object are left out."""
    arguments = call.arguments if is_object(call.arguments) else "{}"
    return json.dumps({"action": "tool", "tool": call.name, "args": msgspec.json.decode(arguments)}, ensure_ascii=False)
