from __future__ import annotations

import contextlib
import gc
import random
import signal
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from types import FrameType

import pytest

from protocol.frames import Secrets
from protocol.model import ModelSpec
from subagent.models.open import open_wire
from subagent.models.types import CallOptions, ErrorKind, Message, ModelError
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


class Fickle:
    """A server that promises to keep its connections, answers `kept` requests on each, and hangs up on the next."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.requests = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    for _ in range(self.kept):
                        self._answer(connection)
                    self._read(connection)

    def _answer(self, connection: socket.socket) -> None:
        self._read(connection)
        chunk = b'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(chunk)
        connection.sendall(head + chunk)

    def _read(self, connection: socket.socket) -> None:
        seen = b""
        while not seen.rstrip().endswith(b"}"):
            chunk = connection.recv(65_536)
            if not chunk:
                return
            seen += chunk
        self.requests += 1


def call(base_url: str) -> Iterator[str]:
    """Texts of call after call over one wire."""
    wire = open_wire(ModelSpec("test", "m", base_url), Secrets(None), (), None)
    try:
        while True:
            options = CallOptions(64, 5.0, time.monotonic() + 10)
            yield wire.call([wire.encode(Message("user", "hello"))], options, len).text
    finally:
        wire.close()


def test_a_kept_connection_that_the_peer_had_closed_is_no_failed_attempt() -> None:
    server = Fickle(kept=1)
    calls = call(server.base_url)
    assert [next(calls) for _ in range(4)] == ["hi"] * 4
    calls.close()
    server.close()


def test_a_new_connection_that_ends_without_an_answer_is_a_failed_attempt() -> None:
    server = Fickle(kept=0)
    calls = call(server.base_url)
    with pytest.raises(ModelError) as failed:
        next(calls)
    assert failed.value.kind is ErrorKind.TRANSPORT
    assert server.requests == 1
    server.close()
