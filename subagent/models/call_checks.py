"""Which assembled tool calls may run, and why the others may not (field reports U-18, U-19, U-24). Pure.

Nothing is repaired: a call that came broken is kept for the record, with its fault, and never runs. The id of a
call only tells it apart from the others of its reply: it is the provider's text, of any length and content, and ids
are logged. So every call gets an id of our own, and the history is sent with those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from subagent.models.call_fragments import CallParts
from subagent.models.strict_json import parse_strict
from subagent.models.surrogates import encodable, paired
from subagent.models.types import MAX_CALL_NAME_CHARS, CallFault, ToolCall

NO_ARGUMENTS = frozenset({"", "null", "{}"})
"""Spellings of "no arguments"; all become "{}"."""


def judge_calls(parts: Iterable[CallParts], *, truncated: bool, fresh_id: Callable[[], str]) -> tuple[ToolCall, ...]:
    """The calls of a reply in order, each with an id from `fresh_id` and its fault if it has one.

    `truncated`: the reply was cut by its output limit, so no call of it can be trusted.
    """
    judged: list[ToolCall] = []
    seen: set[str] = set()
    for call in parts:
        fault = CallFault.TRUNCATED if truncated else _fault(call, seen)
        seen.add(call.id)
        name = "" if name_fault(call.name) else call.name
        judged.append(ToolCall(fresh_id(), name, encodable(_spelt(call.arguments)), fault))
    return tuple(judged)


def _fault(call: CallParts, seen: set[str]) -> CallFault | None:
    if not call.id.strip():
        return CallFault.EMPTY_ID
    if call.id in seen:
        return CallFault.DUPLICATE_ID
    return name_fault(call.name) or arguments_fault(_spelt(paired(call.arguments)))


def name_fault(name: str) -> CallFault | None:
    """What is wrong with the tool's name in a call, whether or not there is such a tool."""
    if not name.strip():
        return CallFault.NO_NAME
    return None if len(name) <= MAX_CALL_NAME_CHARS and name.isprintable() else CallFault.BAD_NAME


def arguments_fault(arguments: str) -> CallFault | None:
    """What is wrong with the JSON text of a call's arguments. A key that occurs twice has no one meaning."""
    try:
        value = parse_strict(arguments)
    except ValueError:
        return CallFault.UNPARSABLE
    return None if isinstance(value, dict) else CallFault.NOT_AN_OBJECT


def _spelt(arguments: str) -> str:
    return "{}" if arguments.strip() in NO_ARGUMENTS else arguments
