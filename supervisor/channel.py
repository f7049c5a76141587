"""One agent's pipes: frames in, frames out, and never a wait (DESIGN section 5 "Never block on a child").

Writes go through a bounded queue; a child that does not read fills it, and that is a sign of its own. Reads
are bounded per call, so that a child that floods us gets no more than its turn. Text for display that comes
faster than anyone can look is read and dropped.
"""

from __future__ import annotations

import fcntl
import os
from collections import deque

from protocol.frames import AnyFrame, Event
from protocol.session import Role, Session, Violation

MAX_QUEUED_FRAMES = 64
MAX_QUEUED_BYTES = 4 * 1024 * 1024
READ_BYTES = 16 * 1024
"""One read a turn: even of the smallest lines that is some tens of milliseconds of work."""

MAX_DISPLAYED_A_SECOND = 200

DISPLAY_EVENT = "intel.delta"


class DisplayRate:
    """Counts what is shown in each second."""

    def __init__(self, limit: int = MAX_DISPLAYED_A_SECOND) -> None:
        self.dropped = 0
        self._limit = limit
        self._second_from = float("-inf")
        self._shown = 0

    def admits(self, now: float) -> bool:
        """Whether one more may be shown at `now` (monotonic s)."""
        if now - self._second_from >= 1.0:
            self._second_from, self._shown = now, 0
        if self._shown >= self._limit:
            self.dropped += 1
            return False
        self._shown += 1
        return True


class Channel:
    """The supervisor's end of one control link. Owns both descriptors; `close` it when the child is reaped."""

    def __init__(self, write_fd: int, read_fd: int) -> None:
        self.write_fd = write_fd
        self.read_fd = read_fd
        self.session = Session(Role.SUPERVISOR)
        self.display = DisplayRate()
        self.ended = False
        """The child will send no more."""
        self.deaf = False
        """The child can be told no more."""
        self.overflowed = False
        """Something was not queued, because the child does not read."""
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0

    @property
    def ignored(self) -> dict[str, int]:
        """How much of what the child sent was skipped, by kind (the fields of `child.ignored`)."""
        return {
            "unknown_frames": self.session.unknown_frames,
            "unknown_fields": self.session.unknown_fields,
            "late_frames": self.session.late_frames,
            "violations": self.session.violations,
            "display_dropped": self.display.dropped,
        }

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits for the child to read."""
        return bool(self._queue) and not self.deaf

    def send(self, frame: AnyFrame) -> None:
        """Queue one frame and write what can be written. Raises LocalProtocolError for a frame that is not due.

        A child that closed either end has left the conversation: nothing is sent.
        """
        if self.ended or self.deaf:
            return
        self._enqueue(self.session.send(frame))
        self.flush()

    def flush(self) -> None:
        """Write until the pipe is full or the queue is empty."""
        while self.wants_to_write:
            line = self._queue[0]
            try:
                written = os.write(self.write_fd, line)
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.deaf = True
                return
            self._queued_bytes -= written
            if written == len(line):
                self._queue.popleft()
            else:
                self._queue[0] = line[written:]

    def read(self, now: float) -> list[AnyFrame | Violation]:
        """What the child has sent, up to one turn's worth. `ended` is set at its EOF."""
        found: list[AnyFrame | Violation] = []
        self._read_chunk(READ_BYTES, found)
        return self._worth_knowing(found, now)

    def drain(self, now: float) -> list[AnyFrame | Violation]:
        """What a child that has exited left in the pipe: no more than the pipe can hold, whoever still writes to it."""
        found: list[AnyFrame | Violation] = []
        left = fcntl.fcntl(self.read_fd, fcntl.F_GETPIPE_SZ)
        while left > 0 and (size := self._read_chunk(left, found)):
            left -= size
        if not self.ended:
            self.ended = True
            found += self.session.receive_eof()
        return self._worth_knowing(found, now)

    def close(self) -> None:
        """Close both ends."""
        os.close(self.write_fd)
        os.close(self.read_fd)

    def _read_chunk(self, size: int, found: list[AnyFrame | Violation]) -> int:
        """Read once; the number of bytes, 0 if there are none now or will be none."""
        if self.ended:
            return 0
        try:
            chunk = os.read(self.read_fd, size)
        except BlockingIOError:
            return 0
        if chunk:
            found += self.session.receive(chunk)
        else:
            self.ended = True
            found += self.session.receive_eof()
        return len(chunk)

    def _worth_knowing(self, found: list[AnyFrame | Violation], now: float) -> list[AnyFrame | Violation]:
        """All but display events past the rate; what is a violation is answered."""
        kept: list[AnyFrame | Violation] = []
        for item in found:
            if isinstance(item, Event) and item.name == DISPLAY_EVENT and not self.display.admits(now):
                continue
            if isinstance(item, Violation) and item.reply:
                self._enqueue(item.reply)
            kept.append(item)
        self.flush()
        return kept

    def _enqueue(self, line: bytes) -> None:
        if len(self._queue) >= MAX_QUEUED_FRAMES or self._queued_bytes + len(line) > MAX_QUEUED_BYTES:
            self.overflowed = True
            return
        self._queue.append(line)
        self._queued_bytes += len(line)
