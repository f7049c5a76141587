"""What a reply asks for: calls that can never run are answered, finish is typed, stored calls are valid JSON."""

from __future__ import annotations

import msgspec
import pytest

from subagent.models.types import AssistantTurn, CallFault, ToolCall, TurnUsage
from subagent.reading import Reading
from subagent.tools.registry import Registry

READING = Reading(Registry((), None))


def reply(*calls: ToolCall, text: str = "") -> AssistantTurn:
    return AssistantTurn(text, calls, "stop", TurnUsage(1, 1))


@pytest.mark.parametrize("fault", list(CallFault))
def test_a_broken_call_is_answered_and_never_run(fault: CallFault) -> None:
    broken = ToolCall("c1", "write_file", '{"path": "a', fault)
    read = READING.read(reply(broken))
    told = read.refusal(read.calls[0])
    assert told is not None
    assert told.startswith("malformed, not run")
    assert "path" in msgspec.json.decode(read.calls[0].arguments)["malformed"]


def test_an_unknown_tool_is_answered_with_its_name() -> None:
    read = READING.read(reply(ToolCall("c1", "launch", "{}")))
    assert "launch" in (read.refusal(read.calls[0]) or "")


def test_a_finish_hands_over_its_structured_result() -> None:
    read = READING.read(reply(ToolCall("c1", "finish", '{"status":"completed","result":{"a":1}}'), text="bye"))
    assert (read.finish, read.declined, read.answer) == (True, False, '{"a":1}')


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ('{"status":"completed","result":"plain"}', "plain"),
        ('{"status":"completed","summary":"did it"}', "did it"),
        ('{"status":"completed","result":null}', "said"),
        ('{"status":"completed"}', "said"),
    ],
)
def test_the_answer_of_a_finish_is_result_then_summary_then_text(arguments: str, answer: str) -> None:
    assert READING.read(reply(ToolCall("c1", "finish", arguments), text="said")).answer == answer


def test_a_finish_that_declines_is_typed_and_not_read_from_words() -> None:
    assert READING.read(reply(ToolCall("c1", "finish", '{"status":"refused","summary":"no"}'))).declined
    assert not READING.read(reply(text="I cannot do this, I refuse.")).declined


def test_a_finish_that_is_not_understood_is_answered_and_finishes_nothing() -> None:
    read = READING.read(reply(ToolCall("c1", "finish", '{"status":"maybe"}')))
    assert not read.finish
    assert "finish was not understood" in (read.refusal(read.calls[0]) or "")
