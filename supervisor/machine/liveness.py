"""Is a child alive and well? Signs of life in, a verdict out (DESIGN section 5 "Liveness").

    pongs | frames within progress_s | activity within its due time | CPU time advances | verdict
    ------+--------------------------+------------------------------+-------------------+---------
    yes   | yes                      |                              |                   | healthy
    yes   | no                       | yes                          |                   | busy
    yes   | no                       | no                           |                   | stuck
    no    | one of the two is yes                                   | yes               | busy
    no    | no                       | no                           |                   | stuck
    no    |                          |                              | no                | stuck

A closed link is exiting: EOF alone is no death, the exit of the process is. Without pongs, a process in
state T (stopped) is stuck whatever it declared, and one whose CPU time advances is busy: C code that holds
the interpreter lock keeps the reader thread from answering. Liveness A, the hard deadline, is a plain
deadline and is not judged here.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from protocol.frames import Activity
from supervisor.machine.settings import SupervisionSettings

_BUSY_SHARE = 0.02
"""CPU time per time that counts as work: answering pings takes far less."""


class Verdict(StrEnum):
    """What the signs say."""

    HEALTHY = "healthy"
    BUSY = "busy"
    STUCK = "stuck"
    EXITING = "exiting"
    DEAD = "dead"


class Vitals(msgspec.Struct, frozen=True):
    """The signs of one process. Instants are monotonic seconds; a sign that never came has its starting value."""

    progress_at: float
    observed_at: float
    pinged: int = 0
    ponged: int = 0
    missed: int = 0
    activity: Activity | None = None
    cpu_s: float = 0.0
    working: bool = False
    stopped: bool = False
    link_closed: bool = False
    exited: bool = False

    def with_ping(self) -> Vitals:
        """A ping is sent; the one before it was missed if it has no answer by now."""
        missed = self.missed + 1 if self.pinged > self.ponged else 0
        return msgspec.structs.replace(self, pinged=self.pinged + 1, missed=missed)

    def with_pong(self, seq: int, activity: Activity) -> Vitals:
        """A pong came. One that answers no ping of ours, or an old one again, is no sign of life."""
        if not self.ponged < seq <= self.pinged:
            return self
        return msgspec.structs.replace(self, ponged=seq, missed=0, activity=activity)

    def with_progress(self, now: float) -> Vitals:
        """A frame other than a pong came."""
        return msgspec.structs.replace(self, progress_at=now)

    def with_observation(self, stopped: bool, cpu_s: float, now: float) -> Vitals:
        """The kernel was asked."""
        used_s, elapsed_s = cpu_s - self.cpu_s, now - self.observed_at
        return msgspec.structs.replace(
            self,
            stopped=stopped,
            cpu_s=max(cpu_s, self.cpu_s),
            working=used_s > 0 and used_s >= _BUSY_SHARE * elapsed_s,
            observed_at=now,
        )

    def with_closed_link(self) -> Vitals:
        """One end of the link is closed."""
        return msgspec.structs.replace(self, link_closed=True)

    def with_exit(self, cpu_s: float) -> Vitals:
        """The exit was seen."""
        return msgspec.structs.replace(self, exited=True, cpu_s=max(cpu_s, self.cpu_s))

    def put_off(self, gap_s: float) -> Vitals:
        """We were stopped ourselves for `gap_s`: nobody's silence counts for that time."""
        return msgspec.structs.replace(self, progress_at=self.progress_at + gap_s, observed_at=self.observed_at + gap_s)

    def silent_s(self, now: float) -> float:
        """For how long no frame but pongs has come."""
        return max(0.0, now - self.progress_at)


def judge(vitals: Vitals, now: float, settings: SupervisionSettings) -> Verdict:
    """The verdict on one process, now."""
    if vitals.exited:
        return Verdict.DEAD
    if vitals.link_closed:
        return Verdict.EXITING
    progressing = vitals.silent_s(now) < settings.progress_s
    within_due = vitals.activity is not None and now <= vitals.activity.due_s
    if vitals.missed < settings.missed_pings:
        if progressing:
            return Verdict.HEALTHY
        return Verdict.BUSY if within_due else Verdict.STUCK
    excused = vitals.working and not vitals.stopped and (progressing or within_due)
    return Verdict.BUSY if excused else Verdict.STUCK
