"""Server-sent events: bytes in any chunking to the data of whole events (WHATWG HTML, section 9.2).

Rules, all of them here:
- A line ends at LF, CR or CRLF, also where the two bytes of a CRLF come in different chunks.
- A blank line ends an event. Its data lines are joined by LF; an event without data is none.
- Comments and fields other than `data` are dropped: a keep-alive costs nothing.
- A byte-order mark is dropped at the start of the stream only.
- An event over `max_bytes` is an error: memory is bounded whatever a server sends.
"""

from __future__ import annotations

from subagent.models.types import ErrorKind, ModelError

MAX_EVENT_BYTES = 8 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"


class SSEDecoder:
    """Feed chunks, take the data of the events that they complete."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of each event that `chunk` completes. Raises ModelError MALFORMED for an oversize one."""
        if not chunk:
            return []
        found: list[bytes] = []
        *ended, rest = self._unify_line_ends(chunk).split(b"\n")
        for piece in ended:
            self._keep(piece)
            self._end_line(found)
        self._keep(rest)
        return found

    def feed_eof(self) -> list[bytes]:
        """The data of an event that the end of the stream left open; it may be torn. The decoder is spent."""
        found: list[bytes] = []
        self._end_line(found)
        self._end_event(found)
        return found

    def _unify_line_ends(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise ModelError(ErrorKind.MALFORMED, f"an event of the stream is over {self._max_bytes} bytes")
        self._line.append(piece)

    def _end_line(self, found: list[bytes]) -> None:
        line = b"".join(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            self._end_event(found)
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif line == b"data":
            self._data.append(b"")
        else:
            self._size -= len(line)

    def _end_event(self, found: list[bytes]) -> None:
        if any(self._data):
            found.append(b"\n".join(self._data))
        self._data.clear()
        self._size = 0
