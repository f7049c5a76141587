"""A machine with a clock in the test's hand, and short words for what happens to it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from protocol.budget import Amounts, Ceiling
from protocol.frames import Activity
from protocol.record import Outcome, TerminalRecord, Usage
from protocol.status import TerminalStatus
from supervisor.machine.effects import Effect
from supervisor.machine.events import (
    ChildExited,
    ChildObserved,
    ChildPonged,
    ChildReady,
    ChildReaped,
    ChildSpawned,
    EndpointAnnounced,
    MeterReported,
    OrphansSwept,
    ResultReported,
    RunStarted,
    TimePassed,
)
from supervisor.machine.machine import Event, Machine
from supervisor.machine.settings import SupervisionSettings
from supervisor.machine.settle import RunFacts
from supervisor.plan import ServicePlan

EffectT = TypeVar("EffectT")

AGENT = "0"
SERVICE = "scripted"

SETTINGS = SupervisionSettings()
CEILING = Ceiling(steps=10, tokens=1_000, tool_calls=10)

ANSWER = Outcome(TerminalStatus.COMPLETED, result=msgspec.Raw(b'"fine"'), usage=Usage(steps=1, tokens=12))

SPAWNED = ChildSpawned(AGENT, 1, 4242, 99)
READY = ChildReady(AGENT, 1, ("cancel",))
EXITED = ChildExited(AGENT, 1, 0, None, 0.25)
SWEPT = OrphansSwept(AGENT, 1, frozenset(), 0)
REAPED = ChildReaped(AGENT, 1)


def result(outcome: Outcome = ANSWER) -> ResultReported:
    return ResultReported(AGENT, 1, outcome)


def killed(signal: str = "SIGKILL", cpu_s: float = 0.25) -> ChildExited:
    return ChildExited(AGENT, 1, None, signal, cpu_s)


def pong(seq: int, due_s: float = 0.0) -> ChildPonged:
    return ChildPonged(AGENT, 1, seq, Activity("model", 0.0, due_s))


def seen(cpu_s: float = 0.0, *, stopped: bool = False) -> ChildObserved:
    return ChildObserved(AGENT, 1, stopped, cpu_s)


def meter(spent: int, held: int = 0) -> MeterReported:
    return MeterReported(AGENT, 1, Amounts(1, spent), Amounts(1 if held else 0, held))


def announced(base_url: str = "http://127.0.0.1:1/v1") -> EndpointAnnounced:
    return EndpointAnnounced(SERVICE, 1, base_url)


class Stage:
    """One run, moved by hand. Every event is followed by a check of all invariants."""

    def __init__(
        self,
        *,
        service: bool = False,
        settings: SupervisionSettings = SETTINGS,
        ceiling: Ceiling = CEILING,
        deadline_s: float = 3_600.0,
        json_contract: bool = False,
    ) -> None:
        facts = RunFacts("r1", "r1/0", AGENT, "journal.jsonl", json_contract, 100.0, lambda now: f"T{now:g}")
        services = (ServicePlan(SERVICE, ("serve",)),) if service else ()
        self.machine = Machine(facts, ceiling, deadline_s, services, settings)
        self.now = 100.0
        self.done: list[Effect] = []

    def happen(self, *events: Event) -> list[Effect]:
        """Feed events at the present time; the effects of all of them."""
        effects: list[Effect] = []
        for event in events:
            effects += self.machine.handle(event, self.now)
            self.machine.check_invariants()
        self.done += effects
        return effects

    def wait(self, seconds: float) -> list[Effect]:
        """Let time pass, waking the machine whenever it asked for it."""
        until, effects = self.now + seconds, []
        while (due := self.machine.next_deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            effects += self.happen(TimePassed())
        self.now = until
        return effects

    def up(self) -> Stage:
        """Bring the agent to READY."""
        self.happen(RunStarted(), SPAWNED, READY)
        return self

    def record(self) -> TerminalRecord:
        assert self.machine.record is not None
        return self.machine.record


def only(kind: type[EffectT], effects: list[Effect]) -> list[EffectT]:
    return [effect for effect in effects if isinstance(effect, kind)]
