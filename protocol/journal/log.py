"""A journal on disk: one writer, torn tails cut on open, every append whole or not at all.

Durable means that write(2) returned: it survives SIGKILL of everything, not a power cut. A failed or short
append is cut off again, so that a full disk leaves a good journal and an OSError for the caller. The path
of a crash-point test goes through the `write` seam and nowhere else (RULINGS).

The lock is flock(2) on the journal's own descriptor: it ends with the last copy of that descriptor, so with
the process, however it dies. An exec closes the descriptor; a fork without exec inherits it, and the lock
with it, and must close it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from protocol.errors import RemoteProtocolError
from protocol.journal.envelope import Entry, Scan, encode_entry, scan

Write = Callable[[int, bytes], int]

_CLOSED = -1


def utc_now() -> str:
    """The time now, RFC 3339 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JournalLocked(RemoteProtocolError):
    """Somebody writes this journal already: another process, or another Journal of this one."""

    def __init__(self, path: Path) -> None:
        super().__init__("locked", f"{path} is being written by somebody else")


class Journal:
    """The single writer of one file. Open with `open_journal`; close it when the agent ends."""

    def __init__(self, fd: int, path: Path, found: Scan, write: Write) -> None:
        self.path = path
        self.entries = found.entries
        self._fd = fd
        self._write = write
        self._end = found.good_bytes
        self._seq = len(found.entries)
        self._unfinished = False

    @property
    def seq(self) -> int:
        """The number of the last entry; 0 for an empty journal."""
        return self._seq

    def append(self, entry_type: str, body: msgspec.Struct) -> int:
        """Write one entry and return its number. Raises OSError with the file as it was before."""
        line = encode_entry(self._seq + 1, utc_now(), entry_type, body)
        self._cut_unfinished()
        self._unfinished = True
        try:
            written = self._write(self._fd, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, f"{written} of {len(line)} bytes written", str(self.path))
        except OSError:
            self._cut_unfinished()
            raise
        self._end, self._seq, self._unfinished = self._end + len(line), self._seq + 1, False
        return self._seq

    def _cut_unfinished(self) -> None:
        """Take back an append that failed, or that an exception of a signal handler left half-told."""
        if self._unfinished:
            os.ftruncate(self._fd, self._end)
            self._unfinished = False

    def close(self) -> None:
        """Release the lock. Once is enough; an append afterwards is an OSError."""
        fd, self._fd = self._fd, _CLOSED
        if fd != _CLOSED:
            os.close(fd)


def open_journal(path: Path, write: Write = os.write) -> Journal:
    """Lock `path` (made if missing, mode 0600), cut a torn tail off, and be ready to append.

    Raises JournalLocked if another process has it, RemoteProtocolError for damage or for what is no regular file
    (a FIFO would hang us, /dev/full never end), OSError from the disk.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        _require_regular(fd, path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalLocked(path) from error
        with open(fd, "rb", closefd=False) as opened:
            found = scan(opened.read())
        if found.torn_bytes:
            os.ftruncate(fd, found.good_bytes)
        return Journal(fd, path, found, write)
    except BaseException:
        os.close(fd)
        raise


def read_journal(path: Path) -> tuple[Entry, ...]:
    """The good entries of a journal that somebody else may be writing.

    Raises RemoteProtocolError for damage or for what is no regular file, OSError from the disk. Waits for nothing.
    """
    with open(path, "rb", opener=_open_without_waiting) as opened:
        _require_regular(opened.fileno(), path)
        return scan(opened.read()).entries


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)


def _require_regular(fd: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise RemoteProtocolError("damaged", f"{path} is no regular file")
