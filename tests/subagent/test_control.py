"""The child's end of the link, as a process at the other end of real pipes."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from protocol.budget import Amounts, Ceiling
from protocol.frames import (
    Cancel,
    Error,
    Event,
    Grant,
    Inject,
    Pause,
    Ping,
    Pong,
    Reply,
    Request,
    Result,
    Resume,
)
from protocol.testing import minimal_spawn
from tests.subagent.linked import LinkedChild

PROGRAM = Path(__file__).with_name("controlled.py")
SPAWN = minimal_spawn()


@pytest.fixture
def start() -> Iterator:
    children: list[LinkedChild] = []

    def starting(scene: str) -> LinkedChild:
        children.append(LinkedChild([str(PROGRAM), scene]))
        return children[-1]

    yield starting
    for child in children:
        child.stop()


def test_a_ping_is_answered_while_the_main_thread_is_busy(start) -> None:
    child = start("busy")
    child.send(SPAWN)
    child.wait_for(Event)
    child.send(Ping(7))
    pong = child.wait_for(Pong)
    assert isinstance(pong, Pong)
    assert (pong.seq, pong.activity.kind) == (7, "tool")


def test_anything_before_spawn_ends_the_child_with_2(start) -> None:
    child = start("busy")
    child.write(b'{"type":"ping","seq":1}\n')
    assert child.process.wait(10) == 2


def test_garbage_before_spawn_ends_the_child_with_2(start) -> None:
    child = start("busy")
    child.write(b"hello\n")
    assert child.process.wait(10) == 2


def test_stdin_eof_ends_the_child(start) -> None:
    child = start("busy")
    child.send(SPAWN)
    child.process.stdin.close()
    assert child.process.wait(10) == 0


def test_an_oversize_frame_is_answered_and_the_channel_survives(start) -> None:
    child = start("busy")
    child.send(SPAWN)
    child.write(b'{"type":"inject","id":"' + b"x" * (1 << 20) + b'"}\n')
    child.send(Ping(1))
    error = child.wait_for(Error)
    assert isinstance(error, Error)
    assert error.code == "oversize"
    child.wait_for(Pong)


def test_a_main_thread_that_never_answers_a_cancel_is_ended_with_a_typed_result(start) -> None:
    child = start("deaf")
    child.send(SPAWN)
    child.wait_for(Event)
    child.send(Cancel("signal", 5.0))
    result = child.wait_for(Result)
    assert isinstance(result, Result)
    assert (result.outcome.status, result.outcome.partial) == ("cancelled", "last words")
    assert child.process.wait(10) == 0


def test_a_blocked_main_thread_is_interrupted_by_a_cancel(start) -> None:
    child = start("blocked")
    child.send(SPAWN)
    child.wait_for(Event)
    child.send(Cancel("request", 5.0))
    result = child.wait_for(Result)
    assert isinstance(result, Result)
    assert result.outcome.about == "interrupted"


def test_pause_inject_grant_and_reply_reach_the_main_thread(start) -> None:
    child = start("listening")
    child.send(SPAWN)
    request = child.wait_for(Request)
    assert isinstance(request, Request)
    child.send(Inject("i1", "look left"))
    child.send(Grant(Ceiling(tokens=5), Amounts(), epoch=2))
    child.send(Grant(Ceiling(tokens=9), Amounts(), epoch=1))
    child.send(Pause())
    child.send(Reply(request.id, msgspec.Raw(b'"yes"')))
    told = child.wait_for(Result)
    assert isinstance(told, Result)
    assert msgspec.json.decode(told.outcome.about) == ["look left", 5, True, '"yes"']


def test_a_frame_is_never_torn_by_two_writers(start) -> None:
    child = start("chatty")
    child.send(SPAWN)
    for seq in range(200):
        child.send(Ping(seq))
    seen, events = 0, 0
    while seen < 200 or events < 500:
        frame = child.wait_for((Pong, Event))
        seen, events = seen + isinstance(frame, Pong), events + isinstance(frame, Event)
    assert child.session.violations == 0


def test_a_stopped_reader_at_the_other_end_cannot_keep_a_cancel_out(start) -> None:
    child = start("flooding")
    child.send(SPAWN)
    time.sleep(0.3)  # the pipe is full by now; nobody reads it
    child.send(Cancel("request", 5.0))
    assert child.process.wait(10) == 0


def test_a_reader_behind_a_full_pipe_still_sees_a_cancel_and_eof(start) -> None:
    child = start("busy")
    child.send(SPAWN)
    child.wait_for(Event)
    for seq in range(3_000):
        child.send(Ping(seq))
    child.send(Cancel("request", 5.0))
    assert child.process.wait(10) == 0

    child = start("busy")
    child.send(SPAWN)
    child.wait_for(Event)
    for seq in range(3_000):
        child.send(Ping(seq))
    child.process.stdin.close()
    assert child.process.wait(10) == 0


def test_what_waited_behind_a_full_pipe_comes_whole_once_it_is_read(start) -> None:
    child = start("busy")
    child.send(SPAWN)
    child.wait_for(Event)
    for seq in range(900):
        child.send(Ping(seq))
    time.sleep(0.2)  # the pipe holds about 600 pongs; the rest waits in the child
    assert [child.wait_for(Pong).seq for _ in range(900)] == list(range(900))
    assert child.session.violations == 0


def test_resume_ends_a_pause(start) -> None:
    child = start("pausing")
    child.send(SPAWN)
    child.send(Pause())
    child.wait_for(Event)
    child.send(Resume())
    child.wait_for(Result)


def test_the_test_children_take_the_default_action_of_sigterm(start) -> None:
    child = start("deaf")
    child.send(SPAWN)
    child.wait_for(Event)
    child.process.terminate()
    assert child.process.wait(10) == -signal.SIGTERM
