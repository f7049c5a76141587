"""What every supervised process goes through, agent or service: born, asked to stop, made to stop, buried.

A life is one child through all its incarnations. Its legal moves are the table of its class: (state, event
type) -> method. What is not in the table cannot have happened: LocalProtocolError, and nothing is changed.
An event of an earlier incarnation is late: counted, and nothing is changed either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from protocol.errors import LocalProtocolError
from supervisor.machine.aftermath import Aftermath
from supervisor.machine.effects import Effect, EmitEvent, ReapChild, SignalGroup, SpawnChild
from supervisor.machine.events import ChildEvent, ChildReaped, ChildSpawned, OrphansSwept, SpawnFailed
from supervisor.machine.ladder import Ladder, Rung, stand_on
from supervisor.machine.settings import SupervisionSettings
from supervisor.machine.states import ChildState, Desired

STORY_LENGTH = 16

Effects = list[Effect]
Move = Callable[[Any, Any, float], Effects]
Moves = Mapping[tuple[ChildState, type[ChildEvent]], Move]


def on_each(states: Iterable[ChildState], moves: Mapping[type[ChildEvent], Move]) -> Moves:
    """The same moves in several states."""
    return {(state, event): move for state in states for event, move in moves.items()}


class Life:
    """One child. Only the machine calls it; `now` is monotonic s."""

    def __init__(self, name: str, settings: SupervisionSettings) -> None:
        self.name = name
        self.state = ChildState.STOPPED
        self.desired = Desired.DOWN
        self.incarnation = 0
        self.late_events = 0
        self.ladder: Ladder | None = None
        self._settings = settings
        self._born = False
        self._aftermath: Aftermath | None = None
        self._story: deque[str] = deque(maxlen=STORY_LENGTH)

    @property
    def story(self) -> tuple[str, ...]:
        """What happened last, oldest first."""
        return tuple(self._story)

    @property
    def gone(self) -> bool:
        """Whether it has ended and nothing of it is left."""
        return self.state is ChildState.EXITED and (self._aftermath is None or self._aftermath.reaped)

    # ---------------------------------------------------------------- inputs

    def require_possible(self, event: ChildEvent) -> None:
        """Raise LocalProtocolError for what cannot have happened to it."""
        if event.incarnation >= self.incarnation and not self._is_possible(event):
            raise LocalProtocolError(f"{self.name} {self.state}", type(event).__name__, self.story)

    def handle(self, event: ChildEvent, now: float) -> Effects:
        """What happened to it, and is possible."""
        if event.incarnation < self.incarnation:
            self.late_events += 1
            return []
        self._story.append(type(event).__name__)
        return self.moves[self.state, type(event)](self, event, now)

    def on_time(self, now: float) -> Effects:
        """Do what is due."""
        if self._aftermath is not None:
            due = self._aftermath.sweep_due
            return self._aftermath.sweep() if due is not None and due <= now else []
        if not self._born:
            return []
        if self.ladder is not None:
            return self._climb(now) if self.ladder.due_at <= now else []
        return self._on_time_while_wanted(now)

    def next_deadline(self) -> float | None:
        """When `on_time` is due next. Before its birth nothing is: a spawn is answered without any time."""
        if self._aftermath is not None:
            return self._aftermath.sweep_due
        if not self._born:
            return None
        return self.ladder.due_at if self.ladder is not None else self._next_deadline_while_wanted()

    def kill(self, now: float) -> Effects:
        """Straight to SIGKILL. Nothing happens to a child that is not there, or that is killed already."""
        if self.state not in (ChildState.STARTING, ChildState.READY, ChildState.STOPPING):
            return []
        if self.ladder is not None and self.ladder.rung in (Rung.KILL, Rung.GIVE_UP):
            return []
        return self._stop_at(Rung.KILL, now)

    def put_off(self, gap_s: float) -> None:
        """We were stopped ourselves for `gap_s`: no deadline ran in that time."""
        if self.ladder is not None:
            self.ladder = Ladder(self.ladder.rung, self.ladder.due_at + gap_s)
        if self._aftermath is not None:
            self._aftermath.put_off(gap_s)

    def check_invariants(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        if self.state is ChildState.STOPPING:
            assert self.ladder is not None, f"{self.name}: stopping without a deadline"
            assert self.desired is Desired.DOWN, f"{self.name}: stopping and wanted"
        if self.state in (ChildState.STARTING, ChildState.READY):
            assert self.ladder is None, f"{self.name}: {self.state} on the ladder"
            assert self.desired is Desired.UP, f"{self.name}: {self.state} and not wanted"

    def _is_possible(self, event: ChildEvent) -> bool:
        is_birth = isinstance(event, ChildSpawned | SpawnFailed)
        known = event.incarnation == self.incarnation and (self.state, type(event)) in self.moves
        return known and is_birth is not self._born

    # ---------------------------------------------------------------- what a kind of child adds

    def _on_time_while_wanted(self, now: float) -> Effects:
        raise NotImplementedError

    def _next_deadline_while_wanted(self) -> float | None:
        raise NotImplementedError

    def _ask(self) -> Effects:
        """Ask it to end."""
        raise NotImplementedError

    def _given_up(self, now: float) -> Effects:
        """The kernel does not end it. Called in state EXITED."""
        raise NotImplementedError

    # ---------------------------------------------------------------- moves that all have

    def _spawn(self) -> Effects:
        self.incarnation += 1
        self._born = False
        self.desired = Desired.UP
        self._move_to(ChildState.STARTING)
        return [SpawnChild(self.name, self.incarnation)]

    def _stop_at(self, rung: Rung, now: float, ask_grace_s: float | None = None) -> Effects:
        """Enter the ladder on `rung`."""
        self.desired = Desired.DOWN
        self.ladder = stand_on(rung, now, self._settings, ask_grace_s)
        self._move_to(ChildState.STOPPING)
        return self._at_rung(now)

    def _climb(self, now: float) -> Effects:
        assert self.ladder is not None, "a ladder is climbed that is not there"
        self.ladder = self.ladder.climbed(now, self._settings)
        return self._at_rung(now)

    def _at_rung(self, now: float) -> Effects:
        """What the rung that was reached asks for. A child whose spawn is not answered yet gets it when it is."""
        assert self.ladder is not None, "no rung is reached without a ladder"
        rung = self.ladder.rung
        if rung is Rung.GIVE_UP:
            return self._give_up(now)
        if not self._born:
            return []
        if rung is Rung.ASK:
            return self._ask()
        return [SignalGroup(self.name, self.incarnation, rung), EmitEvent(self.name, _DRAIN_EVENTS[rung], {})]

    def _give_up(self, now: float) -> Effects:
        self._end(now)
        told = EmitEvent(self.name, "child.unhealthy", {"verdict": "unkillable", "silent_s": None})
        return [told, *self._given_up(now), ReapChild(self.name, self.incarnation)]

    def _end_unborn(self) -> None:
        """There never was a process, so nothing comes after it."""
        self.desired, self.ladder = Desired.DOWN, None
        self._move_to(ChildState.EXITED)

    def _end(self, now: float) -> Aftermath:
        self.desired, self.ladder = Desired.DOWN, None
        self._move_to(ChildState.EXITED)
        self._aftermath = Aftermath(self.name, self.incarnation, now, self._settings)
        return self._aftermath

    def _spawned(self, _event: ChildSpawned, now: float) -> Effects:
        self._born = True
        return [] if self.ladder is None else self._stop_at(self.ladder.rung, now)

    def _swept(self, event: OrphansSwept, now: float) -> Effects:
        assert self._aftermath is not None, "swept before the end"
        return self._aftermath.swept(event, now)

    def _reaped(self, _event: ChildReaped, _now: float) -> Effects:
        assert self._aftermath is not None, "reaped before the end"
        self._aftermath.reaped = True
        return []

    def _move_to(self, state: ChildState) -> None:
        self._story.append(f"{self.state} -> {state}")
        self.state = state

    moves: ClassVar[Moves] = {
        (ChildState.STARTING, ChildSpawned): _spawned,
        (ChildState.STOPPING, ChildSpawned): _spawned,
        (ChildState.EXITED, OrphansSwept): _swept,
        (ChildState.EXITED, ChildReaped): _reaped,
    }


_DRAIN_EVENTS = {Rung.TERMINATE: "drain.terminate", Rung.KILL: "drain.kill"}
