"""apply(state, event) -> state and decide(state, policy, situation) -> step: the whole of a run's rules.

Rules of this file: every change of a run's state is here; it does no IO, reads no clock, keeps no policy.

Theory of operation. A run is READY, or waits for the answer to the one step it asked for. `MOVES` says
which event is legal in which phase; any other raises LocalProtocolError and changes nothing. Limits are
looked at in READY only, in the order of `_first_stop` (DESIGN section 6): so a batch that began is never
cut by a limit, and a cancel is seen in every phase. An end, once set, is never replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from protocol.errors import LocalProtocolError
from protocol.frames import Policy
from protocol.status import Detail
from protocol.status import TerminalStatus as Status
from subagent.brain import ends
from subagent.brain.events import (
    AnswerChecked,
    Asked,
    AskedCall,
    BatchEnded,
    BatchRefused,
    BrainEvent,
    Cancelled,
    Failed,
    ModelGone,
    Replied,
)
from subagent.brain.progress import sign
from subagent.brain.repeats import Repeats, Ruling, rule
from subagent.brain.state import (
    CallModel,
    CheckAnswer,
    Done,
    End,
    Phase,
    PlannedCall,
    RefuseBatch,
    RunTools,
    Situation,
    State,
    Step,
    Stop,
)

STORY_LENGTH = 12
EMERGENCY_PERCENT = 95
"""Of the context window, inclusive. Without compaction (issue "brain") a prompt this large ends the run."""


_STOPS_BEFORE_A_CALL = ("steps", "tokens", "cost_microusd", "cpu_s")
"""Tool calls are not among them: a model that has none left may still answer."""


def apply(state: State, event: BrainEvent, policy: Policy) -> State:
    """The state after `event`. Raises LocalProtocolError, `state` untouched, where the event is illegal."""
    handler = MOVES.get((state.phase, type(event)))
    if handler is None:
        raise LocalProtocolError(state.phase, type(event).__name__, state.story)
    told = (*state.story, f"{state.phase}+{type(event).__name__}")[-STORY_LENGTH:]
    return msgspec.structs.replace(handler(state, event, policy), story=told)


def decide(state: State, policy: Policy, situation: Situation) -> Step:
    """What to do next. Pure: asking changes nothing, and the same question has the same answer."""
    if state.end is not None:
        return Done(state.end)
    if state.stop is not None:
        return Done(ends.stopped(state.stop))
    match state.phase:
        case Phase.AWAITING_TOOLS:
            return _batch_step(state, situation)
        case Phase.AWAITING_CHECK:
            return CheckAnswer(state.declined)
        case Phase.READY:
            end = _first_stop(state, policy, situation)
            return CallModel(state.turns) if end is None else Done(end)
    return CallModel(state.turns)


def _batch_step(state: State, situation: Situation) -> RunTools | RefuseBatch:
    """A whole batch fits or none of it runs (DESIGN section 4)."""
    wanted = sum(call.refusal is None for call in state.batch)
    left = situation.meter.available("tool_calls")
    if left is not None and wanted > left:
        return RefuseBatch(state.batch, "tool_calls")
    return RunTools(state.batch)


def _first_stop(state: State, policy: Policy, situation: Situation) -> End | None:
    """The first reason not to call the model, in the order of DESIGN section 6."""
    meter = situation.meter
    if situation.now_s >= situation.deadline_s:
        return ends.DEADLINE
    for dimension in _STOPS_BEFORE_A_CALL:
        if meter.available(dimension) == 0:
            return ends.spent(dimension)
    if state.progress.idle >= policy.idle_turns:
        return ends.NO_PROGRESS
    line = situation.context_window * EMERGENCY_PERCENT // 100
    if situation.context_window and situation.context_tokens >= line:
        return ends.CONTEXT_FULL
    left = meter.available("tokens")
    if left is not None and situation.prompt_tokens > left:
        return ends.spent("tokens")
    return None


# ---------------------------------------------------------------- handlers, one for each kind of event


def _asked(state: State, _event: Asked, _policy: Policy) -> State:
    return msgspec.structs.replace(state, phase=Phase.AWAITING_MODEL)


def _replied(state: State, event: Replied, policy: Policy) -> State:
    turned = msgspec.structs.replace(state, turns=state.turns + 1)
    if event.unusable is not None:
        return _unusable(turned, event.unusable, policy)
    turned = msgspec.structs.replace(turned, bad_replies=0, finishing=event.finish, declined=event.declined)
    if event.calls:
        return _plan_batch(turned, event, policy)
    return msgspec.structs.replace(turned, phase=Phase.AWAITING_CHECK)


def _unusable(state: State, detail: Detail, policy: Policy) -> State:
    bad = state.bad_replies + 1
    if bad > policy.reply_retries:
        return _end(state, End(Status.STALLED, detail))
    return msgspec.structs.replace(state, phase=Phase.READY, bad_replies=bad)


def _plan_batch(state: State, event: Replied, policy: Policy) -> State:
    planned = tuple(_plan_call(call, state.repeats, policy) for call in event.calls)
    if any(rule(state.repeats.count(call.key), policy.repeat_cap) is Ruling.LOOP for call in event.calls):
        return _end(state, ends.LOOP)
    return msgspec.structs.replace(state, phase=Phase.AWAITING_TOOLS, batch=planned, batch_text=event.text)


def _plan_call(call: AskedCall, repeats: Repeats, policy: Policy) -> PlannedCall:
    count = repeats.count(call.key)
    if rule(count, policy.repeat_cap) is Ruling.REFUSE:
        text = (
            f"not run: this call has had the same result {policy.repeat_cap} times. "
            "Try something else, or finish with what you have."
        )
        return PlannedCall(call.id, call.key, text, repeated=True)
    return PlannedCall(call.id, call.key, call.refusal)


def _batch_ended(state: State, event: BatchEnded, _policy: Policy) -> State:
    if [r.id for r in event.results] != [call.id for call in state.batch]:
        raise LocalProtocolError(state.phase, "BatchEnded with other calls than the batch", state.story)
    repeats = state.repeats
    for call, ended in zip(state.batch, event.results, strict=True):
        repeats = repeats.refused(call.key) if call.repeated else repeats.ran(call.key, ended.result)
    progress = state.progress
    if not all(call.repeated for call in state.batch):
        progress = progress.turned(sign([state.batch_text, *(r.result for r in event.results)]))
    phase = Phase.AWAITING_CHECK if state.finishing else Phase.READY
    return msgspec.structs.replace(state, phase=phase, batch=(), batch_text="", repeats=repeats, progress=progress)


def _batch_refused(state: State, event: BatchRefused, _policy: Policy) -> State:
    return _end(state, ends.spent(event.dimension))


def _answer_checked(state: State, event: AnswerChecked, policy: Policy) -> State:
    if state.declined:
        return _end(state, ends.DECLINED)
    if not event.problems:
        return _end(state, ends.COMPLETED)
    if state.corrections >= policy.corrections:
        return _end(state, ends.CONTRACT_MISSED)
    return msgspec.structs.replace(state, phase=Phase.READY, corrections=state.corrections + 1, finishing=False)


def _model_gone(state: State, event: ModelGone, _policy: Policy) -> State:
    return _end(state, End(event.status, event.detail, event.abort))


def _cancelled(state: State, event: Cancelled, _policy: Policy) -> State:
    return state if state.stop is not None else msgspec.structs.replace(state, stop=Stop(event.reason, event.dimension))


def _failed(state: State, event: Failed, _policy: Policy) -> State:
    return _end(state, End(Status.CRASHED, event.detail))


def _same(state: State, _event: BrainEvent, _policy: Policy) -> State:
    return state


def _end(state: State, end: End) -> State:
    return msgspec.structs.replace(state, phase=Phase.TERMINAL, end=end, batch=())


Handler = Callable[[State, Any, Policy], State]

MOVES: dict[tuple[Phase, type[BrainEvent]], Handler] = {
    (Phase.READY, Asked): _asked,
    (Phase.AWAITING_MODEL, Replied): _replied,
    (Phase.AWAITING_MODEL, ModelGone): _model_gone,
    (Phase.AWAITING_TOOLS, BatchEnded): _batch_ended,
    (Phase.AWAITING_TOOLS, BatchRefused): _batch_refused,
    (Phase.AWAITING_CHECK, AnswerChecked): _answer_checked,
    **{(phase, Cancelled): _cancelled for phase in Phase if phase is not Phase.TERMINAL},
    **{(phase, Failed): _failed for phase in Phase if phase is not Phase.TERMINAL},
    (Phase.TERMINAL, Cancelled): _same,
    (Phase.TERMINAL, Failed): _same,
}
"""(phase, event) -> handler. What is not here is illegal."""


def check_invariants(state: State) -> None:
    """Raise AssertionError where a state contradicts itself."""
    assert (state.end is not None) == (state.phase is Phase.TERMINAL), "an end outside terminal, or none in it"
    assert bool(state.batch) == (state.phase is Phase.AWAITING_TOOLS), "a batch outside awaiting_tools"
    assert len({call.id for call in state.batch}) == len(state.batch), "call ids are not unique"
