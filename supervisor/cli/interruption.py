"""Signals outside of a run: the first one that ends stops the command where it is."""

from __future__ import annotations

import signal
from types import FrameType

from supervisor.signals import ending_signals, hold_back


class Interrupted(BaseException):
    """A signal came. No KeyboardInterrupt: click would answer that one, and could wait for a reader of stderr."""


def let_signals_interrupt() -> None:
    """Let through what the guard held back since its fork. `hold_back`, when a run begins, is the end of it."""
    numbers = ending_signals()
    for number in numbers:
        signal.signal(number, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in hold_back():
        signal.signal(number, _nothing_more)
    raise Interrupted


def _nothing_more(_number: int, _frame: FrameType | None) -> None:
    """It came at the same time as the first."""
