"""How a stop becomes a typed end (the first table of RULINGS)."""

from __future__ import annotations

from protocol.status import Detail
from protocol.status import TerminalStatus as Status
from subagent.brain.state import End, Situation, Stop

_DIMENSIONS: dict[str, End] = {
    "steps": End(Status.EXHAUSTED_STEPS, Detail.STEPS),
    "tool_calls": End(Status.EXHAUSTED_STEPS, Detail.TOOL_CALLS),
    "tokens": End(Status.EXHAUSTED_TOKENS, Detail.TOKENS),
    "cost_microusd": End(Status.EXHAUSTED_TOKENS, Detail.COST),
    "cpu_s": End(Status.EXHAUSTED_TOKENS, Detail.CPU),
}

_REASONS: dict[str, End] = {
    "signal": End(Status.CANCELLED, Detail.SIGNAL),
    "request": End(Status.CANCELLED, Detail.REQUEST),
    "parent": End(Status.CANCELLED, Detail.PARENT),
    "deadline": End(Status.DEADLINE, Detail.WALL_CLOCK),
    "stuck": End(Status.CRASHED, Detail.STUCK),
}

DEADLINE = End(Status.DEADLINE, Detail.WALL_CLOCK)
CONTEXT_FULL = End(Status.EXHAUSTED_TOKENS, Detail.CONTEXT_WINDOW)
LOOP = End(Status.LOOP_DETECTED, Detail.REPEATED_CALL)
NO_PROGRESS = End(Status.STALLED, Detail.NO_PROGRESS)
CONTRACT_MISSED = End(Status.STALLED, Detail.CONTRACT)
DECLINED = End(Status.REFUSED, Detail.DECLINED)
COMPLETED = End(Status.COMPLETED, answered=True)


def spent(dimension: str) -> End:
    """The end of a run whose limit in `dimension` is reached. A dimension that we do not know counts as tokens."""
    return _DIMENSIONS.get(dimension, _DIMENSIONS["tokens"])


def explain(end: End, situation: Situation) -> str:
    """In numbers, why a run of these limits can make no further call; empty where the end says it all."""
    if end == CONTEXT_FULL:
        return f"the prompt takes about {situation.context_tokens} of a window of {situation.context_window} tokens"
    if end == spent("tokens"):
        left = situation.meter.available("tokens")
        return f"the next call has to hold at least {situation.prompt_tokens} tokens, {left} are left"
    return ""


def stopped(stop: Stop) -> End:
    """The end of a run that was cancelled."""
    if stop.reason == "budget":
        return spent(stop.dimension or "tokens")
    return _REASONS[stop.reason]
