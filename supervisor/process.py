"""One child process as the kernel shows it: signals to its group, its exit, its reaping.

Every signal to a child leaves from here. A group is signalled only while its leader is our unreaped child:
until then neither the pid nor the group's id can be anyone else's (supervision.md check 27).
"""

from __future__ import annotations

import os
import select
import signal

import msgspec

from protocol.kinship import read_stat

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Exit(msgspec.Struct, frozen=True):
    """How a process ended: by itself with `status`, or by the signal of that name. `cpu_s` is its own CPU time."""

    status: int | None
    signal: str | None
    cpu_s: float


class Observation(msgspec.Struct, frozen=True):
    """What /proc says of a living process."""

    stopped: bool
    cpu_s: float


class Process:
    """A child that leads its own session and group. `pidfd` is readable once it has ended."""

    def __init__(self, pid: int, pidfd: int, stdin_fd: int, stdout_fd: int, stderr_fd: int) -> None:
        if pid <= 1 or pid == os.getpgrp():
            raise ValueError(f"{pid} leads no group of a child of ours")
        self.pid = pid
        self.pidfd = pidfd
        self.stdin_fd = stdin_fd
        self.stdout_fd = stdout_fd
        self.stderr_fd = stderr_fd
        stat = read_stat(pid)
        self.start_ticks = 0 if stat is None else stat.start_ticks
        self.reaped = False

    def observe(self) -> Observation:
        """Its state now. Of a zombie: its last figures."""
        stat = None if self.reaped else read_stat(self.pid)
        if stat is None:
            return Observation(stopped=False, cpu_s=0.0)
        return Observation(stopped=stat.state == "T", cpu_s=stat.cpu_ticks / _TICKS_PER_S)

    def exit_seen(self) -> Exit | None:
        """How it ended, or None while it lives. It stays a zombie: `reap` lets it go."""
        seen = os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None:
            return None
        cpu_s = self.observe().cpu_s
        if seen.si_code == os.CLD_EXITED:
            return Exit(seen.si_status, None, cpu_s)
        return Exit(None, _signal_name(seen.si_status), cpu_s)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the process and all that stayed in its group. Nothing happens once it is reaped."""
        if not self.reaped:
            os.killpg(self.pid, number)

    def wait(self, timeout_s: float) -> None:
        """Block until it has ended, at most `timeout_s`. Never on a loop."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        poll.poll(timeout_s * 1000)

    def reap(self) -> None:
        """Let a zombie go. Nothing happens while it lives, or a second time."""
        if not self.reaped and os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED | os.WNOHANG) is not None:
            self.reaped = True

    def close(self) -> None:
        """Close the pidfd. The pipes belong to whoever reads them."""
        os.close(self.pidfd)


def _signal_name(number: int) -> str:
    """SIGKILL and the like. Real-time signals have no name of their own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
