"""Tool calls and answers that a model writes as JSON in its text, for models without native calls. Pure.

Read are {"action": "tool", "tool": NAME, "args": {…}}, {"tool": NAME, "args": {…}} and {"action": "final",
"answer": ANY}, alone or inside prose (RULINGS "The loop"). Rules:
- The first object of the text that is an action is the reply; what a model imagines to follow is not read.
- Nothing inside broken JSON is ever run: a region in braces that is no JSON is skipped whole, and one that opens
  like an object and never closes ends the search. A brace of prose that never closes is passed over.
- An action that is recognised but wrong (no name, arguments that are no object) is a call with a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from subagent.models.call_checks import arguments_fault, name_fault
from subagent.models.strict_json import parse_strict
from subagent.models.types import CallFault

MAX_REGIONS = 64
MAX_UNCLOSED = 8
MAX_DEPTH = 100
"""Regions that are tried, braces that never close, braces in one another: bounds the work on any text."""

_MARK = re.compile(r'\\.|["{}]', re.DOTALL)
_OPENS_OBJECT = re.compile(r'\{\s*"')


class ToolAction(msgspec.Struct, frozen=True):
    """The model wants a tool. `arguments` is JSON text, as in `types.ToolCall`."""

    tool: str
    arguments: str
    fault: CallFault | None


class FinalAction(msgspec.Struct, frozen=True):
    """The model's answer: a string as it is, any other value as its JSON text."""

    answer: str


Action = ToolAction | FinalAction


def read_action(text: str) -> Action | None:
    """The action in a model's text, or None if there is none."""
    for region in _regions(text):
        try:
            value = parse_strict(region)
        except ValueError:
            continue
        action = _action(value) if isinstance(value, dict) else None
        if action is not None:
            return action
    return None


def _action(value: dict[str, object]) -> Action | None:
    kind = value.get("action")
    if kind == "final" and "answer" in value:
        answer = value["answer"]
        return FinalAction(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    if kind == "tool" or (kind is None and "tool" in value):
        return _tool_action(value.get("tool"), value.get("args"))
    return None


def _tool_action(tool: object, args: object) -> ToolAction:
    name = tool if isinstance(tool, str) else ""
    arguments = "{}" if args is None else json.dumps(args, ensure_ascii=False)
    bad_name = name_fault(name)
    return ToolAction("" if bad_name else name, arguments, bad_name or arguments_fault(arguments))


def _regions(text: str) -> Iterator[str]:
    """Each balanced {…} of `text` from left to right, as far as the rules let it be searched."""
    start, unclosed = text.find("{"), 0
    for _ in range(MAX_REGIONS):
        if start < 0 or unclosed >= MAX_UNCLOSED:
            return
        end = _closing(text, start)
        if end is not None:
            yield text[start:end]
        elif _OPENS_OBJECT.match(text, start):
            return
        else:
            unclosed += 1
        start = text.find("{", end or start + 1)


def _closing(text: str, start: int) -> int | None:
    """The index behind the brace that closes the one at `start`; braces inside strings do not count."""
    depth, in_string = 0, False
    for mark in _MARK.finditer(text, start):
        if mark[0] == '"':
            in_string = not in_string
        elif not in_string and mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
            if depth == 0:
                return mark.end()
            if depth > MAX_DEPTH:
                return None
    return None
