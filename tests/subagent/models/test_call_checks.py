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


def judge(*calls: CallParts, truncated: bool = False) -> tuple[ToolCall, ...]:
    numbers = count(1)
    return judge_calls(calls, truncated=truncated, fresh_id=lambda: f"fresh{next(numbers)}")


@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}", " {} \n"])
def test_every_spelling_of_no_arguments_runs_with_an_empty_object(arguments: str) -> None:
    assert judge(parts("a", "f", arguments)) == (ToolCall("fresh1", "f", "{}"),)


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
    assert judge(parts("a", "f", ' {"p": "é\ud83d\ude00"} ')) == (ToolCall("fresh1", "f", ' {"p": "é😀"} '),)


def test_a_truncated_reply_spoils_even_calls_that_look_whole() -> None:
    assert [call.fault for call in judge(parts("a", "f", "{}"), parts("b", "g", '{"x'), truncated=True)] == [
        CallFault.TRUNCATED
    ] * 2


def test_a_call_without_a_name_never_runs() -> None:
    assert judge(parts("a", " ", "{}"))[0].fault is CallFault.NO_NAME


@pytest.mark.parametrize("name", ["f" * 129, "f" * 4_000_000, "f\ud800", "f\nINFO forged", "\x1b[2J"])
def test_a_name_that_is_too_long_or_cannot_be_printed_goes_no_further(name: str) -> None:
    assert judge(parts("a", name, "{}")) == (ToolCall("fresh1", "", "{}", CallFault.BAD_NAME),)
    assert judge(parts("a", name, "{}"), truncated=True)[0].name == ""


@pytest.mark.parametrize("name", ["f" * 128, "read file", "größe.lesen"])
def test_a_name_that_no_tool_has_is_kept_for_the_answer(name: str) -> None:
    assert judge(parts("a", name, "{}")) == (ToolCall("fresh1", name, "{}"),)


def test_no_id_of_a_provider_is_kept() -> None:
    ids = ["call_0", "sk-key-1234", "I" * 1_000_000, "\ud800", "\n"]
    assert [call.id for call in judge(*(parts(call_id, "f", "{}") for call_id in ids))] == [
        "fresh1", "fresh2", "fresh3", "fresh4", "fresh5",
    ]  # fmt: skip


def test_calls_with_empty_and_repeated_ids_never_run() -> None:
    calls = judge(
        parts("X", "f", '{"n":1}'), parts("X", "f", '{"n":2}'), parts("", "f", '{"n":3}'), parts(" ", "f", '{"n":4}')
    )
    assert [call.fault for call in calls] == [None, CallFault.DUPLICATE_ID, CallFault.EMPTY_ID, CallFault.EMPTY_ID]
