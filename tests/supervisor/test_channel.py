"""One channel over real pipes: bounded both ways, and never a wait."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from protocol.codec import down_decoder, encode_frame
from protocol.contract import Contract
from protocol.frames import Activity, Event, Ping, Pong, Ready, Result, Spawn
from protocol.limits import Limits
from protocol.model import ModelSpec
from protocol.record import Outcome
from protocol.session import Violation
from protocol.status import TerminalStatus
from supervisor.channel import MAX_QUEUED_BYTES, MAX_QUEUED_FRAMES, READ_BYTES, Channel, DisplayRate

READY = Ready(1, ())
DELTA = Event("intel.delta", {"text": "x"})


class Ends:
    """A channel and the child's ends of its pipes."""

    def __init__(self) -> None:
        self.child_in, write_fd = os.pipe()
        read_fd, self.child_out = os.pipe()
        for fd in (write_fd, read_fd, self.child_in):
            os.set_blocking(fd, False)
        self.channel = Channel(write_fd, read_fd)
        self.open = {self.child_in, self.child_out}

    def spawn(self, objective: str = "x") -> None:
        model = ModelSpec("p", "m", "http://x/v1")
        self.channel.send(Spawn("r", "r/0", "0", 0, Contract(objective), model, Limits(), "j"))

    def say(self, *frames) -> None:
        os.write(
            self.child_out, b"".join(frame if isinstance(frame, bytes) else encode_frame(frame) for frame in frames)
        )

    def heard(self) -> list:
        """All that can be read by the child while the channel goes on writing."""
        content = b""
        while True:
            self.channel.flush()
            try:
                content += os.read(self.child_in, 1 << 20)
            except BlockingIOError:
                return down_decoder(1 << 24).feed(content)

    def hang_up(self, fd: int) -> None:
        os.close(fd)
        self.open.discard(fd)


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.channel.close()
    for fd in made.open:
        os.close(fd)


def test_frames_go_both_ways_in_order(ends):
    ends.spawn()
    ends.channel.send(Ping(1))
    assert [type(frame) for frame in ends.heard()] == [Spawn, Ping]
    ends.say(READY, Pong(1, Activity("idle", 0, 0)))
    assert [type(frame) for frame in ends.channel.read(0.0)] == [Ready, Pong]
    assert ends.channel.read(0.0) == []


def test_a_frame_larger_than_the_pipe_waits_for_the_child_and_arrives_whole(ends):
    ends.spawn("x" * 500_000)
    assert ends.channel.wants_to_write
    [frame] = ends.heard()
    assert frame.contract.objective == "x" * 500_000
    assert not ends.channel.wants_to_write


def test_a_child_that_does_not_read_fills_its_queue_and_no_more(ends):
    ends.spawn("x" * 200_000)
    for seq in range(MAX_QUEUED_FRAMES - 1):
        ends.channel.send(Ping(seq))
        assert not ends.channel.overflowed
    ends.channel.send(Ping(99))
    assert ends.channel.overflowed
    assert len(ends.heard()) == MAX_QUEUED_FRAMES


def test_the_queue_is_bounded_in_bytes_too(ends):
    from protocol.frames import Inject

    ends.spawn()
    for _ in range(MAX_QUEUED_BYTES // 900_000):
        ends.channel.send(Inject("i", "x" * 900_000))
    assert not ends.channel.overflowed
    ends.channel.send(Inject("i", "x" * 900_000))
    assert ends.channel.overflowed


def test_a_child_that_closed_its_stdin_is_deaf_and_nothing_more_is_queued(ends):
    ends.spawn()
    ends.hang_up(ends.child_in)
    ends.channel.send(Ping(1))
    assert ends.channel.deaf
    ends.channel.send(Ping(2))
    assert not ends.channel.wants_to_write


def test_the_end_of_stdout_is_noticed_once_and_a_cut_line_told(ends):
    ends.spawn()
    ends.say(READY, b'{"type":"po')
    ends.hang_up(ends.child_out)
    found = ends.channel.read(0.0) + ends.channel.read(0.0)
    assert [item if isinstance(item, Ready) else item.code for item in found] == [READY, "truncated"]
    assert ends.channel.ended
    assert ends.channel.read(0.0) == ends.channel.drain(0.0) == []


def test_after_the_end_of_stdout_nothing_is_sent_and_nothing_raised(ends):
    ends.spawn()
    ends.hang_up(ends.child_out)
    ends.channel.read(0.0)
    ends.channel.send(Ping(1))
    assert [type(frame) for frame in ends.heard()] == [Spawn]


def test_one_read_gives_a_flooding_child_no_more_than_its_turn(ends):
    ends.spawn()
    ends.say(READY)
    ends.channel.read(0.0)
    os.set_blocking(ends.child_out, False)
    line = encode_frame(Event("loop.step", {"turn": 1, "calls": 1, "tokens": 1}))
    assert os.write(ends.child_out, line * 600) > 0
    assert 0 < len(ends.channel.read(0.0)) <= READ_BYTES // len(line) + 1


def test_a_violation_is_answered(ends):
    ends.spawn()
    ends.heard()
    ends.say(READY, READY)
    [_, violation] = ends.channel.read(0.0)
    assert isinstance(violation, Violation)
    [error] = ends.heard()
    assert (error.code, "ready" in error.about) == ("illegal", True)


def test_a_drain_takes_what_a_dead_child_wrote_but_waits_for_no_end_of_the_pipe(ends):
    ends.spawn()
    ends.say(READY, Result(Outcome(TerminalStatus.COMPLETED)))
    assert [type(frame) for frame in ends.channel.drain(0.0)] == [Ready, Result]
    assert ends.channel.ended


def test_display_text_past_the_rate_is_dropped_and_all_else_kept(ends):
    ends.spawn()
    ends.say(READY, *[DELTA] * 300, Event("loop.paused"))
    found = ends.channel.read(10.0) + ends.channel.read(10.0)
    assert len([item for item in found if item == DELTA]) == 200
    assert found[-1] == Event("loop.paused")
    assert ends.channel.display.dropped == 100


def test_the_rate_is_counted_afresh_every_second():
    rate = DisplayRate(limit=2)
    assert [rate.admits(t) for t in (0.0, 0.1, 0.2, 0.99, 1.0, 1.1, 1.2)] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
    ]
    assert rate.dropped == 3
