from __future__ import annotations

from itertools import product

import pytest

from protocol.status import SUPERVISOR_MAY_ATTRIBUTE, Abort, Detail, TerminalStatus, exit_code

S = TerminalStatus

# RULINGS "Ends", row by row: status -> (with a usable partial, without).
RULED: dict[TerminalStatus, tuple[int, int]] = {
    S.COMPLETED: (0, 0),
    S.EXHAUSTED_STEPS: (3, 7),
    S.EXHAUSTED_TOKENS: (3, 7),
    S.DEADLINE: (3, 124),
    S.STALLED: (3, 1),
    S.LOOP_DETECTED: (3, 1),
    S.REFUSED: (5, 5),
    S.CRASHED: (3, 1),
    S.CANCELLED: (3, 3),
}


@pytest.mark.parametrize("status", TerminalStatus)
def test_an_end_without_abort_has_the_exit_code_of_the_table(status: TerminalStatus) -> None:
    assert (exit_code(status, None, True), exit_code(status, None, False)) == RULED[status]


@pytest.mark.parametrize(("status", "partial"), list(product(TerminalStatus, [True, False])))
def test_an_abort_decides_the_exit_code_whatever_the_partial(status: TerminalStatus, partial: bool) -> None:
    assert exit_code(status, Abort.INTELLIGENCE_UNAVAILABLE, partial) == 4
    assert exit_code(status, Abort.MCP_UNAVAILABLE, partial) == 6


def test_an_end_never_has_the_code_of_a_usage_error() -> None:
    codes = {exit_code(s, a, p) for s, a, p in product(TerminalStatus, [None, *Abort], [True, False])}
    assert codes == {0, 1, 3, 4, 5, 6, 7, 124}


def test_the_statuses_are_the_closed_set_of_the_design() -> None:
    assert {str(status) for status in TerminalStatus} == {
        "completed", "refused", "exhausted_steps", "exhausted_tokens", "deadline", "stalled", "loop_detected",
        "cancelled", "crashed",
    }  # fmt: skip


def test_a_supervisor_may_attribute_three_of_them() -> None:
    assert frozenset({S.CANCELLED, S.CRASHED, S.DEADLINE}) == SUPERVISOR_MAY_ATTRIBUTE


def test_every_detail_that_the_rulings_name_exists() -> None:
    ruled = {
        "steps", "tool_calls", "tokens", "cost", "cpu", "context_window", "wall_clock", "contract", "empty",
        "truncated", "paused", "blocked", "rejected", "failed", "plan_partial", "interrupted", "indeterminate",
        "killed", "oom", "bug", "stuck", "output", "exit",
    }  # fmt: skip
    assert ruled <= {str(detail) for detail in Detail}
