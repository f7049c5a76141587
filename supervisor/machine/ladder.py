"""The kill ladder of one process: ask, SIGTERM, SIGKILL, give up. Each rung has its time; none waits for an answer.

ask        cancel was sent (or the child said its last word)   cancel_grace_s
terminate  SIGTERM to the group                                term_grace_s
kill       SIGKILL to the group                                kill_grace_s
give up    the kernel does not end it: said so, and left
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from supervisor.machine.settings import SupervisionSettings


class Rung(StrEnum):
    """How far a ladder is climbed."""

    ASK = "ask"
    TERMINATE = "terminate"
    KILL = "kill"
    GIVE_UP = "give_up"


_NEXT = {Rung.ASK: Rung.TERMINATE, Rung.TERMINATE: Rung.KILL, Rung.KILL: Rung.GIVE_UP}


class Ladder(msgspec.Struct, frozen=True):
    """One ladder: the rung that was reached, and when the next is due (monotonic s)."""

    rung: Rung
    due_at: float

    def climbed(self, now: float, settings: SupervisionSettings) -> Ladder:
        """The next rung. After GIVE_UP there is none."""
        return stand_on(_NEXT[self.rung], now, settings)


def stand_on(rung: Rung, now: float, settings: SupervisionSettings, ask_grace_s: float | None = None) -> Ladder:
    """A ladder on `rung`, reached now. `ask_grace_s` is the time after the asking, if not the setting's."""
    grace_s = {
        Rung.ASK: settings.cancel_grace_s if ask_grace_s is None else ask_grace_s,
        Rung.TERMINATE: settings.term_grace_s,
        Rung.KILL: settings.kill_grace_s,
        Rung.GIVE_UP: 0.0,
    }
    return Ladder(rung, now + grace_s[rung])


class Signals(msgspec.Struct, frozen=True):
    """The signals that asked us to end: those close to the first count as the first."""

    first_at: float | None = None

    def received(self, now: float, settings: SupervisionSettings) -> tuple[Signals, bool]:
        """The signals with one more, and whether this one means: kill now."""
        if self.first_at is None:
            return Signals(now), False
        return self, now - self.first_at > settings.same_signal_s
