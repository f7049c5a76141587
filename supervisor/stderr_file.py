"""What a child prints on stderr, in a file of the run that cannot grow without bound. Always drained (U-13)."""

from __future__ import annotations

import os
from pathlib import Path

MAX_BYTES = 1024 * 1024
READ_BYTES = 64 * 1024

_NO_PIPE = -1
_CUT = b"\n[covey: more was written here, and dropped]\n"


class StderrFile:
    """One pipe into one file of at most 1 MiB (mode 0600). What comes after that, or onto a full disk, is dropped.

    Opened before there is a process, so that a file that cannot be made costs none; then given its pipe.
    """

    def __init__(self, path: Path) -> None:
        self.read_fd = _NO_PIPE
        self.ended = False
        self._left_bytes = MAX_BYTES
        self._file_fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def drain_from(self, read_fd: int) -> None:
        """Own this pipe from now on."""
        self.read_fd = read_fd

    def take(self) -> bool:
        """Move what is there, one read's worth. Whether there was anything."""
        try:
            chunk = os.read(self.read_fd, READ_BYTES)
        except BlockingIOError:
            return False
        self.ended = not chunk
        self._keep(chunk)
        return bool(chunk)

    def drain(self) -> None:
        """Move what a child that has exited left: no more than a pipe holds by default and then some."""
        for _ in range(MAX_BYTES // READ_BYTES):
            if self.ended or not self.take():
                return

    def close(self) -> None:
        """Close the pipe and the file."""
        if self.read_fd != _NO_PIPE:
            os.close(self.read_fd)
        os.close(self._file_fd)

    def _keep(self, chunk: bytes) -> None:
        if not chunk or self._left_bytes < 0:
            return
        kept = chunk if len(chunk) <= self._left_bytes else chunk[: self._left_bytes] + _CUT
        self._left_bytes -= len(chunk)
        try:
            os.write(self._file_fd, kept)
        except OSError:
            self._left_bytes = -1
