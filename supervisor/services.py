"""The pipes of a service: its one line that tells an endpoint, and whatever else it prints, which is dropped."""

from __future__ import annotations

import os

import msgspec

from protocol.codec import Fault, FaultCode, LineDecoder

MAX_LINE_BYTES = 64 * 1024
READ_BYTES = 64 * 1024


class Announcement(msgspec.Struct, frozen=True):
    """The line that a service prints when it serves."""

    base_url: str


class ServiceLink:
    """Our end of a service's pipes. Its stdin is closed to end it; `close` the rest when it is reaped."""

    def __init__(self, write_fd: int, read_fd: int) -> None:
        self.read_fd = read_fd
        self.ended = False
        """The service will print no more."""
        self._write_fd: int | None = write_fd
        self._lines = LineDecoder(MAX_LINE_BYTES)
        self._told = False

    def read(self) -> Announcement | Fault | None:
        """The announcement, once, or why the first line is none. Reads once, and never waits."""
        try:
            chunk = os.read(self.read_fd, READ_BYTES)
        except BlockingIOError:
            return None
        if not chunk:
            self.ended = True
        if self._told:
            return None
        lines = self._lines.feed(chunk) if chunk else self._lines.feed_eof()
        return self._first(lines)

    def close_input(self) -> None:
        """The polite word for its end. Once is enough."""
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None

    def close(self) -> None:
        """Close what is open."""
        self.close_input()
        os.close(self.read_fd)

    def _first(self, lines: list[bytes | Fault]) -> Announcement | Fault | None:
        if not lines:
            return None
        self._told = True
        return lines[0] if isinstance(lines[0], Fault) else _announcement(lines[0])


def _announcement(line: bytes) -> Announcement | Fault:
    try:
        return msgspec.json.decode(line, type=Announcement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Fault(FaultCode.GARBAGE, "its first line is no {base_url}")
