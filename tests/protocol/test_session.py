from __future__ import annotations

from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.budget import Amounts, Ceiling
from protocol.codec import encode_frame
from protocol.errors import LocalProtocolError
from protocol.frames import (
    DOWN_TYPES,
    UP_TYPES,
    Activity,
    AnyFrame,
    Cancel,
    Endpoints,
    Error,
    Event,
    Grant,
    Inject,
    MeterFrame,
    Pause,
    Ping,
    Pong,
    Ready,
    Reply,
    Request,
    Result,
    Resume,
    Throttle,
    Throttled,
    tag_of,
)
from protocol.record import Outcome
from protocol.session import (
    DOWN_MOVES,
    MAX_ABOUT_CHARS,
    MAX_ANSWERS,
    STORY_LENGTH,
    UNSPAWNED_UP,
    UP_MOVES,
    LinkState,
    Role,
    Session,
    Violation,
)
from protocol.status import TerminalStatus
from protocol.testing import Link, minimal_spawn

RESULT = Result(Outcome(TerminalStatus.COMPLETED))
FRAMES: tuple[AnyFrame, ...] = (
    minimal_spawn(),
    Ping(1),
    Cancel("request", 5.0),
    Throttle("m", 1.0),
    Endpoints(()),
    Pause(),
    Resume(),
    Inject("i", "x"),
    Grant(Ceiling(), Amounts(), 1),
    Reply("q"),
    Error("oversize", "x"),
    Ready(1),
    Pong(1, Activity("idle", 0.0, 0.0)),
    MeterFrame(Amounts(), Amounts()),
    Event("loop.paused"),
    Request("q", "budget.ask", msgspec.Raw(b"{}")),
    Throttled("m", 1.0),
    RESULT,
)
DOWN_TAGS = {tag_of(t) for t in DOWN_TYPES}
UP_TAGS = {tag_of(t) for t in UP_TYPES}
PLACES = ("unspawned", *LinkState)
CASES = tuple(product(PLACES, FRAMES, Role))


def name_of(part: str | AnyFrame) -> str:
    return part if isinstance(part, str) else tag_of(part)


def session_at(place: str, role: Role) -> Session:
    """A session of either role, brought to a place of its life by legal moves alone."""
    link = Link()
    if place == "unspawned":
        return link.child if role is Role.CHILD else link.supervisor
    link.send_down(minimal_spawn())
    if place in (LinkState.OPEN, LinkState.CLOSING, LinkState.CLOSED):
        link.send_up(Ready(1))
    if place in (LinkState.CLOSING, LinkState.CLOSED):
        link.send_up(RESULT)
    if place == LinkState.CLOSED:
        link.close_down()
        link.close_up()
    return link.child if role is Role.CHILD else link.supervisor


def expected(place: str, tag: str, *, downward: bool) -> LinkState | None:
    """Where a frame leads by the tables, or None where it is illegal."""
    state = LinkState.HANDSHAKE if place == "unspawned" else LinkState(place)
    if downward and tag == "spawn":
        return state if place == "unspawned" else None
    if downward:
        return None if place == "unspawned" else DOWN_MOVES.get((state, tag))
    return None if place == "unspawned" and tag not in UNSPAWNED_UP else UP_MOVES.get((state, tag))


def facts(session: Session) -> tuple[object, ...]:
    return (
        session.state,
        session.spawned,
        session.story,
        session.violations,
        session.late_frames,
        session.unknown_frames,
    )


def test_there_is_an_example_of_every_frame() -> None:
    assert {tag_of(frame) for frame in FRAMES} == DOWN_TAGS | UP_TAGS


@pytest.mark.parametrize(("place", "frame", "role"), CASES, ids=name_of)
def test_a_sent_frame_is_in_the_table_or_refused_with_nothing_changed(place: str, frame: AnyFrame, role: Role) -> None:
    session = session_at(place, role)
    before = facts(session)
    target = expected(place, tag_of(frame), downward=role is Role.SUPERVISOR)
    if target is None:
        with pytest.raises(LocalProtocolError, match=f"send {tag_of(frame)} as {role} is illegal in state"):
            session.send(frame)
        assert facts(session) == before
    else:
        assert session.send(frame) == encode_frame(frame)
        assert session.state is target
    session.check_invariants()


@pytest.mark.parametrize(("place", "frame", "role"), CASES, ids=name_of)
def test_a_received_frame_is_in_the_table_or_becomes_a_value(place: str, frame: AnyFrame, role: Role) -> None:
    session = session_at(place, role)
    state, spawned = session.state, session.spawned
    tag = tag_of(frame)
    target = expected(place, tag, downward=role is Role.CHILD)
    got = session.receive(encode_frame(frame))
    if target is not None:
        assert got == [frame]
        assert session.state is target
    else:
        assert (session.state, session.spawned) == (state, spawned)
        assert not [g for g in got if not isinstance(g, Violation)]
        known = tag in (DOWN_TAGS if role is Role.CHILD else UP_TAGS)
        late = known and state in (LinkState.CLOSING, LinkState.CLOSED)
        assert session.late_frames == (1 if late else 0)
        assert session.unknown_frames == (0 if known else 1)
        first = role is Role.CHILD and place == "unspawned"
        illegal, unknown = ["illegal"] * (known and not late), ["unknown_type"] * (first and not known)
        assert [g.code for g in got if isinstance(g, Violation)] == illegal + unknown
    session.check_invariants()


def test_down_frames_never_move_the_link_so_two_threads_of_a_child_cannot_race() -> None:
    assert all(before is after for (before, _), after in DOWN_MOVES.items())


def test_the_handshake_opens_both_ends() -> None:
    link = Link()
    link.open()
    assert (link.supervisor.state, link.child.state) == (LinkState.OPEN, LinkState.OPEN)
    assert link.child_got == [minimal_spawn()]
    assert link.supervisor_got == [Ready(1)]


def test_a_frame_before_spawn_is_a_violation_and_its_answer_may_go_up() -> None:
    child = Session(Role.CHILD)
    (violation,) = child.receive(encode_frame(Ping(1)))
    assert violation == Violation(
        "illegal", "ping in state handshake", encode_frame(Error("illegal", "ping in state handshake"))
    )
    assert not child.spawned


@pytest.mark.parametrize("line", [b"hello\n", b'{"type":"telepathy"}\n', b'{"type":"spawn"}\n', b"\xff\n"])
def test_a_first_line_that_is_no_spawn_is_a_violation_whatever_it_is(line: bytes) -> None:
    child = Session(Role.CHILD)
    (violation,) = child.receive(line)
    assert isinstance(violation, Violation)
    assert not child.spawned


def test_spawn_is_taken_once() -> None:
    link = Link()
    link.open()
    (violation,) = link.put_down(encode_frame(minimal_spawn("another task")))
    assert isinstance(violation, Violation)
    assert violation.about == "spawn in state open"
    assert link.supervisor_got[-1] == Error("illegal", "spawn in state open")


def test_spawn_is_not_sent_into_a_link_that_closed_before_it() -> None:
    supervisor = Session(Role.SUPERVISOR)
    supervisor.receive_eof()
    with pytest.raises(LocalProtocolError, match="send spawn as supervisor is illegal in state closed"):
        supervisor.send(minimal_spawn())
    assert not supervisor.spawned


def test_ready_twice_is_a_violation_and_the_link_stays_open() -> None:
    link = Link()
    link.open()
    (violation,) = link.put_up(encode_frame(Ready(2)))
    assert isinstance(violation, Violation)
    assert link.supervisor.state is LinkState.OPEN
    assert link.child_got[-1] == Error("illegal", "ready in state open")


def test_a_result_before_ready_is_a_set_up_that_failed() -> None:
    link = Link()
    link.send_down(minimal_spawn())
    assert link.send_up(RESULT) == [RESULT]
    assert link.supervisor.state is LinkState.CLOSING


def test_frames_after_the_result_are_counted_and_change_nothing() -> None:
    link = Link()
    link.open()
    link.send_up(RESULT)
    late = encode_frame(RESULT) + encode_frame(MeterFrame(Amounts(tokens=9), Amounts())) + encode_frame(Ready(1))
    assert link.put_up(late) == []
    assert link.supervisor.late_frames == 3
    assert link.supervisor.state is LinkState.CLOSING


def test_frames_after_eof_are_counted_and_change_nothing() -> None:
    session = session_at(LinkState.OPEN, Role.SUPERVISOR)
    session.receive_eof()
    assert session.receive(encode_frame(RESULT)) == []
    assert (session.late_frames, session.state) == (1, LinkState.CLOSED)


def test_a_cut_last_line_is_a_violation_and_a_clean_eof_is_none() -> None:
    cut, clean = session_at(LinkState.OPEN, Role.SUPERVISOR), session_at(LinkState.OPEN, Role.SUPERVISOR)
    cut.receive(encode_frame(RESULT)[:-10])
    assert cut.receive_eof() == [Violation("truncated", "the stream ended inside a line")]
    assert clean.receive_eof() == []
    assert (cut.state, clean.state) == (LinkState.CLOSED, LinkState.CLOSED)


def test_a_result_without_its_last_newline_still_counts() -> None:
    session = session_at(LinkState.OPEN, Role.SUPERVISOR)
    session.receive(encode_frame(RESULT)[:-1])
    assert session.receive_eof() == [RESULT]


def test_a_supervisor_answers_nothing_before_it_has_sent_spawn_for_that_must_come_first() -> None:
    supervisor = Session(Role.SUPERVISOR)
    (violation,) = supervisor.receive(encode_frame(Ready(1)))
    assert violation == Violation("illegal", "ready in state handshake")


def test_a_child_answers_nothing_after_its_result_for_that_is_last() -> None:
    child = session_at(LinkState.CLOSING, Role.CHILD)
    (violation,) = child.receive(b'{"type":"ping","seq":"x"}\n')
    assert isinstance(violation, Violation)
    assert violation.reply == b""


def test_garbage_and_unknown_types_are_not_answered_and_the_channel_survives() -> None:
    link = Link()
    link.open()
    got = link.put_up(b'print debugging\n{"type":"telepathy","x":1}\n' + encode_frame(Throttled("m", 1.0)))
    assert got == [Violation("garbage", "a line of 15 bytes is not JSON"), Throttled("m", 1.0)]
    assert link.supervisor.unknown_frames == 1
    assert len(link.child_got) == 1


def test_answers_to_one_peer_are_bounded_and_all_violations_counted() -> None:
    link = Link()
    link.open()
    link.put_up(b'{"type":"ready"}\n' * 500)
    assert link.supervisor.violations == 500
    assert len([g for g in link.child_got if isinstance(g, Error)]) == MAX_ANSWERS
    link.check_invariants()


def test_stray_prints_do_not_use_up_the_answers() -> None:
    link = Link()
    link.open()
    link.put_up(b"stray\n" * 500 + b'{"type":"ready"}\n')
    assert isinstance(link.child_got[-1], Error)


def test_an_oversize_line_is_answered_and_the_sender_learns_of_it() -> None:
    link = Link()
    link.open()
    link.put_up(b"x" * 2_000_000 + b"\n" + encode_frame(Throttled("m", 1.0)))
    assert link.child_got[-1] == Error("oversize", "a line of more than 1048576 bytes was skipped")
    assert link.supervisor_got[-1] == Throttled("m", 1.0)


def test_an_error_is_never_answered_with_an_error() -> None:
    link = Link()
    link.open()
    link.put_up(b'{"type":"error","code":7}\n')
    assert isinstance(link.child_got[-1], Error)
    assert not [g for g in link.supervisor_got if isinstance(g, Error)]


def test_what_a_violation_says_is_short_whatever_the_line_was() -> None:
    link = Link()
    link.open()
    line = b'{"type":"event","name":"x","fields":{"' + b"k" * 500_000 + b'":{}}}\n'
    first = Session(Role.CHILD).receive(b'{"type":"%s"}\n' % (b"\\u202e" * 100_000))
    for got in (*link.put_up(line), link.child_got[-1], *first):
        assert isinstance(got, Violation | Error)
        assert len(got.about) <= MAX_ABOUT_CHARS


@pytest.mark.parametrize("version", [0, 2, 2**53 - 1])
def test_a_spawn_of_another_version_is_answered_and_not_taken(version: int) -> None:
    child = Session(Role.CHILD)
    (violation,) = child.receive(encode_frame(msgspec.structs.replace(minimal_spawn(), protocol=version)))
    assert isinstance(violation, Violation)
    assert (violation.code, violation.about) == ("version", f"spawn of version {version}, this end speaks 1")
    assert violation.reply
    assert not child.spawned


def test_a_ready_of_another_version_is_answered_and_opens_nothing() -> None:
    link = Link()
    link.send_down(minimal_spawn())
    link.put_up(encode_frame(Ready(1, protocol=2)))
    assert link.supervisor.state is LinkState.HANDSHAKE
    assert link.child_got[-1] == Error("version", "ready of version 2, this end speaks 1")


def test_unknown_fields_are_counted() -> None:
    link = Link()
    link.open()
    link.put_down(b'{"type":"pause","mood":"good"}\n')
    assert (link.child_got[-1], link.child.unknown_fields) == (Pause(), 1)


def test_a_frame_too_large_to_send_changes_nothing() -> None:
    session = session_at(LinkState.OPEN, Role.SUPERVISOR)
    before = facts(session)
    with pytest.raises(LocalProtocolError):
        session.send(Inject("i", "x" * 2_000_000))
    assert facts(session) == before


def test_a_local_error_tells_state_input_and_story() -> None:
    session = session_at(LinkState.OPEN, Role.CHILD)
    with pytest.raises(LocalProtocolError) as caught:
        session.send(Ready(1))
    assert str(caught.value) == "send ready as child is illegal in state open; before that: got spawn, sent ready"


def test_the_story_keeps_the_last_moves_only() -> None:
    session = session_at(LinkState.OPEN, Role.SUPERVISOR)
    for _ in range(100):
        session.send(Pause())
    assert session.story == ("sent pause",) * STORY_LENGTH


ANYTHING = st.one_of(
    st.sampled_from([encode_frame(frame) for frame in FRAMES]),
    st.sampled_from(
        [b"garbage\n", b"\n", b'{"type":"x"}\n', b'{"type":"ping"}\n', b'{"type":"pong"}\n', b"{", b"\xff"]
    ),
)


@given(st.lists(st.tuples(st.booleans(), ANYTHING), max_size=40), st.integers(1, 50))
def test_no_conversation_raises_or_breaks_an_invariant(script: list[tuple[bool, bytes]], chunk_bytes: int) -> None:
    link = Link(chunk_bytes)
    for downward, line in script:
        link.put_down(line) if downward else link.put_up(line)
        link.check_invariants()
    for end in (link.child_got, link.supervisor_got):
        tags = [tag_of(got) for got in end if not isinstance(got, Violation)]
        assert tags.count("spawn") <= 1
        assert tags.count("ready") <= 1
        assert tags.count("result") <= 1
        assert "result" not in tags[:-1]
        assert "spawn" not in tags[1:]
    link.close_down()
    link.close_up()
