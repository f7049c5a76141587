"""A key that an endpoint echoes is taken out of its reply. Pure."""

from __future__ import annotations

import json

import pytest

from subagent.models.redaction import REMOVED, redacted
from subagent.models.types import AssistantTurn, ToolCall, TurnUsage

KEY = 'sk-12345678"\\x'


def turn(text: str, *calls: ToolCall) -> AssistantTurn:
    return AssistantTurn(text, calls, "stop", TurnUsage(1, 1))


def test_a_key_in_text_name_and_arguments_is_removed() -> None:
    call = ToolCall("c1", f"a{KEY}", json.dumps({"q": f"x {KEY} y"}))
    found = redacted(turn(f"key {KEY}!", call), KEY)
    assert found.text == f"key {REMOVED}!"
    assert found.calls[0].name == f"a{REMOVED}"
    assert json.loads(found.calls[0].arguments) == {"q": f"x {REMOVED} y"}


def test_a_key_in_arguments_that_are_no_json_is_removed_too() -> None:
    assert KEY not in redacted(turn("", ToolCall("c1", "f", "{" + KEY)), KEY).calls[0].arguments


@pytest.mark.parametrize("key", [None, "x", "secret"])
def test_without_a_real_key_a_reply_stays_as_it_is(key: str | None) -> None:
    said = turn("x marks the secret", ToolCall("c1", "f", "{}"))
    assert redacted(said, key) is said
