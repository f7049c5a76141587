"""The end of a run in words."""

from __future__ import annotations

from protocol.record import TerminalRecord, Usage
from protocol.status import Detail, TerminalStatus
from supervisor.console.ending import describe_end

USAGE = Usage(steps=1, tokens=1_200, tokens_in=1_000, tokens_out=200, tool_calls=2)


def ended(status: TerminalStatus, code: int, usage: Usage = USAGE, **fields: object) -> TerminalRecord:
    values = {"detail": None, "abort": None, "result": None, "partial": None, **fields}
    return TerminalRecord(
        "r", "r/0", "0", status, exit_code=code, usage=usage, started_at="", ended_at="", journal="/j", **values
    )


def test_a_completed_run_says_what_it_spent_and_nothing_else():
    assert describe_end(ended(TerminalStatus.COMPLETED, 0)) == [
        "spent: 1 step, 1,200 tokens (1,000 in, 200 out), 2 tool calls; journal: /j"
    ]


def test_estimates_and_cost_are_told_where_there_are_any():
    usage = Usage(steps=2, tokens=10, tokens_estimated=10, cost_microusd=12_340)
    assert describe_end(ended(TerminalStatus.COMPLETED, 0, usage)) == [
        "spent: 2 steps, 10 tokens (0 in, 0 out), 0 tool calls, 10 tokens are estimates, $0.0123; journal: /j"
    ]


def test_another_end_says_which_and_why_on_one_clean_line():
    told = describe_end(ended(TerminalStatus.STALLED, 1, detail=Detail.CONTRACT, about="bad\x1b[31m\nvalue"))
    assert told[0] == "covey: stalled / contract (exit 1): bad[31mvalue"
