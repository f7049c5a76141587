from __future__ import annotations

import msgspec

from protocol.frames import Error, Inject, Ping, Ready, Result
from protocol.record import Outcome
from protocol.session import LinkState, Violation
from protocol.status import TerminalStatus
from protocol.testing import Link, minimal_spawn

RESULT = Result(Outcome(TerminalStatus.COMPLETED))


def test_a_link_carries_the_same_frames_in_single_bytes() -> None:
    whole, bytewise = Link(), Link(chunk_bytes=1)
    for link in (whole, bytewise):
        link.open()
        link.send_down(Inject("i", "🐦\n"))
        link.send_up(RESULT)
    assert whole.child_got == bytewise.child_got == [minimal_spawn(), Inject("i", "🐦\n")]
    assert whole.supervisor_got == bytewise.supervisor_got == [Ready(1), RESULT]


def test_a_send_gives_what_the_other_end_got_by_it() -> None:
    link = Link()
    link.open(minimal_spawn("Count."))
    assert link.send_down(Ping(1)) == [Ping(1)]
    assert link.send_up(RESULT) == [RESULT]


def test_an_answer_to_a_violation_reaches_the_end_that_made_it() -> None:
    link = Link()
    link.open()
    (violation,) = link.put_up(b'{"type":"ready","pid":"x"}\n')
    assert isinstance(violation, Violation)
    assert link.child_got[-1] == Error(violation.code, violation.about)


def test_closing_closes_one_direction_and_gives_what_was_left() -> None:
    link = Link()
    link.open()
    link.put_up(b'{"type":"throttled"')
    (violation,) = link.close_up()
    assert isinstance(violation, Violation)
    assert violation.code == "truncated"
    assert (link.supervisor.state, link.child.state) == (LinkState.CLOSED, LinkState.OPEN)
    assert link.close_down() == []
    link.check_invariants()


def test_the_minimal_spawn_is_whole_and_holds_no_secret() -> None:
    spawn = minimal_spawn("Count.")
    assert (spawn.contract.objective, spawn.secrets) == ("Count.", None)
    assert msgspec.json.decode(msgspec.json.encode(spawn), type=type(spawn)) == spawn
