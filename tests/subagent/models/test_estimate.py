from __future__ import annotations

import pytest

from subagent.models.deltas import UsageReport
from subagent.models.estimate import estimate_tokens, settle_usage
from subagent.models.types import TurnUsage


def test_a_guess_is_half_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(size) for size in (0, 1, 2, 3)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("reported", "output_bytes", "usage"),
    [
        (UsageReport(10, 5, 4), 20, TurnUsage(10, 5, 4)),
        (UsageReport(10, 0), 0, TurnUsage(10, 0)),
        (UsageReport(10, 5, 400), 20, TurnUsage(10, 5, 10)),
        (UsageReport(), 20, TurnUsage(50, 11, 0, estimated=True)),
        (UsageReport(0, 0, 0), 20, TurnUsage(50, 11, 0, estimated=True)),
        (UsageReport(10, 0), 20, TurnUsage(10, 11, 0, estimated=True)),
        (UsageReport(0, 5, 3), 20, TurnUsage(50, 5, 0, estimated=True)),
        (UsageReport(10), 0, TurnUsage(10, 1, 0, estimated=True)),
        (UsageReport(10**9, 10**9, 10**9), 20, TurnUsage(10**9, 10**9, 10**9)),
        (UsageReport(2**53, 5), 20, TurnUsage(50, 5, 0, estimated=True)),
        (UsageReport(10, 2**53 - 1), 0, TurnUsage(10, 1, 0, estimated=True)),
        (UsageReport(10, 5, 2**60), 20, TurnUsage(10, 5, 0)),
        (UsageReport(-1, -1, -1), 20, TurnUsage(50, 11, 0, estimated=True)),
    ],
)
def test_what_is_not_said_is_guessed_high_and_marked(
    reported: UsageReport, output_bytes: int, usage: TurnUsage
) -> None:
    assert settle_usage(reported, 100, output_bytes) == usage
