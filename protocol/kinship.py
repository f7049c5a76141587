"""How a process ties its life to its parent's, and adopts what its descendants leave behind (Linux).

The spawn contract of DESIGN section 5: a child arms PDEATHSIG and looks at its parent again, since a parent
that died in between sends no signal. PDEATHSIG binds to the parent *thread*: spawn from the main thread.
"""

from __future__ import annotations

import ctypes
import os
import signal
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, argument: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(argument), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl {option}: {os.strerror(number)}")


def die_with_parent(parent_pid: int) -> bool:
    """Be killed when the parent dies. False if it is dead already: then the caller must exit at once."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent_pid


def adopt_orphans() -> None:
    """Become the subreaper: descendants that lose their parent become our children, and ours to reap."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """No core dump, no ptrace and no /proc/PID/environ for others of the same uid: we hold secrets."""
    _prctl(_PR_SET_DUMPABLE, 0)


def gain_no_privileges() -> None:
    """No set-uid program can raise the privileges of this process or of its descendants."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


class ProcessStat(NamedTuple):
    """What /proc/PID/stat says. `state` is one letter (T stopped, Z zombie); ticks are clock ticks.

    A pid together with its `start_ticks` names one process for ever; a pid alone does not.
    """

    pid: int
    state: str
    parent_pid: int
    group_id: int
    cpu_ticks: int
    start_ticks: int


def own_pid_in_proc() -> int | None:
    """Our pid as /proc shows it, or None if that shows us not at all.

    It is another than os.getpid() in a PID namespace that has no /proc of its own (`unshare --pid --fork`): what
    lies under /proc/PID there is somebody else.
    """
    try:
        return int(os.readlink("/proc/self"))
    except OSError:
        return None


def read_stat(pid: int) -> ProcessStat | None:
    """The facts of one process, or None if it is gone or /proc is not of our PID namespace. A zombie has them."""
    return _stat_at(pid) if own_pid_in_proc() == os.getpid() else None


def children_of(parent_pid: int) -> list[int]:
    """The living and zombie children of a process. One scan of /proc: many kernels have no `children` file.

    Both by the numbers of /proc, which are ours unless own_pid_in_proc says otherwise.
    """
    try:
        stats = [_stat_at(int(name)) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []
    return [stat.pid for stat in stats if stat is not None and stat.parent_pid == parent_pid]


def own_children() -> list[int]:
    """Our living and zombie children. None is told where /proc does not show us."""
    shown_as = own_pid_in_proc()
    if shown_as is None:
        return []
    children = children_of(shown_as)
    if shown_as != os.getpid():
        level = len(_pids_by_namespace(shown_as)) - 1
        children = [pids[level] for shown in children if len(pids := _pids_by_namespace(shown)) > level]
    return children


def _stat_at(shown_as: int) -> ProcessStat | None:
    try:
        with open(f"/proc/{shown_as}/stat", "rb") as opened:
            stat = opened.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return ProcessStat(
        pid=shown_as,
        state=fields[0].decode(),
        parent_pid=int(fields[1]),
        group_id=int(fields[2]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        start_ticks=int(fields[19]),
    )


def _pids_by_namespace(shown_as: int) -> list[int]:
    """The pids of one process, from the namespace of /proc inwards; none if it is gone."""
    try:
        with open(f"/proc/{shown_as}/status", "rb") as opened:
            return next(([int(pid) for pid in line.split()[1:]] for line in opened if line.startswith(b"NSpid:")), [])
    except (FileNotFoundError, ProcessLookupError):
        return []
