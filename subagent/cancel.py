"""How a cancel reaches a blocked main thread, and how it is kept from where it would do harm.

Theory of operation (DESIGN section 3). The reader thread calls `request`, then `nudge` every 10 ms until the
main thread has acknowledged: one signal alone can land just before a syscall and be lost. The signal's
handler raises CancelRaised, and only inside a `region()`. Outside of regions (journal, channel, state)
nothing is ever raised; the main thread looks at `requested` there by itself. CancelRaised is a BaseException
so that no library's `except Exception` can keep it. Python itself drops what is raised in a finaliser: so the
handler raises again after 100 ms in the same region, the region's end raises too, and a main thread that
never comes back is the reader's business (`overdue`).
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from protocol.frames import Cancel

NUDGE_INTERVAL_S = 0.01
RAISE_AGAIN_S = 0.1
ACKNOWLEDGE_WITHIN_S = 0.3


class CancelRaised(BaseException):
    """The run was cancelled while the main thread was inside a region."""


class CancelGate:
    """One per process. Build it on the main thread: it installs the handler of SIGUSR1."""

    def __init__(self) -> None:
        self.requested: Cancel | None = None
        self._requested_at_s = 0.0
        self._open = False
        self._raised_at_s: float | None = None
        self._acknowledged = False
        self._main_thread_id = threading.main_thread().ident or 0
        signal.signal(signal.SIGUSR1, self._on_signal)

    # ---- main thread

    @contextmanager
    def region(self) -> Iterator[None]:
        """Code that a cancel may interrupt anywhere. Raises CancelRaised at the latest at its end."""
        self._open = True
        try:
            self._raise_if_due()
            yield
        finally:
            self._open = False
        self._raise_if_due()

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """A piece of a region in which nothing may be interrupted. Raises CancelRaised behind it if due."""
        self._open = False
        try:
            yield
        finally:
            self._open = True
        self._raise_if_due()

    def acknowledge(self) -> Cancel | None:
        """The cancel that was requested, if any. Called on the main thread: it has seen it and ends the run."""
        if self.requested is not None:
            self._acknowledged = True
        return self.requested

    def _raise_if_due(self) -> None:
        if self.pending:
            self._open = False
            raise CancelRaised

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        if not (self._open and self.pending):
            return
        now_s = time.monotonic()
        if self._raised_at_s is None or now_s - self._raised_at_s >= RAISE_AGAIN_S:
            self._raised_at_s = now_s
            raise CancelRaised

    # ---- reader thread

    def request(self, cancel: Cancel) -> None:
        """Set the flag. The first cancel counts; `nudge` until `pending` is False."""
        if self.requested is None:
            self._requested_at_s = time.monotonic()
            self.requested = cancel

    @property
    def pending(self) -> bool:
        """Whether a cancel waits for the main thread."""
        return self.requested is not None and not self._acknowledged

    @property
    def overdue(self) -> bool:
        """Whether the main thread has had its time to acknowledge."""
        return self.pending and time.monotonic() - self._requested_at_s > ACKNOWLEDGE_WITHIN_S

    def nudge(self) -> None:
        """Interrupt a blocking call of the main thread."""
        signal.pthread_kill(self._main_thread_id, signal.SIGUSR1)
