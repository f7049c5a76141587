"""What descendants leave behind: as subreapers, guard and supervisor become its parent, and end it.

Only our own children are ever signalled here, and only we reap them: a pid cannot be reused in between. That it is
our child, the kernel says, not /proc, which may be that of another PID namespace.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Container
from typing import NamedTuple

from protocol.kinship import own_children


class Sweep(NamedTuple):
    """One pass: the pids that were found alive and killed, and how many are not gone yet."""

    killed: frozenset[int]
    left: int


def children_until_now() -> frozenset[int]:
    """The children that we have already. Nobody starts us with any, except an `exec` from a shell that has jobs."""
    return frozenset(own_children()) if _has_children() else frozenset()


def sweep_orphans(spared: Container[int]) -> Sweep:
    """Kill and reap every child that is not spared. What those leave comes to us next: call until `left` is 0."""
    if not _has_children():
        return Sweep(frozenset(), 0)
    orphans = [pid for pid in own_children() if pid not in spared and _is_ours(pid)]
    killed = [pid for pid in orphans if not _reap(pid)]
    for pid in killed:
        # A set-uid program is not ours to kill: it stays in `left`, and is told as a leak.
        with contextlib.suppress(PermissionError):
            os.kill(pid, signal.SIGKILL)
    return Sweep(frozenset(killed), len(killed))


def _has_children() -> bool:
    """Cheaper than a scan of /proc, and the usual answer is no."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _is_ours(pid: int) -> bool:
    """The kernel's word that it is a child of ours, which is not reaped yet."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _reap(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is not None
