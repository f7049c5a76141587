"""The life of a service: a process beside the agents that tells an endpoint, and ends with the run.

    STARTING   spawned; its endpoint is due within its start time
    READY      its endpoint is known
    STOPPING   stdin closed, then SIGTERM, then SIGKILL
    EXITED     seen to have ended; it has failed if it never was ready

A service that dies while it is in use is not restarted: the agent finds its endpoint gone, and says so.
"""

from __future__ import annotations

from typing import ClassVar

from supervisor.machine.effects import CloseInput
from supervisor.machine.events import (
    ChildEvent,
    ChildExited,
    EndpointAnnounced,
    LinkClosed,
    PeerViolatedProtocol,
    SpawnFailed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.life import Effects, Life, Moves
from supervisor.machine.settings import SupervisionSettings
from supervisor.machine.settle import Attribution, attribute_no_service, attribute_unborn
from supervisor.machine.states import ChildState

_S = ChildState


class ServiceLife(Life):
    """One service. `failure` is what is said of an agent that needed it and never could use it."""

    def __init__(self, name: str, start_timeout_s: float, settings: SupervisionSettings) -> None:
        super().__init__(name, settings)
        self.base_url: str | None = None
        self.failure: Attribution | None = None
        self._start_timeout_s = start_timeout_s
        self._ready_by = 0.0

    def start(self, now: float) -> Effects:
        """Spawn it."""
        self._ready_by = now + self._start_timeout_s
        return self._spawn()

    def stop(self, now: float) -> Effects:
        """End it, politely at first. Nothing happens if it is ending already."""
        if self.state not in (ChildState.STARTING, ChildState.READY):
            return []
        return self._stop_at(Rung.ASK, now, self._settings.service_grace_s)

    def put_off(self, gap_s: float) -> None:
        """As every life, and its start time too."""
        super().put_off(gap_s)
        self._ready_by += gap_s

    def check_invariants(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        super().check_invariants()
        if self.state is ChildState.READY:
            assert self.base_url is not None, f"{self.name}: ready without an endpoint"

    def _on_time_while_wanted(self, now: float) -> Effects:
        if self.state is not ChildState.STARTING or now < self._ready_by:
            return []
        return self._fail(f"told no endpoint within {self._start_timeout_s:g} s", now)

    def _next_deadline_while_wanted(self) -> float | None:
        return self._ready_by if self.state is ChildState.STARTING else None

    def _fail(self, why: str, now: float) -> Effects:
        self.failure = attribute_no_service(f"{self.name} {why}")
        return self.stop(now)

    def _ask(self) -> Effects:
        return [CloseInput(self.name, self.incarnation)]

    def _given_up(self, _now: float) -> Effects:
        self._failed_unless_it_served("does not end")
        return []

    def _failed_unless_it_served(self, ending: str) -> None:
        if self.base_url is None and self.failure is None:
            self.failure = attribute_no_service(f"{self.name} {ending} and told no endpoint")

    # ---------------------------------------------------------------- moves

    def _spawn_failed(self, event: SpawnFailed, _now: float) -> Effects:
        self.failure = attribute_unborn(event.about, event.detail)
        self._end_unborn()
        return []

    def _announced(self, event: EndpointAnnounced, _now: float) -> Effects:
        self.base_url = event.base_url
        self._move_to(ChildState.READY)
        return []

    def _misspoke(self, event: PeerViolatedProtocol, now: float) -> Effects:
        return self._fail(f"told no endpoint: {event.about}", now)

    def _closed(self, _event: LinkClosed, now: float) -> Effects:
        """It will tell no endpoint any more. Its exit, which mostly follows at once, says more about why."""
        return self.stop(now)

    def _exited(self, event: ChildExited, now: float) -> Effects:
        ending = f"was killed by {event.signal}" if event.signal else f"exited with status {event.status}"
        self._failed_unless_it_served(ending)
        return self._end(now).begin()

    def _passed_over(self, _event: ChildEvent, _now: float) -> Effects:
        """Nothing follows from it in this state."""
        return []

    moves: ClassVar[Moves] = {
        **Life.moves,
        (_S.STARTING, SpawnFailed): _spawn_failed,
        (_S.STARTING, EndpointAnnounced): _announced,
        (_S.STARTING, PeerViolatedProtocol): _misspoke,
        (_S.STARTING, LinkClosed): _closed,
        (_S.STARTING, ChildExited): _exited,
        (_S.READY, LinkClosed): _passed_over,
        (_S.READY, ChildExited): _exited,
        (_S.STOPPING, SpawnFailed): _spawn_failed,
        (_S.STOPPING, EndpointAnnounced): _passed_over,
        (_S.STOPPING, PeerViolatedProtocol): _passed_over,
        (_S.STOPPING, LinkClosed): _passed_over,
        (_S.STOPPING, ChildExited): _exited,
    }
