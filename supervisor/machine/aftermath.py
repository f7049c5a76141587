"""What follows the exit of a process: its group killed, orphans swept, the zombie reaped. In this order.

The group is killed while its leader is a zombie, so that its id cannot be anyone else's (DESIGN section 5
"Order of a death"). Orphans take a moment to die, and their own children come after them: the sweep is
repeated until nothing is left, or until its time is over.
"""

from __future__ import annotations

from supervisor.machine.effects import Effect, EmitEvent, ReapChild, SignalGroup, SweepOrphans
from supervisor.machine.events import OrphansSwept
from supervisor.machine.ladder import Rung
from supervisor.machine.settings import SupervisionSettings


class Aftermath:
    """The end of one process, from its exit to its reaping."""

    def __init__(self, child: str, incarnation: int, now: float, settings: SupervisionSettings) -> None:
        self.reaped = False
        self.sweep_due: float | None = None
        self._child = child
        self._incarnation = incarnation
        self._settings = settings
        self._sweep_until = now + settings.sweep_s
        self._swept: frozenset[int] = frozenset()

    def begin(self) -> list[Effect]:
        """The first things to do."""
        return [SignalGroup(self._child, self._incarnation, Rung.KILL), *self.sweep()]

    def sweep(self) -> list[Effect]:
        """One more pass."""
        self.sweep_due = None
        return [SweepOrphans(self._child, self._incarnation)]

    def swept(self, event: OrphansSwept, now: float) -> list[Effect]:
        """A pass is over: wait for what was killed, or let the process go."""
        self._swept |= event.killed
        if event.left and now < self._sweep_until:
            self.sweep_due = now + self._settings.sweep_interval_s
            return []
        told: list[Effect] = [EmitEvent(self._child, "child.sweep", {"count": len(self._swept)})] if self._swept else []
        return [*told, ReapChild(self._child, self._incarnation)]

    def put_off(self, gap_s: float) -> None:
        """We were stopped ourselves for `gap_s`."""
        self._sweep_until += gap_s
        if self.sweep_due is not None:
            self.sweep_due += gap_s
