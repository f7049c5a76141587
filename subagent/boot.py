"""The first steps of a subagent process, before any of its work: its link, its kin, its limits.

The real stdout is kept private and fd 1 points at stderr, so that no print and no tool can reach the channel
(field report U-11). fd 0 becomes /dev/null. Both channel ends are close-on-exec.
"""

from __future__ import annotations

import os
import resource

from protocol.kinship import adopt_orphans, die_with_parent, gain_no_privileges, hide_memory
from protocol.limits import Limits

CPU_GRACE_S = 5
"""Hard CPU limit behind the one that the budget enforces (DESIGN section 5)."""


MOST_CPU_S = 2**31
"""More than a lifetime, and less than what setrlimit refuses."""


def take_channel() -> tuple[int, int]:
    """Move the control link off fds 0 and 1. Returns (read end, write end)."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null_fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(null_fd, 0)
    os.close(null_fd)
    os.dup2(2, 1)
    return read_fd, write_fd


def bind_to(parent_pid: int) -> None:
    """Tie this process to its supervisor. Exits at once if the supervisor is gone already."""
    if not die_with_parent(parent_pid):
        os._exit(0)
    adopt_orphans()
    hide_memory()
    gain_no_privileges()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_cpu(limits: Limits) -> None:
    """The kernel's backstop for `cpu_s`, where it is set."""
    if limits.cpu_s is not None:
        hard_s = min(int(limits.cpu_s) + 1 + CPU_GRACE_S, MOST_CPU_S)
        resource.setrlimit(resource.RLIMIT_CPU, (hard_s, hard_s))
