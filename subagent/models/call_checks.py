"""Which assembled tool calls may run, and why the others may not (field reports U-18, U-19, U-24). Pure.

Nothing is repaired: a call that came broken is kept for the record, with its fault, and never runs. Only the
history needs every call to have an id of its own, so an empty or repeated one is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from subagent.models.call_fragments import CallParts
from subagent.models.strict_json import parse_strict
from subagent.models.surrogates import encodable, paired
from subagent.models.types import CallFault, ToolCall

NO_ARGUMENTS = frozenset({"", "null", "{}"})
"""Spellings of "no arguments"; all become "{}"."""


def judge_calls(
    parts: Iterable[CallParts], *, truncated: bool, is_taken: Callable[[str], bool], fresh_id: Callable[[], str]
) -> tuple[ToolCall, ...]:
    """The calls of a reply in order, each with a unique id and its fault if it has one.

    `truncated`: the reply was cut by its output limit, so no call of it can be trusted. `is_taken` tells the
    ids that the conversation holds already: such an id is replaced and is no fault, the call stands alone here.
    """
    judged: list[ToolCall] = []
    seen: set[str] = set()
    used: set[str] = set()
    for call in parts:
        fault = CallFault.TRUNCATED if truncated else _fault(call, seen)
        seen.add(call.id)
        call_id = encodable(call.id)
        while not call_id.strip() or call_id in used or is_taken(call_id):
            call_id = fresh_id()
        used.add(call_id)
        judged.append(ToolCall(call_id, encodable(call.name), encodable(_spelt(call.arguments)), fault))
    return tuple(judged)


def _fault(call: CallParts, seen: set[str]) -> CallFault | None:
    if not call.id.strip():
        return CallFault.EMPTY_ID
    if call.id in seen:
        return CallFault.DUPLICATE_ID
    if not call.name.strip():
        return CallFault.NO_NAME
    return arguments_fault(_spelt(paired(call.arguments)))


def arguments_fault(arguments: str) -> CallFault | None:
    """What is wrong with the JSON text of a call's arguments. A key that occurs twice has no one meaning."""
    try:
        value = parse_strict(arguments)
    except ValueError:
        return CallFault.UNPARSABLE
    return None if isinstance(value, dict) else CallFault.NOT_AN_OBJECT


def _spelt(arguments: str) -> str:
    return "{}" if arguments.strip() in NO_ARGUMENTS else arguments
