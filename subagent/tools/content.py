"""The bytes of a file, read within a bound, and told apart from what is no text."""

from __future__ import annotations

import os
from dataclasses import dataclass

from subagent.tools.beneath import Root, refusal

MAX_FILE_BYTES = 16 * 1024 * 1024
"""No tool reads more of one file, or writes a longer one."""

_CHUNK_BYTES = 1024 * 1024
_BINARY_PROBE_BYTES = 8 * 1024


@dataclass(frozen=True)
class Content:
    """The beginning of a file: at most MAX_FILE_BYTES of its `size_bytes`."""

    data: bytes
    size_bytes: int

    @property
    def whole(self) -> bool:
        return len(self.data) >= self.size_bytes

    @property
    def binary(self) -> bool:
        """Whether there is a NUL byte near its start: the rule git goes by."""
        return b"\0" in self.data[:_BINARY_PROBE_BYTES]


def read_content(root: Root, path: str) -> Content:
    """The content of the regular file at `path`. Raises PathRefused."""
    with root.file(path) as fd:
        return read_from(fd, path)


def read_from(fd: int, path: str) -> Content:
    """The content behind a descriptor of a regular file; `path` is what errors call it."""
    chunks: list[bytes] = []
    left = MAX_FILE_BYTES
    try:
        while left and (chunk := os.read(fd, min(left, _CHUNK_BYTES))):
            chunks.append(chunk)
            left -= len(chunk)
        data = b"".join(chunks)
        return Content(data, max(len(data), os.fstat(fd).st_size))
    except OSError as error:
        raise refusal(path, error) from error
