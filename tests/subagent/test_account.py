"""The account of one agent: holds become spends, failures cost no step, the unknown is marked."""

from __future__ import annotations

import pytest

from protocol.budget import Amounts, BudgetExceeded, Ceiling
from protocol.frames import Grant
from protocol.limits import Limits
from subagent.account import Account
from subagent.models.types import TurnUsage

HELD = Amounts(steps=1, tokens=500)


def test_an_accepted_reply_costs_a_step_and_what_the_provider_counted() -> None:
    account = Account(Limits())
    account.hold(HELD)
    account.commit_turn(HELD, TurnUsage(100, 20, tokens_cached=60))
    usage = account.usage()
    assert (usage.steps, usage.tokens, usage.tokens_in, usage.tokens_out, usage.tokens_cached) == (1, 120, 100, 20, 60)
    assert usage.tokens_estimated == 0
    assert account.meter.held.is_zero()


def test_a_failed_attempt_costs_no_step_but_its_tokens() -> None:
    account = Account(Limits())
    account.hold(HELD)
    account.commit_failure(HELD, TurnUsage(80, 0, estimated=True))
    usage = account.usage()
    assert (usage.steps, usage.tokens, usage.tokens_estimated) == (0, 80, 80)


def test_an_interrupted_call_is_charged_its_hold_and_marked_unknown() -> None:
    account = Account(Limits())
    account.hold(HELD)
    account.charge_hold(HELD)
    usage = account.usage()
    assert (usage.steps, usage.tokens, usage.charged_unknown, usage.tokens_estimated) == (0, 500, 500, 500)
    account.meter.check_invariants()


def test_a_hold_over_the_limit_is_refused_and_changes_nothing() -> None:
    account = Account(Limits(tokens=400))
    with pytest.raises(BudgetExceeded) as refused:
        account.hold(HELD)
    assert refused.value.dimension == "tokens"
    assert account.meter.held.is_zero()


def test_tool_calls_are_counted_one_by_one() -> None:
    account = Account(Limits())
    account.count_call()
    account.count_call()
    assert account.usage().tool_calls == 2


def test_a_grant_replaces_the_limit_and_keeps_what_was_spent() -> None:
    account = Account(Limits(tokens=600))
    account.hold(HELD)
    account.commit_turn(HELD, TurnUsage(400, 100))
    account.adopt(Grant(Ceiling(tokens=2_000), Amounts(tokens=300), epoch=1))
    assert account.meter.available("tokens") == 1_200
    assert account.usage().tree_tokens == 800


def test_a_grant_below_what_is_spent_is_recorded_and_leaves_nothing() -> None:
    account = Account(Limits(tokens=600))
    account.hold(HELD)
    account.commit_turn(HELD, TurnUsage(400, 100))
    account.adopt(Grant(Ceiling(tokens=100), Amounts(), epoch=1))
    account.meter.check_invariants()
    assert account.meter.available("tokens") == 0
    assert account.meter.over() == "tokens"
