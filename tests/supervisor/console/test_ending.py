"""The end of a run in words."""

from __future__ import annotations

from protocol.record import TerminalRecord, Usage
from protocol.status import Detail, TerminalStatus
from supervisor.console.ending import describe_end, spend_line

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
    usage = Usage(steps=2, tokens=10, tokens_in=7, tokens_out=3, tokens_estimated=10, cost_microusd=12_340)
    assert describe_end(ended(TerminalStatus.COMPLETED, 0, usage)) == [
        "spent: 2 steps, 10 tokens (7 in, 3 out), 0 tool calls, 10 tokens are estimates, $0.0123; journal: /j"
    ]


def test_another_end_says_which_and_why_on_one_clean_line():
    told = describe_end(ended(TerminalStatus.STALLED, 1, detail=Detail.CONTRACT, about="bad\x1b[31m\nvalue"))
    assert told[0] == "covey: stalled / contract (exit 1): bad[31mvalue"


def test_the_kinds_of_tokens_add_up_whatever_is_known_of_them():
    unknown = Usage(tokens=5_575, charged_unknown=5_575, tokens_estimated=5_575)
    assert "5,575 tokens (0 in, 0 out, 5,575 charged for a call whose use is unknown)" in spend_line(
        ended(TerminalStatus.DEADLINE, 124, unknown)
    )
    killed = Usage(tokens=1_000, charged_unknown=300)
    assert "1,000 tokens (0 in, 0 out, 300 charged for a call whose use is unknown, 700 not told apart)" in spend_line(
        ended(TerminalStatus.CRASHED, 1, killed)
    )


def test_a_missed_contract_says_what_was_wrong_with_the_last_answer():
    record = ended(TerminalStatus.STALLED, 1, detail=Detail.CONTRACT)
    told = describe_end(record, ["$.x: it is\nno number", "\x1b[2Jnot grounded"])
    assert told[1:3] == [
        "covey: the last answer was not accepted: $.x: it is no number",
        "covey: the last answer was not accepted: [2Jnot grounded",
    ]


def test_a_refusal_comes_with_the_agents_words_cleaned_and_cut():
    words = "no such\nfile\x1b]0;x\x07 " + "y" * 5_000
    told = describe_end(ended(TerminalStatus.REFUSED, 5, detail=Detail.DECLINED, partial=words))
    assert told[1].startswith("covey: the agent says: no such file]0;x yyy")
    assert len(told[1]) < 1_100
    assert len(describe_end(ended(TerminalStatus.REFUSED, 5))) == 2
    assert len(describe_end(ended(TerminalStatus.DEADLINE, 3, partial="half"))) == 2
