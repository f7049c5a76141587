"""What each signal means to a command. The guard, the supervisor and the command line read it here.

ENDING     end it: before a run with exit code 3, in a run as a cancel; a second one kills
IGNORED    nothing: their default would end a run without a record
the rest   as by default: stop and continue, a fault of our own, SIGKILL

What our caller ignores (nohup, a shell's background job) stays ignored.
"""

from __future__ import annotations

import signal

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)

IGNORED = (
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGIO,
    signal.SIGPWR,
    *range(signal.SIGRTMIN, signal.SIGRTMAX + 1),
)


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those of ENDING that our caller does not ignore."""
    return tuple(number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN)


def ignore_the_rest() -> None:
    """Ignore what has no meaning here. A child that is spawned has the defaults again."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)


def hold_back() -> tuple[signal.Signals, ...]:
    """Let what ends wait until somebody can act on it. Returns what that is: a signal that is ignored never waits."""
    numbers = ending_signals()
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    return numbers


def told_to_end() -> bool:
    """Whether a signal that ends is held back and waits."""
    return not signal.sigpending().isdisjoint(ENDING)


def forget_pending() -> None:
    """Take what is held back and waits: it was meant for what is over."""
    while signal.sigtimedwait(ENDING, 0) is not None:
        pass
