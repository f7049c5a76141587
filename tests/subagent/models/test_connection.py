from __future__ import annotations

import gc
import random
import signal
import time
import warnings
from collections.abc import Iterator
from types import FrameType

import pytest

from supervisor.scripted.replies import Reply, ReplyCall

from .conftest import Endpoint, Scripted


class Cancelled(BaseException):
    """What the agent's cancel is like: raised by a signal's handler, and no Exception."""


class Alarm:
    """Raises Cancelled on this thread, once, some time after `arm`."""

    def __init__(self) -> None:
        self._armed = False
        signal.signal(signal.SIGALRM, self._ring)

    def arm(self, after_s: float) -> None:
        self._armed = True
        signal.setitimer(signal.ITIMER_REAL, after_s)

    def disarm(self) -> None:
        self._armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        if self._armed:
            self._armed = False
            raise Cancelled


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    before = signal.getsignal(signal.SIGALRM)
    alarm = Alarm()
    yield alarm
    alarm.disarm()
    signal.signal(signal.SIGALRM, before)


def cancelled(endpoint: Endpoint, alarm: Alarm, after_s: float) -> bool:
    """One call with a cancel `after_s` seconds into it; whether the cancel came before its end."""
    try:
        alarm.arm(after_s)
        endpoint.call()
        alarm.disarm()
    except Cancelled:
        return True
    return False


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="late", delay_s=60.0),
        Reply(text="slow " * 99, chunk_delay_s=60.0),
        Reply(text="drip " * 400, chunk_chars=1, chunk_delay_s=0.005),
    ],
    ids=["before the first byte", "between two bytes", "in a drip"],
)
def test_a_cancel_breaks_a_blocked_call_at_once_and_the_next_call_works(
    scripted: Scripted, alarm: Alarm, reply: Reply
) -> None:
    endpoint = scripted(reply, Reply(text="next"))
    began_s = time.monotonic()
    assert cancelled(endpoint, alarm, 0.2)
    assert time.monotonic() - began_s < 1.5
    assert endpoint.call().text == "next"
    assert endpoint.server.connections == 2


def test_a_cancel_at_any_moment_takes_and_leaves_the_client_usable(scripted: Scripted, alarm: Alarm) -> None:
    endpoint = scripted(Reply(text="hello", calls=(ReplyCall("read_file", {"path": "a"}),), repeat="forever"))
    began_s = time.monotonic()
    for _ in range(20):
        endpoint.call()
    call_s = (time.monotonic() - began_s) / 20
    chance = random.Random(7)
    taken = 0
    # Python drops what is raised inside a finaliser or a callback of its collector: that cancel would not take.
    gc.disable()
    with warnings.catch_warnings():
        # A cancel inside connect() leaves the socket to its reference count, which closes it and warns.
        warnings.simplefilter("ignore", ResourceWarning)
        for number in range(400):
            taken += cancelled(endpoint, alarm, chance.uniform(1e-6, call_s))
            if number % 20 == 0:
                assert endpoint.call().text == "hello"
    gc.enable()
    assert taken > 100
    assert endpoint.call().text == "hello"


def test_a_connection_that_the_server_has_closed_is_replaced(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="one", headers={"connection": "close"}), Reply(text="two"))
    assert [endpoint.call().text, endpoint.call().text] == ["one", "two"]
    assert endpoint.server.connections == 2
