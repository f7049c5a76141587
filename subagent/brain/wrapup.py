"""At 80 % of steps, tokens, cost or time the model is told once, with what is left (RULINGS "The loop")."""

from __future__ import annotations

from subagent.brain.state import Situation

WARN_AT = 0.8
_TOLD = ("steps", "tokens", "cost_microusd")


def near_limit(situation: Situation, started_s: float) -> tuple[str, float] | None:
    """The first dimension of which 80 % is used, with what is left of it, or None."""
    for dimension in _TOLD:
        bound = situation.meter.limit.of(dimension)
        used = situation.meter.committed().of(dimension)
        if bound is not None and used >= WARN_AT * bound:
            return dimension, max(0, bound - used)
    allowed_s = situation.deadline_s - started_s
    if situation.now_s - started_s >= WARN_AT * allowed_s:
        return "deadline_s", max(0.0, round(situation.deadline_s - situation.now_s, 1))
    return None


def wrap_up_text(dimension: str, left: float) -> str:
    """What the model reads."""
    return f"Notice from the runtime: of your limit {dimension}, {left:g} is left. Wrap up: finish with what you have."
