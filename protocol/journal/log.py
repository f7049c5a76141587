"""A journal on disk: one writer, torn tails cut on open, every append whole or not at all.

Durable means that write(2) returned: it survives SIGKILL of everything, not a power cut. A failed or short
append is cut off again, so that a full disk leaves a good journal and an OSError for the caller. The path
of a crash-point test goes through the `write` seam and nowhere else (RULINGS).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from protocol.errors import RemoteProtocolError
from protocol.journal.envelope import Entry, Scan, encode_entry, scan

Write = Callable[[int, bytes], int]


def utc_now() -> str:
    """The time now, RFC 3339 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JournalLocked(RemoteProtocolError):
    """Another process writes this journal. `holder_pid` is None if it did not say who it is."""

    def __init__(self, path: Path) -> None:
        super().__init__("locked", f"{path} is written by another process")


class Journal:
    """The single writer of one file. Open with `open_journal`; close it when the agent ends."""

    def __init__(self, fd: int, path: Path, found: Scan, write: Write) -> None:
        self.path = path
        self.entries = found.entries
        self._fd = fd
        self._write = write
        self._end = found.good_bytes
        self._seq = len(found.entries)

    @property
    def seq(self) -> int:
        """The number of the last entry; 0 for an empty journal."""
        return self._seq

    def append(self, entry_type: str, body: msgspec.Struct) -> int:
        """Write one entry and return its number. Raises OSError with the file as it was before."""
        line = encode_entry(self._seq + 1, utc_now(), entry_type, body)
        try:
            written = self._write(self._fd, line)
            if written != len(line):
                raise OSError(f"{self.path}: {written} of {len(line)} bytes written")
        except OSError:
            os.ftruncate(self._fd, self._end)
            raise
        self._end += len(line)
        self._seq += 1
        return self._seq

    def close(self) -> None:
        """Release the lock."""
        os.close(self._fd)


def open_journal(path: Path, write: Write = os.write) -> Journal:
    """Lock `path` (made if missing, mode 0600), cut a torn tail off, and be ready to append.

    Raises JournalLocked if another process has it, RemoteProtocolError for damage, OSError from the disk.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise JournalLocked(path) from error
        found = scan(path.read_bytes())
        if found.torn_bytes:
            os.ftruncate(fd, found.good_bytes)
        return Journal(fd, path, found, write)
    except BaseException:
        os.close(fd)
        raise


def read_journal(path: Path) -> tuple[Entry, ...]:
    """The good entries of a journal that somebody else may be writing. Raises RemoteProtocolError for damage."""
    return scan(path.read_bytes()).entries
