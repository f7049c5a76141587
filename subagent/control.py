"""The child's end of the control link: the reader thread, and the one writer of frames.

The reader answers pings, sets the cancel flag, and hands everything else to the main thread through plain
attributes and queues. Both threads write whole lines, in order, under one lock. The reader only tries that lock,
and the pipe does not block: what it does not take now stays for later. So a full pipe can never stop the reader
from seeing a cancel (DESIGN section 3). EOF on stdin means that the supervisor is gone: the process ends at once.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from protocol.frames import (
    Activity,
    ActivityKind,
    AnyFrame,
    Cancel,
    Error,
    Grant,
    Inject,
    Pause,
    Ping,
    Pong,
    Reply,
    Request,
    RequestMethod,
    Result,
    Resume,
    Spawn,
)
from protocol.record import Outcome
from protocol.session import LinkState, Role, Session, Violation
from subagent.cancel import NUDGE_INTERVAL_S, CancelGate

EXIT_NOT_SPAWNED = 2
EXIT_DEAF = 1
READ_BYTES = 65_536
MOST_WAITING = 1_000
"""Frames behind a full pipe above which pings stay unanswered: who does not read cannot miss them."""


class Control:
    """One link. `last_words` builds the outcome of a main thread that did not answer a cancel."""

    def __init__(self, read_fd: int, write_fd: int, gate: CancelGate) -> None:
        self.gate = gate
        self.paused = threading.Event()
        self.grant: Grant | None = None
        self.injects: deque[Inject] = deque()
        self.last_ping_s = time.monotonic()
        self.last_words: Callable[[Cancel], Outcome] | None = None
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._session = Session(Role.CHILD)
        self._activity = Activity("think", time.monotonic(), time.monotonic() + 60)
        self._outbox: deque[bytes] = deque()
        self._unsent = b""
        self._posting = threading.Lock()
        self._writing = threading.Lock()
        self._ending = threading.Lock()
        os.set_blocking(write_fd, False)
        self._wake_fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._spawn: Spawn | None = None
        self._replies: dict[str, Reply] = {}
        self._asked = 0

    def start(self) -> None:
        """Start the reader thread."""
        threading.Thread(target=self._read_or_end, name="control-reader", daemon=True).start()

    # ---------------------------------------------------------------- for the main thread

    def wait_for_spawn(self) -> Spawn:
        """Block until the spawn payload is here. The process ends if anything else comes first."""
        while self._spawn is None:
            self.wait_for_change(None)
        return self._spawn

    def queue(self, frame: AnyFrame) -> None:
        """Put one frame behind those that wait; it leaves with the next `send` or `flush`, in order."""
        with self._posting:
            self._outbox.append(self._session.send(frame))

    def send(self, frame: AnyFrame) -> None:
        """Write one frame, and what waits before it."""
        self.queue(frame)
        self.flush()

    def flush(self) -> None:
        """Write what waits. Never call it inside an open cancel region: a frame must not be torn."""
        self._flush(blocking=True)

    def end(self, outcome: Outcome) -> None:
        """Send the result. Only the first of main and reader thread gets here; the other waits for its exit."""
        self._ending.acquire()
        self.send(Result(outcome))

    def busy_with(self, kind: ActivityKind, for_s: float) -> None:
        """Declare what the main thread does now, and for how long that is no reason to worry."""
        now = time.monotonic()
        self._activity = Activity(kind, now, now + for_s)

    def ask(self, method: RequestMethod, params: msgspec.Raw, timeout_s: float) -> Reply | None:
        """Ask the supervisor and wait for its reply, or None after `timeout_s`. Call it inside a cancel region."""
        self._asked += 1
        request_id = f"q{self._asked}"
        with self.gate.shielded():
            self.send(Request(request_id, method, params))
        deadline_s = time.monotonic() + timeout_s
        while request_id not in self._replies and (left_s := deadline_s - time.monotonic()) > 0:
            self.wait_for_change(left_s)
        return self._replies.pop(request_id, None)

    def wait_for_change(self, timeout_s: float | None) -> None:
        """Sleep until a frame came, at most `timeout_s`. Made for cancel regions: it holds no lock."""
        if select.select([self._wake_fd], [], [], timeout_s)[0]:
            os.eventfd_read(self._wake_fd)

    # ---------------------------------------------------------------- the reader thread

    def _read_or_end(self) -> None:
        try:
            self._read_loop()
        finally:
            os._exit(EXIT_DEAF)  # a bug: what cannot be stopped must not go on

    def _read_loop(self) -> None:
        poll = select.poll()
        poll.register(self._read_fd, select.POLLIN)
        while True:
            poll.register(self._write_fd, select.POLLOUT if self._unsent or self._outbox else 0)
            for fd, happened in poll.poll(NUDGE_INTERVAL_S * 1000 if self.gate.pending else None):
                self._attend(fd, happened)
            if self.gate.pending:
                self._press()

    def _attend(self, fd: int, happened: int) -> None:
        if fd == self._write_fd:
            if happened & select.POLLERR:
                os._exit(0)  # nobody will ever read us again
            self._flush(blocking=False)
            return
        chunk = os.read(self._read_fd, READ_BYTES)
        if not chunk:
            os._exit(0)
        self._receive(chunk)

    def _receive(self, chunk: bytes) -> None:
        for frame in self._session.receive(chunk):
            if isinstance(frame, Violation):
                self._refuse(frame)
            else:
                self._handle(frame)
        os.eventfd_write(self._wake_fd, 1)

    def _refuse(self, violation: Violation) -> None:
        if not self._session.spawned:
            os._exit(EXIT_NOT_SPAWNED)
        if violation.reply:
            self._outbox.append(violation.reply)
            self._flush(blocking=False)

    def _post(self, frame: AnyFrame) -> None:
        """Send from the reader thread: never wait for the pipe, and never behind the result."""
        with self._posting:
            if self._session.state is LinkState.CLOSING:
                return
            self._outbox.append(self._session.send(frame))
        self._flush(blocking=False)

    def _handle(self, frame: AnyFrame) -> None:
        match frame:
            case Ping(seq):
                self.last_ping_s = time.monotonic()
                if len(self._outbox) < MOST_WAITING:
                    self._post(Pong(seq, self._activity))
            case Cancel():
                self.gate.request(frame)
            case Pause():
                self.paused.set()
            case Resume():
                self.paused.clear()
            case Inject():
                self.injects.append(frame)
            case Grant() if self.grant is None or frame.epoch > self.grant.epoch:
                self.grant = frame
            case Reply():
                self._replies[frame.id] = frame
            case Spawn():
                self.last_ping_s = time.monotonic()
                self._spawn = frame
            case Error():
                pass  # the supervisor counts what we did wrong; there is nothing to answer

    def _press(self) -> None:
        if self.gate.overdue:
            self._end_for_main()
        else:
            self.gate.nudge()

    def _end_for_main(self) -> None:
        """The main thread does not answer: the record is made from the last meter, and the process is over."""
        if not self._ending.acquire(blocking=False):
            return  # it is at its end already
        cancel = self.gate.requested
        if self.last_words is not None and cancel is not None:
            self._post(Result(self.last_words(cancel)))
        os._exit(0)

    # ---------------------------------------------------------------- both threads

    def _flush(self, *, blocking: bool) -> None:
        """Write the outbox. Whoever holds the lock also writes what the other appended meanwhile.

        Not `blocking`: what the pipe does not take now stays for later, to the byte.
        """
        while self._unsent or self._outbox:
            if not self._writing.acquire(blocking=blocking):
                return
            try:
                if not self._write_out(blocking=blocking):
                    return
            finally:
                self._writing.release()

    def _write_out(self, *, blocking: bool) -> bool:
        """With the lock held: whether all of it is written."""
        self._unsent += b"".join(self._take_outbox())
        while self._unsent:
            try:
                self._unsent = self._unsent[os.write(self._write_fd, self._unsent) :]
            except BlockingIOError:
                if not blocking:
                    return False
                select.select([], [self._write_fd], [])
            except BrokenPipeError:
                os._exit(0)  # the supervisor is gone, and we go with it
        return True

    def _take_outbox(self) -> Iterator[bytes]:
        """What waits now. The other thread may append at any time; nobody else takes."""
        while self._outbox:
            yield self._outbox.popleft()
