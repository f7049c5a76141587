"""The process that the shell knows: it watches the supervisor, and when that ends, nothing below outlives it.

Theory of operation (DESIGN section 5). The command forks as its first act. The child becomes the supervisor:
it dies with the guard, and is in the guard's process group, so that a terminal works. The parent stays this
small. PDEATHSIG does not reach grandchildren; so the guard is the subreaper that inherits what a killed
supervisor leaves, and kills it. It reaps whatever comes to it (a fit PID 1), passes signals on, and ends
with the supervisor's exit code.

Imported before the fork: what guard and supervisor both need to be safe from their first instant, and no more.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Container

from protocol.kinship import adopt_orphans, die_with_parent, hide_memory
from supervisor.orphans import children_until_now, sweep_orphans
from supervisor.signals import ENDING, ending_signals, ignore_the_rest

SWEEP_S = 5.0
"""How long the guard tries to kill what is left: what is alive then, the kernel cannot kill."""

SWEEP_INTERVAL_S = 0.02

_PASSED_ON = frozenset({*ENDING, signal.SIGTSTP, signal.SIGCONT})
_SI_KERNEL = 0x80
"""The si_code of what a terminal sends: it went to the whole foreground group, the supervisor has it too."""

_EXIT_GUARD_LOST = 1
_EXIT_BY_SIGNAL = 128


def main() -> int:
    """The `covey` command. Returns in the supervisor only; the guard ends here."""
    return run_guarded(_command_line)


def _command_line() -> int:
    from supervisor.cli import main as run_command_line

    return run_command_line()


def run_guarded(command: Callable[[], int]) -> int:
    """Fork; return what `command` returns, in the child. The parent guards it, and exits with its exit code.

    The signals that end are held back when `command` is called: it lets them through once it can act on them.
    """
    guard_pid = os.getpid()
    ignore_the_rest()
    waited = _signals_to_wait_for()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    _open_standard_streams()
    hide_memory()
    adopt_orphans()
    spared = children_until_now()
    supervisor_pid = os.fork()
    if supervisor_pid:
        os._exit(_guard(supervisor_pid, waited, spared))
    if not die_with_parent(guard_pid):
        os._exit(_EXIT_GUARD_LOST)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask.union(ending_signals()))
    return command()


def _open_standard_streams() -> None:
    """A pipe must never become descriptor 0, 1 or 2 because the caller had closed it.

    In the place of stdout nothing can be written: an answer that nobody gets is a failure, and has to show.
    """
    for fd, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(fd)
        except OSError:
            assert os.open(os.devnull, mode) == fd, "the kernel gives the lowest number that is free"
            os.set_inheritable(fd, True)


def _signals_to_wait_for() -> frozenset[signal.Signals]:
    """What was ignored before us (nohup, a shell's background job) stays ignored; a child's end never is."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return frozenset(s for s in _PASSED_ON if signal.getsignal(s) is not signal.SIG_IGN) | {signal.SIGCHLD}


def _guard(supervisor_pid: int, waited: frozenset[signal.Signals], spared: Container[int]) -> int:
    _let_go_of_streams()
    status = None
    while status is None:
        caught = signal.sigwaitinfo(waited)
        if caught.si_signo == signal.SIGCHLD:
            status = _reap(supervisor_pid)
        else:
            _pass_on(caught, supervisor_pid)
    _sweep(spared)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else _EXIT_BY_SIGNAL - code


def _let_go_of_streams() -> None:
    """A reader of the command's output must see its end when the supervisor closes it."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)


def _pass_on(caught: signal.struct_siginfo, supervisor_pid: int) -> None:
    if caught.si_code != _SI_KERNEL:
        os.kill(supervisor_pid, caught.si_signo)
    if caught.si_signo == signal.SIGTSTP:
        _stop_as_by_default()


def _stop_as_by_default() -> None:
    """The kernel's own action for SIGTSTP, which spares a group that no shell could continue; SIGSTOP would not."""
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


def _reap(supervisor_pid: int) -> int | None:
    """Reap whatever has ended; the supervisor's wait status if it was among it."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == supervisor_pid:
            found = status


def _sweep(spared: Container[int]) -> None:
    give_up_at = time.monotonic() + SWEEP_S
    while (swept := sweep_orphans(spared)).left:
        if time.monotonic() >= give_up_at:
            _report_leak(swept.killed)
            return
        signal.sigtimedwait({signal.SIGCHLD}, SWEEP_INTERVAL_S)


def _report_leak(pids: frozenset[int]) -> None:
    told = " ".join(map(str, sorted(pids)))
    os.write(2, f"covey: guard: could not be killed: {told}\n".encode())
