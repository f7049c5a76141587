"""The machine: the only place where the state of a run's processes changes.

Rules of this file: every event comes in here, every effect goes out here; it does no IO and reads no clock.

Theory of operation. Each child is a life with a table of its own (agent, service). An event goes to the life
that it is about; then the rules between lives are applied, below: a service that failed ends the agents, an
endpoint that is known lets payloads go, and when no agent is left the services are stopped. The run is over
when nothing of any life is left. Two things are of the run and of no child: signals, and time. Of time the
machine only says when it is due next; if it is woken long after, it was stopped itself (Ctrl-Z, a starved
machine), and all its clocks are put off by the gap instead of judging children by a silence that was ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from protocol.budget import Ceiling
from protocol.errors import LocalProtocolError
from protocol.ids import ROOT_PATH
from protocol.record import TerminalRecord
from protocol.status import Detail, TerminalStatus
from supervisor.machine.agent import AgentLife
from supervisor.machine.effects import Effect, EndRun
from supervisor.machine.events import ChildEvent, LogFailed, RunStarted, SignalReceived, TimePassed
from supervisor.machine.ladder import Signals
from supervisor.machine.ledger import Ledger
from supervisor.machine.life import Effects, Life
from supervisor.machine.service import ServiceLife
from supervisor.machine.settings import DEFAULT_SETTINGS, SupervisionSettings
from supervisor.machine.settle import Attribution, RunFacts
from supervisor.machine.states import ChildState

Event = RunStarted | TimePassed | SignalReceived | LogFailed | ChildEvent


class ServiceNeed(Protocol):
    """What the machine has to know of a service (supervisor.plan.ServicePlan is one)."""

    @property
    def name(self) -> str: ...

    @property
    def start_timeout_s(self) -> float: ...


class Machine:
    """The life of all processes of one run. `handle` is its one input; `lives` is there to be looked at."""

    def __init__(
        self,
        facts: RunFacts,
        limit: Ceiling,
        deadline_s: float,
        services: Sequence[ServiceNeed] = (),
        settings: SupervisionSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.ledger = Ledger(limit)
        self.over = False
        self._limit = limit
        self._deadline_s = deadline_s
        self._settings = settings
        self._started = False
        self._signals = Signals()
        self._agents: dict[str, AgentLife] = {ROOT_PATH: AgentLife(facts, self.ledger, settings)}
        self._services = {need.name: ServiceLife(need.name, need.start_timeout_s, settings) for need in services}
        self.lives: dict[str, Life] = {**self._agents, **self._services}

    @property
    def record(self) -> TerminalRecord | None:
        """The terminal record of the root, once it is settled."""
        return self._agents[ROOT_PATH].record

    def handle(self, event: Event, now: float) -> tuple[Effect, ...]:
        """Take one event; return what is to be done, in order.

        Raises LocalProtocolError, with nothing changed, for an event that cannot have happened.
        """
        self._require_possible(event)
        self._put_off_if_overslept(now)
        effects = self._dispatch(event, now)
        effects += self._rule_failed_services(now)
        effects += self._rule_payloads(now)
        effects += self._rule_last_agent(now)
        return (*effects, *self._rule_over())

    def next_deadline(self) -> float | None:
        """When TimePassed is due (monotonic s), or None if nothing is waited for by time."""
        due = [deadline for life in self.lives.values() if (deadline := life.next_deadline()) is not None]
        return min(due, default=None)

    def check_invariants(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        self.ledger.check_invariants()
        for life in self.lives.values():
            life.check_invariants()
        if self.over:
            assert self.record is not None, "over without a record"
            assert self.next_deadline() is None, "over and waiting"

    # ---------------------------------------------------------------- dispatch

    def _require_possible(self, event: Event) -> None:
        if isinstance(event, RunStarted) == self._started:
            raise LocalProtocolError("started" if self._started else "not started", type(event).__name__)
        if isinstance(event, ChildEvent):
            life = self.lives.get(event.child)
            if life is None:
                raise LocalProtocolError("started", f"{type(event).__name__} of {event.child!r}")
            life.require_possible(event)

    def _dispatch(self, event: Event, now: float) -> Effects:
        match event:
            case ChildEvent():
                return self.lives[event.child].handle(event, now)
            case RunStarted():
                return self._start(now)
            case TimePassed():
                return _all(life.on_time(now) for life in self.lives.values())
            case SignalReceived():
                return self._on_signal(now)
            case LogFailed(about):
                blame = Attribution(TerminalStatus.CRASHED, Detail.IO, about=f"the tree log: {about}")
                return _all(agent.fail(blame, now) for agent in self._agents.values())

    def _start(self, now: float) -> Effects:
        self._started = True
        services = _all(service.start(now) for service in self._services.values())
        return services + self._agents[ROOT_PATH].start(self._limit, self._deadline_s)

    def _on_signal(self, now: float) -> Effects:
        self._signals, kill_now = self._signals.received(now, self._settings)
        if kill_now:
            return _all(life.kill(now) for life in self.lives.values())
        return _all(agent.stop("signal", now) for agent in self._agents.values())

    def _put_off_if_overslept(self, now: float) -> None:
        due = self.next_deadline()
        if due is not None and now - due > self._settings.overslept_s:
            for life in self.lives.values():
                life.put_off(now - due)

    # ---------------------------------------------------------------- rules between lives

    def _rule_failed_services(self, now: float) -> Effects:
        failure = next((s.failure for s in self._services.values() if s.failure is not None), None)
        return [] if failure is None else _all(agent.fail(failure, now) for agent in self._agents.values())

    def _rule_payloads(self, now: float) -> Effects:
        if any(service.base_url is None for service in self._services.values()):
            return []
        base_url = next((service.base_url for service in self._services.values()), None)
        return _all(agent.provide(base_url, now) for agent in self._agents.values())

    def _rule_last_agent(self, now: float) -> Effects:
        if any(agent.state is not ChildState.EXITED for agent in self._agents.values()):
            return []
        return _all(service.stop(now) for service in self._services.values())

    def _rule_over(self) -> Effects:
        if self.over or not all(life.gone for life in self.lives.values()):
            return []
        self.over = True
        return [EndRun()]


def _all(several: Iterable[Effects]) -> Effects:
    return [effect for effects in several for effect in effects]
