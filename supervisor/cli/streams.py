"""What a command says on stdout and stderr, written through: no buffer is left that could fail when nobody looks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from protocol.status import EXIT_CRASHED

STDOUT, STDERR = 1, 2


def put(content: bytes, code: int, where_else: str = "") -> int:
    """Write `content` on stdout and return the exit code of the process: `code`, if that went well.

    A reader that closed the pipe changes nothing. Any other failure is told on stderr, with `where_else` behind
    it, and 0 becomes 1: a caller must not go on with half an answer.
    """
    try:
        _write(STDOUT, content)
    except BrokenPipeError:
        return code
    except OSError as error:
        tell([f"covey: stdout cannot be written: {error.strerror}{where_else}"])
        return code or EXIT_CRASHED
    return code


def tell(lines: Sequence[str]) -> None:
    """Lines on stderr. If that is gone, there is nobody left to tell."""
    with suppress(OSError):
        _write(STDERR, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def _write(fd: int, content: bytes) -> None:
    while content:
        content = content[os.write(fd, content) :]
