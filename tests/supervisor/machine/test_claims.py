"""Which ends an agent may claim: the table of the rulings, and nothing beside it."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from protocol.record import Outcome
from protocol.status import Abort, Detail, TerminalStatus
from supervisor.machine.claims import CLAIMS, contradiction

TEXT = msgspec.Raw(b'"fine"')
OBJECT = msgspec.Raw(b'{"a":1}')
CRASHED, COMPLETED = TerminalStatus.CRASHED, TerminalStatus.COMPLETED


def test_every_status_can_be_claimed_and_an_abort_only_beside_a_crash():
    assert {status for status, _ in CLAIMS} == set(TerminalStatus)
    assert {status for status, abort in CLAIMS if abort is not None} == {CRASHED}
    assert {abort for _, abort in CLAIMS if abort is not None} == set(Abort)


def test_every_combination_is_either_in_the_table_or_told_as_a_contradiction():
    for status, detail, abort in itertools.product(TerminalStatus, (None, *Detail), (None, *Abort)):
        allowed = detail in CLAIMS.get((status, abort), ())
        told = contradiction(Outcome(status, detail, abort, result=TEXT), json_contract=False)
        assert (told is None) == allowed
        assert told is None or status in told


@pytest.mark.parametrize("detail", [Detail.KILLED, Detail.EXIT, Detail.SPAWN])
def test_what_only_its_supervisor_can_see_is_no_claim_of_an_agent(detail):
    assert contradiction(Outcome(CRASHED, detail), json_contract=False) is not None


@pytest.mark.parametrize(
    ("outcome", "json_contract", "told"),
    [
        (Outcome(COMPLETED), False, "completed without a result"),
        (Outcome(COMPLETED, result=OBJECT), False, "no text"),
        (Outcome(COMPLETED, result=msgspec.Raw(b"7")), False, "no text"),
        (Outcome(COMPLETED, result=msgspec.Raw(b'"\\ud800"')), False, "no text"),
        (Outcome(TerminalStatus.STALLED, Detail.CONTRACT, result=OBJECT), False, "no text"),
        (Outcome(CRASHED, Detail.OOM, Abort.MCP_UNAVAILABLE), False, "crashed with detail oom and abort mcp_un"),
        (Outcome(TerminalStatus.DEADLINE, Detail.OOM), False, "deadline with detail oom"),
        (Outcome(TerminalStatus.REFUSED), True, "refused with detail none"),
        (Outcome(COMPLETED, result=OBJECT), True, None),
        (Outcome(COMPLETED, result=TEXT), True, None),
        (Outcome(COMPLETED, result=TEXT), False, None),
        (Outcome(TerminalStatus.STALLED, Detail.CONTRACT, result=OBJECT), True, None),
        (Outcome(CRASHED, Detail.TIMEOUT, Abort.INTELLIGENCE_UNAVAILABLE), False, None),
    ],
)
def test_a_result_is_what_the_status_and_the_contract_need(outcome, json_contract, told):
    found = contradiction(outcome, json_contract)
    assert found is None if told is None else told in (found or "")
