"""Are there enough file descriptors for a run? Found out before its first trace, not in the middle of it."""

from __future__ import annotations

import contextlib
import os

from protocol.errors import SpecError

NEEDED = 32
"""Pipes, pidfd and log of an agent and of a service, their spawning, the loop, the run's own files: about 25."""


def require_descriptors(needed: int = NEEDED) -> None:
    """Raise SpecError unless `needed` more can be opened."""
    with contextlib.ExitStack() as opened:
        try:
            for _ in range(needed):
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            problem = f"{error.strerror}: a run needs {needed} more open files; raise the limit with `ulimit -n`"
            raise SpecError("RLIMIT_NOFILE", problem) from error
