"""How much the next reply may hold. Pure."""

from __future__ import annotations

import pytest

from protocol.budget import Amounts, Ceiling, Meter
from subagent.brain.caps import MIN_OUTPUT_TOKENS, output_cap
from subagent.brain.state import Situation


def situation(limit: int | None, spent: int, prompt: int, window: int) -> Situation:
    meter = Meter(Ceiling(tokens=limit), spent=Amounts(tokens=spent))
    return Situation(0.0, 9.0, meter, prompt + MIN_OUTPUT_TOKENS, context_tokens=prompt, context_window=window)


@pytest.mark.parametrize(
    ("limit", "spent", "prompt", "window", "cap"),
    [
        (None, 0, 100, 0, 4_096),
        (10**6, 0, 100, 200_000, 4_096),
        (1_000, 0, 100, 200_000, 900),
        (1_000, 600, 100, 200_000, 300),
        (10**6, 0, 100, 500, 400),
        (1_000, 990, 100, 200_000, MIN_OUTPUT_TOKENS),
        (10**6, 0, 499, 500, MIN_OUTPUT_TOKENS),
    ],
)
def test_the_tightest_of_model_window_and_budget_rules(limit, spent, prompt, window, cap) -> None:
    assert output_cap(situation(limit, spent, prompt, window), 4_096) == cap
