"""A file descriptor that is written to without ever waiting: the supervisor's loop must not stop for a reader.

poll(2) says whether a write of at most PIPE_BUF bytes goes through at once; what does not is kept, bounded,
and tried again. O_NONBLOCK would be simpler, but it belongs to the open file, which the user's shell shares.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque

PIECE_BYTES = select.PIPE_BUF
BACKLOG_BYTES = 256 * 1024
CLOSE_TIMEOUT_S = 1.0
"""How long the end of a run waits for a reader that has stopped reading."""


class Sink:
    """Takes lines whole or not at all. A reader that is gone is forgotten, without a word."""

    def __init__(self, fd: int, backlog_bytes: int = BACKLOG_BYTES) -> None:
        self.fd = fd
        self._most = backlog_bytes
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._poll = select.poll()
        self._poll.register(fd, select.POLLOUT)
        self._gone = False

    def write(self, content: bytes) -> bool:
        """Write now what can be written now. Never waits, never raises. False: no room, nothing was taken."""
        if self._gone:
            return True
        self.flush()
        if self._size + len(content) > self._most:
            return False
        self._pieces.extend(content[i : i + PIECE_BYTES] for i in range(0, len(content), PIECE_BYTES))
        self._size += len(content)
        self.flush()
        return True

    def flush(self, wait_s: float = 0.0) -> None:
        """Write what is kept, for `wait_s` at most."""
        end_s = time.monotonic() + wait_s
        while self._pieces and self._is_free(max(0.0, end_s - time.monotonic())):
            self._write_piece()

    def close(self) -> None:
        """Give a slow reader a moment. The descriptor stays open: it is not ours."""
        self.flush(CLOSE_TIMEOUT_S)
        self._pieces.clear()
        self._size = 0

    def _is_free(self, wait_s: float) -> bool:
        return bool(self._poll.poll(wait_s * 1_000))

    def _write_piece(self) -> None:
        piece = self._pieces.popleft()
        try:
            written = os.write(self.fd, piece)
        except OSError:
            # The reader, the terminal or the disk is gone, and there is nobody else to tell.
            self._gone = True
            self._pieces.clear()
            self._size = 0
            return
        self._size -= written
        if written < len(piece):
            self._pieces.appendleft(piece[written:])
