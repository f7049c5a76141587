"""The record: an agent's word, or the facts; and what a partial result is worth."""

from __future__ import annotations

import msgspec
import pytest

from protocol.budget import Amounts, Ceiling, Meter
from protocol.record import Outcome, Usage
from protocol.status import SUPERVISOR_MAY_ATTRIBUTE, Abort, Detail, TerminalStatus
from supervisor.machine.settle import (
    Attribution,
    Death,
    RunFacts,
    amounts_of,
    attribute_cancel,
    attribute_death,
    settle,
)

METER = Meter(Ceiling(), spent=Amounts(3, 300, 2), charged_unknown=Amounts(0, 40))
ANSWER = msgspec.Raw(b'"fine"')
REASONS = {
    "signal": (TerminalStatus.CANCELLED, Detail.SIGNAL),
    "request": (TerminalStatus.CANCELLED, Detail.REQUEST),
    "parent": (TerminalStatus.CANCELLED, Detail.PARENT),
    "deadline": (TerminalStatus.DEADLINE, Detail.WALL_CLOCK),
    "stuck": (TerminalStatus.CRASHED, Detail.STUCK),
    "budget": (TerminalStatus.CRASHED, Detail.KILLED),
}


def record_of(end: Outcome | Attribution, *, json_contract: bool = False):
    facts = RunFacts("r1", "r1/0", "0", "journal.jsonl", json_contract, 5.0, lambda now: f"T{now:g}")
    return settle(facts, end, METER, 1.25, 9.0)


@pytest.mark.parametrize("reason", REASONS)
def test_each_reason_of_a_cancel_has_its_status_and_detail(reason):
    said = attribute_cancel(reason, "tokens" if reason == "budget" else None)
    assert (said.status, said.detail) == REASONS[reason]
    assert said.status in SUPERVISOR_MAY_ATTRIBUTE


def test_what_only_an_agent_may_say_cannot_be_attributed():
    with pytest.raises(AssertionError, match="own word"):
        Attribution(TerminalStatus.REFUSED, Detail.DECLINED)


@pytest.mark.parametrize(
    ("death", "over", "detail"),
    [
        (Death(None, "SIGKILL", was_ready=True), None, Detail.KILLED),
        (Death(None, "SIGSEGV", was_ready=False), None, Detail.KILLED),
        (Death(None, "SIGXCPU", was_ready=True), None, Detail.CPU),
        (Death(None, "SIGKILL", was_ready=True), "cpu_s", Detail.CPU),
        (Death(3, None, was_ready=True), None, Detail.EXIT),
        (Death(3, None, was_ready=False), None, Detail.SPAWN),
    ],
)
def test_a_death_without_a_result_is_a_crash_that_says_how(death, over, detail):
    said = attribute_death(death, over)
    assert (said.status, said.detail) == (TerminalStatus.CRASHED, detail)
    assert (death.signal or str(death.status)) in said.about


def test_times_and_cpu_are_ours_and_usage_is_the_settled_account():
    record = record_of(
        Outcome(TerminalStatus.COMPLETED, result=ANSWER, usage=Usage(steps=1, tokens=260, tokens_in=200, cpu_s=99.0))
    )
    assert (record.started_at, record.ended_at) == ("T5", "T9")
    assert record.usage == Usage(
        steps=3, tokens=300, tokens_in=200, charged_unknown=40, tree_tokens=300, tool_calls=2, cpu_s=1.25
    )


def test_cost_of_a_model_without_a_price_stays_unknown():
    assert record_of(Outcome(TerminalStatus.COMPLETED, result=ANSWER)).usage.cost_microusd is None
    assert amounts_of(Usage(cost_microusd=7)) == Amounts(cost_microusd=7)


@pytest.mark.parametrize(
    ("partial", "json_contract", "exit_code"),
    [
        ("some text", False, 3),
        ("  \n", False, 124),
        (None, False, 124),
        ('{"a": 1}', True, 3),
        ("not json", True, 124),
        ("", True, 124),
        ("[" * 100_000, True, 124),
    ],
)
def test_a_partial_is_usable_if_it_is_text_or_for_a_json_contract_if_it_parses(partial, json_contract, exit_code):
    outcome = Outcome(TerminalStatus.DEADLINE, Detail.WALL_CLOCK, partial=partial)
    assert record_of(outcome, json_contract=json_contract).exit_code == exit_code


def test_a_result_beside_a_stop_is_usable_too():
    outcome = Outcome(TerminalStatus.STALLED, Detail.CONTRACT, result=msgspec.Raw(b'{"a":1}'))
    assert record_of(outcome, json_contract=True).exit_code == 3


def test_a_word_that_contradicts_itself_is_a_crash_by_output_that_keeps_use_and_partial_text():
    said = Outcome(TerminalStatus.COMPLETED, Detail.OOM, result=ANSWER, partial="so far", usage=Usage(tokens_in=9))
    record = record_of(said)
    assert (record.status, record.detail, record.abort) == (TerminalStatus.CRASHED, Detail.OUTPUT, None)
    assert (record.result, record.partial, record.exit_code, record.usage.tokens_in) == (None, "so far", 3, 9)
    assert record.about == "the agent's word on its end contradicts itself: completed with detail oom"


def test_an_abort_beside_anything_but_a_crash_decides_no_exit_code():
    record = record_of(Outcome(TerminalStatus.COMPLETED, abort=Abort.MCP_UNAVAILABLE, result=ANSWER))
    assert (record.status, record.abort, record.exit_code) == (TerminalStatus.CRASHED, None, 1)


def test_a_sum_of_unknown_charges_is_still_a_count():
    most = 2**53 - 1
    record = record_of(Outcome(TerminalStatus.COMPLETED, result=ANSWER, usage=Usage(charged_unknown=most)))
    assert record.usage.charged_unknown == most
