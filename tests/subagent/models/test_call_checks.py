from __future__ import annotations

from itertools import count

import pytest

from subagent.models.call_checks import judge_calls
from subagent.models.call_fragments import CallParts
from subagent.models.deltas import CallDelta
from subagent.models.types import CallFault, ToolCall


def parts(call_id: str, name: str, arguments: str) -> CallParts:
    call = CallParts(None)
    call.add(CallDelta(None, call_id, name, arguments))
    return call


def judge(*calls: CallParts, truncated: bool = False, taken: frozenset[str] = frozenset()) -> tuple[ToolCall, ...]:
    numbers = count(1)
    return judge_calls(
        calls, truncated=truncated, is_taken=taken.__contains__, fresh_id=lambda: f"fresh{next(numbers)}"
    )


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}", " {} \n"])
def test_every_spelling_of_no_arguments_runs_with_an_empty_object(arguments: str) -> None:
    assert judge(parts("a", "f", arguments)) == (ToolCall("a", "f", "{}"),)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("5", CallFault.NOT_AN_OBJECT),
        ("[]", CallFault.NOT_AN_OBJECT),
        ('"text"', CallFault.NOT_AN_OBJECT),
        ('{"path": "a', CallFault.UNPARSABLE),
        ('{"path": "a"}}', CallFault.UNPARSABLE),
        ("{}{}", CallFault.UNPARSABLE),
        ('{"a": 1, "a": 2}', CallFault.UNPARSABLE),
        ('{"a": NaN}', CallFault.UNPARSABLE),
        ('{"a": "\\ud83d"}', CallFault.UNPARSABLE),
        ('{"a": "\ud83d"}', CallFault.UNPARSABLE),
        ("{" * 10_000, CallFault.UNPARSABLE),
    ],
)
def test_arguments_that_are_no_object_never_run(arguments: str, fault: CallFault) -> None:
    [call] = judge(parts("a", "f", arguments))
    assert call.fault is fault
    call.arguments.encode()


def test_arguments_that_are_good_stay_as_they_came() -> None:
    assert judge(parts("a", "f", ' {"p": "é\ud83d\ude00"} ')) == (ToolCall("a", "f", ' {"p": "é😀"} '),)


def test_a_truncated_reply_spoils_even_calls_that_look_whole() -> None:
    assert [call.fault for call in judge(parts("a", "f", "{}"), parts("b", "g", '{"x'), truncated=True)] == [
        CallFault.TRUNCATED
    ] * 2


def test_a_call_without_a_name_never_runs() -> None:
    assert judge(parts("a", " ", "{}"))[0].fault is CallFault.NO_NAME


def test_empty_and_repeated_ids_never_run_and_get_ids_of_their_own() -> None:
    calls = judge(
        parts("X", "f", '{"n":1}'), parts("X", "f", '{"n":2}'), parts("", "f", '{"n":3}'), parts(" ", "f", '{"n":4}')
    )
    assert [call.fault for call in calls] == [None, CallFault.DUPLICATE_ID, CallFault.EMPTY_ID, CallFault.EMPTY_ID]
    assert [call.id for call in calls] == ["X", "fresh1", "fresh2", "fresh3"]


def test_an_id_of_an_earlier_turn_is_replaced_and_the_call_may_run() -> None:
    assert judge(parts("call_0", "f", "{}"), taken=frozenset({"call_0", "fresh1"})) == (ToolCall("fresh2", "f", "{}"),)
