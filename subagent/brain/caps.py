"""How much a reply may hold, in tokens (DESIGN section 4: the output cap is clamped to what is left)."""

from __future__ import annotations

from subagent.brain.state import Situation

MIN_OUTPUT_TOKENS = 16
"""A call that could not even answer this much is not made."""


def output_cap(situation: Situation, max_output: int) -> int:
    """The least of the model's own cap, what the window leaves and what the budget leaves; never below the minimum."""
    caps = [max_output]
    if situation.context_window:
        caps.append(situation.context_window - situation.context_tokens)
    left = situation.meter.available("tokens")
    if left is not None:
        caps.append(int(left) - (situation.prompt_tokens - MIN_OUTPUT_TOKENS))
    return max(MIN_OUTPUT_TOKENS, min(caps))
