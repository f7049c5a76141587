from __future__ import annotations

from itertools import count
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.budget import MAX_COUNT
from subagent.models.assembler import MAX_CALLS, MAX_REPLY_BYTES, Assembler
from subagent.models.deltas import (
    CallDelta,
    Delta,
    EndMarker,
    Finish,
    HiddenDelta,
    RefusalDelta,
    StopMeaning,
    TextDelta,
    UsageReport,
)
from subagent.models.types import (
    MAX_CALL_NAME_CHARS,
    AssistantTurn,
    CallFault,
    ErrorKind,
    ModelError,
    ReplyFault,
    StopWord,
    TurnUsage,
)

END, CALLS, LENGTH = (
    Finish("stop", StopMeaning.END),
    Finish("tool_calls", StopMeaning.CALLS),
    Finish("length", StopMeaning.LENGTH),
)
FILTERED, PAUSED = Finish("content_filter", StopMeaning.REFUSED), Finish("other", StopMeaning.PAUSED)
STRANGE = Finish("other", StopMeaning.UNKNOWN)
TEXT, CALL, DONE = TextDelta("hello"), CallDelta(0, "a", "f", "{}"), EndMarker()


def assembler(*deltas: Delta, request_bytes: int = 100) -> Assembler:
    numbers = count(1)
    made = Assembler(request_bytes, fresh_id=lambda: f"fresh{next(numbers)}")
    for delta in deltas:
        made.feed(delta)
    return made


def finish(*deltas: Delta) -> AssistantTurn:
    return assembler(*deltas).finish()


@pytest.mark.parametrize("deltas", [(), (TEXT,), (TEXT, CALL), (UsageReport(1, 1),), (HiddenDelta("x"),)])
def test_a_stream_that_never_said_it_was_over_is_cut_whatever_it_held(deltas: tuple[Delta, ...]) -> None:
    with pytest.raises(ModelError) as raised:
        finish(*deltas)
    assert raised.value.kind is ErrorKind.CUT_STREAM
    assert raised.value.usage is not None


@pytest.mark.parametrize("ending", [(END, DONE), (END,), (DONE,)])
def test_either_a_finish_reason_or_an_end_marker_makes_a_text_complete(ending: tuple[Delta, ...]) -> None:
    turn = finish(TEXT, *ending)
    assert (turn.text, turn.reply_fault, turn.calls) == ("hello", None, ())


@pytest.mark.parametrize("ending", [(CALLS, DONE), (CALLS,), (DONE,)])
def test_either_makes_a_call_complete(ending: tuple[Delta, ...]) -> None:
    turn = finish(CALL, *ending)
    assert [(call.name, call.fault) for call in turn.calls] == [("f", None)]
    assert turn.reply_fault is None


@pytest.mark.parametrize(
    ("deltas", "fault", "runnable"),
    [
        ((TEXT, CALL, LENGTH), ReplyFault.TRUNCATED, 0),
        ((TEXT, LENGTH), ReplyFault.TRUNCATED, 0),
        ((LENGTH,), ReplyFault.TRUNCATED, 0),
        ((TEXT, CALLS), ReplyFault.LYING_FINISH, 0),
        ((CALLS, DONE), ReplyFault.LYING_FINISH, 0),
        ((CALL, END), ReplyFault.LYING_FINISH, 0),
        ((TEXT, CALL, END, DONE), ReplyFault.LYING_FINISH, 0),
        ((TEXT, STRANGE, DONE), ReplyFault.LYING_FINISH, 0),
        ((CALL, STRANGE), ReplyFault.LYING_FINISH, 0),
        ((TEXT, PAUSED), ReplyFault.PAUSED, 0),
        ((CALL, PAUSED), ReplyFault.PAUSED, 0),
        ((END,), ReplyFault.EMPTY, 0),
        ((DONE,), ReplyFault.EMPTY, 0),
        ((TextDelta(" \n"), END), ReplyFault.EMPTY, 0),
        ((HiddenDelta("thinking"), END), ReplyFault.EMPTY, 0),
        ((TEXT, CALL, CALLS), None, 1),
    ],
)
def test_a_reply_that_is_no_answer_has_its_fault_and_runs_nothing(
    deltas: tuple[Delta, ...], fault: ReplyFault | None, runnable: int
) -> None:
    turn = finish(*deltas)
    assert turn.reply_fault is fault
    assert sum(call.fault is None for call in turn.calls) == runnable


def test_a_truncated_call_is_kept_with_its_fault_so_that_it_can_be_answered() -> None:
    [call] = finish(CallDelta(0, "a", "write_file", '{"path": "x", "content": "abc'), LENGTH).calls
    assert call.fault is CallFault.TRUNCATED


@pytest.mark.parametrize(
    "deltas",
    [(TEXT, FILTERED), (CALL, FILTERED), (FILTERED,), (RefusalDelta("no"), END), (CALL, RefusalDelta("no"), CALLS)],
)
def test_a_refusal_is_refused_and_runs_nothing(deltas: tuple[Delta, ...]) -> None:
    turn = finish(*deltas)
    assert turn.refused
    assert turn.calls == ()


def test_a_refusal_in_words_is_the_text_where_there_is_no_other() -> None:
    assert finish(RefusalDelta("I will "), RefusalDelta("not"), END).text == "I will not"


def test_the_finish_reason_is_kept_as_a_word_of_the_list() -> None:
    assert [finish(TEXT, ending).stop for ending in (END, STRANGE, DONE)] == ["stop", "other", ""]


def test_reported_usage_is_taken_as_it_is() -> None:
    assert finish(TEXT, END, UsageReport(100, 7, 40)).usage == TurnUsage(100, 7, 40)


def test_usage_in_several_reports_is_merged() -> None:
    assert finish(UsageReport(100, 1, 40), TEXT, END, UsageReport(None, 7)).usage == TurnUsage(100, 7, 40)


def test_of_reports_that_contradict_each_other_the_larger_figure_counts() -> None:
    assert finish(TEXT, UsageReport(100, 7, 40), END, UsageReport(90, 8, 0)).usage == TurnUsage(100, 8, 40)
    assert finish(TEXT, UsageReport(100, 70), END, UsageReport(1, 1)).usage == TurnUsage(100, 70)


@pytest.mark.parametrize("reports", [(), (UsageReport(0, 0, 0),)])
def test_missing_usage_is_estimated_from_all_output_hidden_output_too(reports: tuple[UsageReport, ...]) -> None:
    turn = finish(TextDelta("é" * 10), HiddenDelta("x" * 20), CallDelta(0, "a", "f" * 4, '{"a":1}   '), CALLS, *reports)
    assert turn.usage == TurnUsage(50, (20 + 20 + 4 + 10) // 2 + 1, 0, estimated=True)


def test_an_emoji_split_over_two_deltas_is_whole_again() -> None:
    assert finish(TextDelta("a\ud83d"), TextDelta("\ude00b"), END).text == "a😀b"


def test_half_an_emoji_becomes_a_replacement_character() -> None:
    assert finish(TextDelta("a\ud83d"), END).text == "a\ufffd"


def test_too_many_calls_are_malformed() -> None:
    made = assembler(*(CallDelta(n, str(n), "f", "{}") for n in range(MAX_CALLS)))
    with pytest.raises(ModelError) as raised:
        made.feed(CallDelta(MAX_CALLS, "x", "f", "{}"))
    assert raised.value.kind is ErrorKind.MALFORMED


@pytest.mark.parametrize("make", [TextDelta, HiddenDelta, RefusalDelta, lambda text: CallDelta(0, "a", "", text)])
def test_an_endless_reply_is_malformed(make: type[TextDelta]) -> None:
    made = assembler(*(make("x" * 2**20) for _ in range(MAX_REPLY_BYTES // 2**20)))
    with pytest.raises(ModelError) as raised:
        made.feed(make("x"))
    assert raised.value.kind is ErrorKind.MALFORMED


DELTAS = st.one_of(
    st.builds(TextDelta, st.text()),
    st.builds(HiddenDelta, st.text()),
    st.builds(RefusalDelta, st.text()),
    st.builds(
        CallDelta,
        st.none() | st.integers(),
        st.text(max_size=3),
        st.text(max_size=3),
        st.text(max_size=8) | st.just("{}"),
    ),
    st.builds(Finish, st.sampled_from(get_args(StopWord)), st.sampled_from(StopMeaning)),
    st.builds(UsageReport, st.none() | st.integers(), st.none() | st.integers(), st.none() | st.integers()),
    st.just(DONE),
)


@given(st.lists(DELTAS, max_size=20))
def test_any_stream_gives_a_turn_or_a_typed_error_and_only_sound_calls_may_run(deltas: list[Delta]) -> None:
    made = assembler(*deltas)
    if not made.is_complete:
        with pytest.raises(ModelError, match="cut_stream"):
            made.finish()
        return
    turn = made.finish()
    ids = [call.id for call in turn.calls]
    assert len(set(ids)) == len(ids)
    assert all(call_id.strip() for call_id in ids)
    assert not (turn.refused and turn.calls)
    assert min(turn.usage.tokens_in, turn.usage.tokens_out, turn.usage.tokens_cached) >= 0
    for call in turn.calls:
        assert call.fault is not None or (call.name.strip() and turn.reply_fault is None)
        assert len(call.name) <= MAX_CALL_NAME_CHARS
        assert call.name == "" or call.name.isprintable()
        assert call.id.startswith("fresh")
    turn.text.encode()
    assert turn.usage.tokens <= MAX_COUNT
