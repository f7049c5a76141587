"""The law of conservation over any order of mints, reports and settlements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.budget import Amounts, BudgetExceeded, Ceiling
from supervisor.machine.ledger import Ledger

CEILING = Ceiling(steps=10, tokens=1_000, tool_calls=10)

amounts = st.builds(
    Amounts,
    steps=st.integers(0, 20),
    tokens=st.integers(0, 2_000),
    tool_calls=st.integers(0, 20),
    cost_microusd=st.integers(0, 5),
    cpu_s=st.floats(0, 10).map(lambda s: round(s, 6)),
)


def test_a_grant_is_taken_from_the_run_and_what_is_left_of_it_comes_back():
    ledger = Ledger(CEILING)
    assert ledger.mint("0", CEILING, 60.0).parent is None
    assert ledger.run.available("tokens") == 0
    ledger.report("0", Amounts(2, 300), Amounts())
    ledger.settle("0", Amounts())
    assert (ledger.run.available("tokens"), ledger.run.spent.tokens) == (700, 300)


def test_more_than_the_run_has_cannot_be_minted():
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    with pytest.raises(BudgetExceeded):
        ledger.mint("0.1", Ceiling(steps=1), 60.0)
    ledger.check_invariants()


def test_a_last_word_that_covers_the_hold_leaves_nothing_unknown():
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    ledger.report("0", Amounts(1, 100), Amounts(1, 50))
    closed = ledger.settle("0", Amounts(2, 180)).meter
    assert (closed.spent, closed.charged_unknown) == (Amounts(2, 180), Amounts())


def test_a_report_after_the_settlement_changes_nothing():
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    closed = ledger.settle("0", Amounts(1, 10)).meter
    assert ledger.report("0", Amounts(9, 999), Amounts(1, 1)) == closed


@given(st.lists(st.tuples(amounts, amounts), max_size=8), amounts)
def test_what_an_agent_reports_never_breaks_the_law_and_is_never_forgotten(reports, claimed):
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    for spent, held in reports:
        ledger.report("0", spent, held)
        ledger.check_invariants()
    last = ledger.meter("0")
    closed = ledger.settle("0", claimed).meter
    ledger.check_invariants()
    assert ledger.run.spent == closed.spent
    for dimension in ("steps", "tokens", "tool_calls", "cost_microusd"):
        at_least = max(last.spent.of(dimension) + last.held.of(dimension), claimed.of(dimension))
        assert closed.spent.of(dimension) == at_least


def test_figures_as_large_as_the_wire_allows_add_up_to_counts():
    most = 2**53 - 1
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    ledger.report("0", Amounts(1, most, 1, most), Amounts(most, most, most, most, 1e308))
    closed = ledger.settle("0", Amounts(most, most, most, most)).meter
    assert closed.spent == Amounts(most, most, most, most)
    ledger.check_invariants()


def test_an_open_hold_beside_a_large_spend_is_charged_up_to_a_count():
    most = 2**53 - 1
    ledger = Ledger(CEILING)
    ledger.mint("0", CEILING, 60.0)
    ledger.report("0", Amounts(1, most - 10), Amounts(1, most))
    closed = ledger.settle("0", Amounts()).meter
    assert (closed.spent.tokens, closed.charged_unknown.tokens) == (most, 10)
