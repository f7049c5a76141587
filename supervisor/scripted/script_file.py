"""Reading a script of replies from disk: a plain file of bounded size, and never a wait for one that is none."""

from __future__ import annotations

import os
import stat

from protocol.errors import SpecError

MAX_SCRIPT_BYTES = 16 * 1024 * 1024


def read_script(path: str, source: str) -> bytes:
    """The bytes of a script. Raises OSError, or SpecError naming `source` for one that cannot be used."""
    with open(path, "rb", opener=_open_without_waiting) as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise SpecError(source, f"{path!r} is no plain file: the endpoint has to read it again")
        script = opened.read(MAX_SCRIPT_BYTES + 1)
    if len(script) > MAX_SCRIPT_BYTES:
        raise SpecError(source, f"{path!r} is longer than {MAX_SCRIPT_BYTES} bytes: cut it into several scripts")
    return script


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)
