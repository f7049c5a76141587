"""What a command says on stdout and stderr, written through: no buffer is left that could fail when nobody looks."""

from __future__ import annotations

import os
import select
from collections.abc import Sequence
from contextlib import suppress

from protocol.status import EXIT_CRASHED
from supervisor.signals import told_to_end

STDOUT, STDERR = 1, 2

LOOK_UP_MS = 250
"""How long a reader may pause before we look whether we were told to end."""


class NobodyReads(Exception):
    """We were told to end, and whoever should read does not. `unread_bytes` of the content were not written."""

    def __init__(self, unread_bytes: int) -> None:
        self.unread_bytes = unread_bytes
        super().__init__(f"{unread_bytes} bytes were not read")


def put(content: bytes, code: int, where_else: str = "") -> int:
    """Write `content` on stdout and return the exit code of the process: `code`, if that went well.

    A reader that closed the pipe changes nothing, nor does one that does not read until a signal ends the wait, but
    that is told on stderr. Any other failure is told on stderr, with `where_else` behind
    it, and 0 becomes 1: a caller must not go on with half an answer.
    """
    try:
        _write(STDOUT, content)
    except BrokenPipeError:
        return code
    except NobodyReads as error:
        tell([f"covey: interrupted: {error.unread_bytes} bytes for stdout were not read{where_else}"])
        return code
    except OSError as error:
        tell([f"covey: stdout cannot be written: {error.strerror}{where_else}"])
        return code or EXIT_CRASHED
    return code


def tell(lines: Sequence[str]) -> None:
    """Lines on stderr. If that is gone, there is nobody left to tell."""
    with suppress(OSError, NobodyReads):
        _write(STDERR, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def _write(fd: int, content: bytes) -> None:
    """Write it all, never in a write that waits: a signal that is held back could not end that."""
    view = memoryview(content)
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    while view:
        while not poll.poll(LOOK_UP_MS):
            if told_to_end():
                raise NobodyReads(len(view))
        view = view[os.write(fd, view[: select.PIPE_BUF]) :]
