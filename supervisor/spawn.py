"""Starts a child by exec: its own session and group, three pipes, an allow-listed environment (DESIGN section 5).

The payload goes down the pipe later, never in argv or the environment. posix_spawn makes the session before
the program runs, reports a program that is not there, and forks none of our memory.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence

from protocol.errors import CoveyError
from protocol.status import Detail
from supervisor.process import Process

AGENT_ARGV = (sys.executable, "-I", "-m", "subagent")

RUN_MARKER = "COVEY_RUN"
"""In the environment of every process of a run: tells whose a stray process is."""

_PASSED_ON = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"})
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})

_RETRY_DELAYS_S = (0.01, 0.02, 0.04, 0.08)
"""The kernel refuses a fork for want of memory or of a free pid: worth a moment, not more."""


class SpawnError(CoveyError):
    """No process was started, and nothing is left of the attempt. `detail` is the word for why."""

    def __init__(self, about: str, detail: Detail = Detail.SPAWN) -> None:
        self.detail = detail
        super().__init__(about)


def child_environment(environ: Mapping[str, str], run_id: str) -> dict[str, str]:
    """What a child may see of ours (RULINGS "Environment allow-list"), and the marker of its run."""
    allowed = {name: value for name, value in environ.items() if _may_pass(name)}
    return allowed | {RUN_MARKER: run_id}


def _may_pass(name: str) -> bool:
    return name in _PASSED_ON or name.startswith("LC_") or name.upper() in _PROXIES


def spawn(argv: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Start `argv` + ["--parent", our pid]. Raises SpawnError. Call it on the main thread: PDEATHSIG binds to it.

    Our ends of the pipes do not block and are not inherited.
    """
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        try:
            kept, given = _open_pipes(ours, theirs)
            pid = _start([*argv, "--parent", str(os.getpid())], environment, given)
            pidfd = _open_pidfd(pid)
        except OSError as error:
            raise SpawnError(f"{argv[0]} could not be started: {error.strerror}") from error
        ours.pop_all()
        return Process(pid, pidfd, *kept)


def _open_pipes(ours: contextlib.ExitStack, theirs: contextlib.ExitStack) -> tuple[list[int], list[int]]:
    """Our ends and theirs of stdin, stdout and stderr, each closed by the stack that it is entered in."""
    kept: list[int] = []
    given: list[int] = []
    for stream in range(3):
        read_fd, write_fd = os.pipe()
        our_fd, their_fd = (write_fd, read_fd) if stream == 0 else (read_fd, write_fd)
        ours.callback(os.close, our_fd)
        theirs.callback(os.close, their_fd)
        os.set_blocking(our_fd, False)
        kept.append(our_fd)
        given.append(their_fd)
    return kept, given


def _handed_down() -> list[int]:
    """Descriptors that whoever started us left open for every child: their reader waits for their end, not for ours."""
    return [fd for fd in map(int, os.listdir("/proc/self/fd")) if fd > 2 and _is_inheritable(fd)]


def _is_inheritable(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False  # the listing's own


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


def _start(argv: list[str], environment: Mapping[str, str], streams: Sequence[int]) -> int:
    actions: list[tuple[int, ...]] = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(streams)]
    actions += [(os.POSIX_SPAWN_CLOSE, fd) for fd in _handed_down()]
    for delay_s in (*_RETRY_DELAYS_S, None):
        try:
            return os.posix_spawn(
                argv[0],
                argv,
                environment,
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
        except BlockingIOError:
            if delay_s is None:
                raise
            time.sleep(delay_s)
    raise AssertionError("unreachable: the last delay is None")
