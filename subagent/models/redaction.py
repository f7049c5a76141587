"""The key must not come back: what an endpoint echoes would be journalled, delivered and given to tools. Pure."""

from __future__ import annotations

import json

import msgspec

from subagent.models.types import AssistantTurn, ToolCall

REMOVED = "[key removed]"
SHORTEST_KEY = 8
"""Below that a "key" is a word that any text may hold, such as the x that local servers are given."""


def redacted(turn: AssistantTurn, key: str | None) -> AssistantTurn:
    """`turn` without `key`, in its text and in the names and arguments of its calls."""
    if key is None or len(key) < SHORTEST_KEY:
        return turn
    calls = tuple(_redacted_call(call, key) for call in turn.calls)
    return msgspec.structs.replace(turn, text=turn.text.replace(key, REMOVED), calls=calls)


def _redacted_call(call: ToolCall, key: str) -> ToolCall:
    escaped = json.dumps(key)[1:-1]  # arguments are JSON text: there the key stands as JSON writes it
    arguments = call.arguments.replace(escaped, REMOVED).replace(key, REMOVED)
    return msgspec.structs.replace(call, name=call.name.replace(key, REMOVED), arguments=arguments)
