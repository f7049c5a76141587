"""The brain's kernel: which event is legal where, and what comes next. Pure."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from protocol.budget import Amounts, Meter
from protocol.errors import LocalProtocolError
from protocol.frames import Policy
from protocol.limits import Limits
from protocol.status import Abort, Detail
from protocol.status import TerminalStatus as Status
from subagent.brain.events import (
    AnswerChecked,
    Asked,
    AskedCall,
    BatchEnded,
    BatchRefused,
    CallEnded,
    Cancelled,
    Failed,
    ModelGone,
    Replied,
)
from subagent.brain.kernel import MOVES, apply, check_invariants, decide
from subagent.brain.state import CallModel, CheckAnswer, Done, Phase, RefuseBatch, RunTools, Situation, State

POLICY = Policy()
NOTHING = Amounts()
FRESH = State()
EVENTS = (
    Asked(),
    Replied("t"),
    ModelGone(Status.CRASHED, Detail.AUTH, Abort.INTELLIGENCE_UNAVAILABLE),
    BatchEnded(()),
    BatchRefused("tool_calls"),
    AnswerChecked(0),
    Cancelled("request"),
    Failed(Detail.IO),
)


def situation(spent: Amounts = NOTHING, **changes: object) -> Situation:
    now = Situation(
        now_s=10.0,
        deadline_s=100.0,
        meter=Meter(Limits().ceiling(), spent=spent),
        prompt_tokens=100,
        context_tokens=100,
        context_window=8_000,
    )
    return msgspec.structs.replace(now, **changes)


def fed(*events: object, state: State = FRESH, policy: Policy = POLICY) -> State:
    for event in events:
        state = apply(state, event, policy)
        check_invariants(state)
    return state


def calls(*names: str) -> tuple[AskedCall, ...]:
    return tuple(AskedCall(f"c{n}", name) for n, name in enumerate(names))


def turn(*names: str, result: str = "r") -> tuple[object, ...]:
    ended = tuple(CallEnded(f"c{n}", result) for n, _ in enumerate(names))
    return Asked(), Replied("t", calls(*names)), BatchEnded(ended)


def state_in(phase: Phase) -> State:
    return {
        Phase.READY: State(),
        Phase.AWAITING_MODEL: fed(Asked()),
        Phase.AWAITING_TOOLS: fed(Asked(), Replied("t", calls("a"))),
        Phase.AWAITING_CHECK: fed(Asked(), Replied("t")),
        Phase.TERMINAL: fed(Asked(), Replied("t"), AnswerChecked(0)),
    }[phase]


@pytest.mark.parametrize(("phase", "event"), list(itertools.product(Phase, EVENTS)))
def test_every_pair_is_in_the_table_or_raises_and_changes_nothing(phase: Phase, event: object) -> None:
    state = state_in(phase)
    assert state.phase is phase
    before = msgspec.json.encode(state)
    if (phase, type(event)) in MOVES and not isinstance(event, BatchEnded):
        check_invariants(apply(state, event, POLICY))
    else:
        with pytest.raises(LocalProtocolError):
            apply(state, event, POLICY)
    assert msgspec.json.encode(state) == before


def test_a_fresh_run_calls_the_model() -> None:
    assert decide(State(), POLICY, situation()) == CallModel(0)


def test_a_text_reply_is_checked_and_then_completes() -> None:
    state = fed(Asked(), Replied("t"))
    assert decide(state, POLICY, situation()) == CheckAnswer(declined=False)
    done = decide(fed(AnswerChecked(0), state=state), POLICY, situation())
    assert isinstance(done, Done)
    assert (done.end.status, done.end.answered) == (Status.COMPLETED, True)


def test_a_batch_runs_and_the_next_turn_calls_the_model_again() -> None:
    state = fed(Asked(), Replied("t", calls("a", "b")))
    step = decide(state, POLICY, situation())
    assert isinstance(step, RunTools)
    assert [call.id for call in step.calls] == ["c0", "c1"]
    assert decide(fed(*turn("a", "b")), POLICY, situation()) == CallModel(1)


def test_results_of_another_batch_are_refused() -> None:
    state = fed(Asked(), Replied("t", calls("a")))
    with pytest.raises(LocalProtocolError):
        apply(state, BatchEnded((CallEnded("other", "r"),)), POLICY)


def test_a_finish_beside_other_calls_is_checked_after_they_ran() -> None:
    state = fed(Asked(), Replied("t", calls("a"), finish=True))
    assert isinstance(decide(state, POLICY, situation()), RunTools)
    state = fed(BatchEnded((CallEnded("c0", "r"),)), state=state)
    assert decide(state, POLICY, situation()) == CheckAnswer(declined=False)


def test_a_finish_that_declines_ends_as_refused() -> None:
    state = fed(Asked(), Replied("t", declined=True), AnswerChecked(0))
    assert state.end is not None
    assert (state.end.status, state.end.detail) == (Status.REFUSED, Detail.DECLINED)


def test_two_corrections_are_given_and_the_third_miss_is_stalled_by_contract() -> None:
    state = State()
    for _ in range(2):
        state = fed(Asked(), Replied("t"), AnswerChecked(1), state=state)
        assert isinstance(decide(state, POLICY, situation()), CallModel)
    state = fed(Asked(), Replied("t"), AnswerChecked(1), state=state)
    assert state.end is not None
    assert (state.end.status, state.end.detail) == (Status.STALLED, Detail.CONTRACT)


def test_a_corrected_finish_goes_on_with_the_model() -> None:
    state = fed(
        Asked(), Replied("t", calls("finish"), finish=True), BatchEnded((CallEnded("c0", "r"),)), AnswerChecked(1)
    )
    state = fed(*turn("a"), state=state)
    assert decide(state, POLICY, situation()) == CallModel(2)


@pytest.mark.parametrize("detail", [Detail.EMPTY, Detail.TRUNCATED, Detail.PAUSED])
def test_two_unusable_replies_are_asked_again_and_the_third_stalls(detail: Detail) -> None:
    state = State()
    for _ in range(2):
        state = fed(Asked(), Replied("", unusable=detail), state=state)
        assert state.phase is Phase.READY
    state = fed(Asked(), Replied("", unusable=detail), state=state)
    assert state.end is not None
    assert (state.end.status, state.end.detail) == (Status.STALLED, detail)


def test_a_usable_reply_resets_the_count_of_unusable_ones() -> None:
    state = State()
    for n in range(6):
        bad = (Asked(), Replied("", unusable=Detail.EMPTY))
        state = fed(*bad, *turn(f"call {n}", result=str(n)), state=state)
    assert state.end is None


def test_identical_calls_run_three_times_are_refused_three_times_and_then_end_the_run() -> None:
    state, ran = State(), []
    for _ in range(6):
        state = fed(Asked(), Replied("t", calls("same")), state=state)
        ran.append(state.batch[0].refusal is None)
        state = fed(BatchEnded((CallEnded("c0", "r"),)), state=state)
    assert ran == [True] * 3 + [False] * 3
    state = fed(Asked(), Replied("t", calls("same")), state=state)
    assert state.end is not None
    assert (state.end.status, state.end.detail) == (Status.LOOP_DETECTED, Detail.REPEATED_CALL)


def test_the_same_call_with_a_changing_result_never_trips() -> None:
    state = State()
    for n in range(20):
        state = fed(*turn("poll", result=str(n)), state=state)
    assert isinstance(decide(state, POLICY, situation()), CallModel)


def test_an_unknown_tool_asked_for_again_and_again_is_a_loop() -> None:
    state = State()
    unknown = (AskedCall("c0", "k", refusal="no such tool"),)
    for _ in range(6):
        state = fed(Asked(), Replied("t", unknown), BatchEnded((CallEnded("c0", "no such tool"),)), state=state)
    state = fed(Asked(), Replied("t", unknown), state=state)
    assert state.end is not None
    assert state.end.status is Status.LOOP_DETECTED


def test_three_turns_unchanged_from_the_one_before_are_stalled() -> None:
    policy = Policy(repeat_cap=100)
    state = State()
    for n in range(4):
        assert isinstance(decide(state, policy, situation()), CallModel), n
        state = fed(*turn("same"), state=state, policy=policy)
    done = decide(state, policy, situation())
    assert isinstance(done, Done)
    assert (done.end.status, done.end.detail) == (Status.STALLED, Detail.NO_PROGRESS)


def test_a_turn_of_refusals_neither_raises_nor_resets_the_stall() -> None:
    state = State()
    for _ in range(4):
        state = fed(*turn("same"), state=state)
    assert state.progress.idle == 2


@pytest.mark.parametrize(
    ("changes", "spent", "status", "detail"),
    [
        ({"now_s": 100.0}, Amounts(), Status.DEADLINE, Detail.WALL_CLOCK),
        ({}, Amounts(steps=200), Status.EXHAUSTED_STEPS, Detail.STEPS),
        ({}, Amounts(tokens=1_000_000), Status.EXHAUSTED_TOKENS, Detail.TOKENS),
        ({}, Amounts(tokens=999_950), Status.EXHAUSTED_TOKENS, Detail.TOKENS),
        ({"context_tokens": 7_600}, Amounts(), Status.EXHAUSTED_TOKENS, Detail.CONTEXT_WINDOW),
    ],
)
def test_a_limit_that_is_reached_ends_the_run_with_its_own_name(changes, spent, status, detail) -> None:
    done = decide(State(), POLICY, situation(spent, **changes))
    assert isinstance(done, Done)
    assert (done.end.status, done.end.detail) == (status, detail)


def test_the_deadline_is_looked_at_before_the_steps() -> None:
    done = decide(State(), POLICY, situation(Amounts(steps=200), now_s=100.0))
    assert isinstance(done, Done)
    assert done.end.status is Status.DEADLINE


def test_one_token_below_the_line_the_model_is_called() -> None:
    assert decide(State(), POLICY, situation(Amounts(tokens=999_900), context_tokens=7_599)) == CallModel(0)


def test_a_window_of_zero_turns_its_check_off() -> None:
    assert decide(State(), POLICY, situation(context_tokens=10**9, context_window=0)) == CallModel(0)


def test_a_batch_over_the_call_limit_runs_not_one_of_its_calls() -> None:
    state = fed(Asked(), Replied("t", calls("a", "b")))
    step = decide(state, POLICY, situation(Amounts(tool_calls=999)))
    assert isinstance(step, RefuseBatch)
    assert step.dimension == "tool_calls"
    state = fed(BatchRefused("tool_calls"), state=state)
    assert state.end is not None
    assert (state.end.status, state.end.detail) == (Status.EXHAUSTED_STEPS, Detail.TOOL_CALLS)


def test_without_tool_calls_left_the_model_may_still_answer() -> None:
    assert decide(State(), POLICY, situation(Amounts(tool_calls=1000))) == CallModel(0)


def test_a_refused_call_needs_no_room_in_the_call_limit() -> None:
    state = fed(Asked(), Replied("t", (AskedCall("c0", "k", refusal="unknown"),)))
    assert isinstance(decide(state, POLICY, situation(Amounts(tool_calls=1000))), RunTools)


@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.TERMINAL])
def test_a_cancel_ends_the_run_from_every_phase(phase: Phase) -> None:
    state = fed(Cancelled("signal"), state=state_in(phase))
    done = decide(state, POLICY, situation())
    assert isinstance(done, Done)
    assert (done.end.status, done.end.detail) == (Status.CANCELLED, Detail.SIGNAL)


@pytest.mark.parametrize(
    ("reason", "dimension", "status", "detail"),
    [
        ("signal", None, Status.CANCELLED, Detail.SIGNAL),
        ("request", None, Status.CANCELLED, Detail.REQUEST),
        ("parent", None, Status.CANCELLED, Detail.PARENT),
        ("deadline", None, Status.DEADLINE, Detail.WALL_CLOCK),
        ("budget", "steps", Status.EXHAUSTED_STEPS, Detail.STEPS),
        ("budget", "cost_microusd", Status.EXHAUSTED_TOKENS, Detail.COST),
        ("stuck", None, Status.CRASHED, Detail.STUCK),
    ],
)
def test_the_reason_of_a_cancel_decides_the_status(reason, dimension, status, detail) -> None:
    done = decide(fed(Cancelled(reason, dimension)), POLICY, situation())
    assert isinstance(done, Done)
    assert (done.end.status, done.end.detail) == (status, detail)


def test_a_completed_run_stays_completed_after_a_cancel_and_a_failure() -> None:
    state = fed(Cancelled("signal"), Failed(Detail.BUG), state=state_in(Phase.TERMINAL))
    done = decide(state, POLICY, situation(now_s=10**6))
    assert isinstance(done, Done)
    assert done.end.status is Status.COMPLETED


def test_the_first_cancel_counts() -> None:
    state = fed(Cancelled("deadline"), Cancelled("signal"))
    assert state.stop is not None
    assert state.stop.reason == "deadline"


def test_a_policy_change_rules_the_next_step() -> None:
    state = State()
    for _ in range(3):
        state = fed(*turn("same"), state=state)
    assert isinstance(decide(state, Policy(idle_turns=3), situation()), CallModel)
    assert isinstance(decide(state, Policy(idle_turns=2), situation()), Done)


class Runs(RuleBasedStateMachine):
    """Arbitrary legal and illegal events: the invariants hold, asking changes nothing, an end is for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.end = None

    @rule(event=st.sampled_from(EVENTS))
    def anything(self, event) -> None:
        before = self.state
        try:
            self.state = apply(self.state, event, POLICY)
        except LocalProtocolError:
            assert self.state is before

    @precondition(lambda self: self.state.phase is Phase.AWAITING_MODEL)
    @rule(
        names=st.lists(st.sampled_from("abc"), max_size=3),
        finish=st.booleans(),
        unusable=st.sampled_from([None, None, None, Detail.EMPTY]),
    )
    def reply(self, names, finish, unusable) -> None:
        self.state = apply(self.state, Replied("t", calls(*names), unusable=unusable, finish=finish), POLICY)

    @precondition(lambda self: self.state.phase is Phase.AWAITING_TOOLS)
    @rule(result=st.sampled_from("xy"))
    def batch(self, result) -> None:
        ended = tuple(CallEnded(call.id, result) for call in self.state.batch)
        self.state = apply(self.state, BatchEnded(ended), POLICY)

    @invariant()
    def holds(self) -> None:
        check_invariants(self.state)
        encoded = msgspec.json.encode(self.state)
        step = decide(self.state, POLICY, situation())
        assert decide(self.state, POLICY, situation()) == step
        assert msgspec.json.encode(self.state) == encoded
        assert msgspec.json.decode(encoded, type=State) == self.state

    @invariant()
    def an_end_is_for_ever(self) -> None:
        if self.end is not None:
            assert self.state.end == self.end
        self.end = self.state.end


Runs.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestRuns = Runs.TestCase


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=40))
def test_every_schedule_of_identical_results_ends(names: list[str]) -> None:
    state, turns = State(), 0
    for name in itertools.cycle(names):
        if isinstance(decide(state, POLICY, situation()), Done):
            break
        state = fed(Asked(), Replied("t", calls(name)), state=state)
        if state.end is None:
            state = fed(BatchEnded((CallEnded("c0", "r"),)), state=state)
        turns += 1
    assert turns <= 14
