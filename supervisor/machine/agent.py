"""The life of an agent, from its mint to its one terminal record.

    STARTING   spawned; the payload is sent once every endpoint is known, then `ready` is due
    READY      pinged; its meter is adopted; judged by liveness at every ping
    STOPPING   on the kill ladder: for a reason of ours, or because it said its last word
    EXITED     seen to have ended; the record is settled, once

A result ends an agent as well as a death does: it goes to STOPPING and has its grace to exit by itself.
Whatever the path, the end is the same: settled, group killed, orphans swept, reaped.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from protocol.budget import Amounts, Ceiling, Meter
from protocol.frames import Cancel, CancelReason, Ping, Reply, ReplyError
from protocol.journal.entries import RunEnded, Spawned
from protocol.record import Outcome, TerminalRecord
from protocol.session import MAX_ANSWERS
from protocol.status import Detail, TerminalStatus
from supervisor.machine.effects import EmitEvent, ObserveChild, PassOnEvent, SendFrame, SendPayload, ShowMeter, WriteLog
from supervisor.machine.events import (
    ALWAYS_POSSIBLE,
    PAYLOAD_ANSWERS,
    ChildEvent,
    ChildExited,
    ChildObserved,
    ChildPonged,
    ChildReady,
    ChildSpawned,
    EventReported,
    LinkClosed,
    MeterReported,
    PeerViolatedProtocol,
    ProgressSeen,
    QueueOverflowed,
    RequestMade,
    ResultReported,
    SpawnFailed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.ledger import Ledger
from supervisor.machine.life import Effects, Life, Move, Moves, on_each
from supervisor.machine.liveness import Verdict, Vitals, judge
from supervisor.machine.settings import SupervisionSettings
from supervisor.machine.settle import (
    Attribution,
    Death,
    RunFacts,
    amounts_of,
    attribute_cancel,
    attribute_death,
    attribute_unborn,
    settle,
)
from supervisor.machine.states import ChildState

_S = ChildState


class AgentLife(Life):
    """One agent. `record` is None until its end is settled, and never changes afterwards."""

    def __init__(self, facts: RunFacts, ledger: Ledger, settings: SupervisionSettings) -> None:
        super().__init__(facts.path, settings)
        self.record: TerminalRecord | None = None
        self._facts = facts
        self._ledger = ledger
        self._vitals = Vitals(facts.started_at, facts.started_at)
        self._deadline_s = 0.0
        self._payload_sent = False
        self._ready = False
        self._ready_by = 0.0
        self._deadline_at = 0.0
        self._ping_due = 0.0
        self._cancel: Cancel | None = None
        self._blame: Attribution | None = None
        self._outcome: Outcome | None = None
        self._death: Death | None = None
        self._violations = 0
        self._overshot = False

    # ---------------------------------------------------------------- inputs of the machine

    def start(self, limit: Ceiling, deadline_s: float) -> Effects:
        """Mint its grant and spawn it. Raises BudgetExceeded, with nothing changed, if the run has less left."""
        minted = self._ledger.mint(self.name, limit, deadline_s)
        self._deadline_s = deadline_s
        return [WriteLog(minted), *self._spawn()]

    def provide(self, base_url: str | None, now: float) -> Effects:
        """All that the payload waited for is known. Nothing happens unless it is waited for."""
        if self._payload_sent or self.state is not _S.STARTING or not self._born:
            return []
        self._payload_sent = True
        self._ready_by = now + self._settings.ready_s
        self._deadline_at = now + self._deadline_s
        return [SendPayload(self.name, self.incarnation, base_url)]

    def stop(self, reason: CancelReason, now: float, dimension: str | None = None, about: str = "") -> Effects:
        """Cancel it for a reason of ours. Nothing happens to a child that is ending already."""
        return self._stop_for(attribute_cancel(reason, dimension, about), Cancel(reason, self._grace_s, dimension), now)

    def fail(self, blame: Attribution, now: float) -> Effects:
        """End it for a fault that is not its own, before it had its payload or because we cannot go on."""
        return self._stop_for(blame, Cancel("request", self._grace_s), now)

    def put_off(self, gap_s: float) -> None:
        """As every life, and all that it owes us too."""
        super().put_off(gap_s)
        self._ready_by += gap_s
        self._deadline_at += gap_s
        self._ping_due += gap_s
        self._vitals = self._vitals.put_off(gap_s)

    def check_invariants(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        super().check_invariants()
        assert (self.record is not None) == (self.state is _S.EXITED), (
            f"{self.name}: {self.state}, record {self.record}"
        )
        if self.state is _S.READY:
            assert self._payload_sent, f"{self.name}: ready without a payload"
            assert self.next_deadline() is not None, f"{self.name}: ready and not watched"

    @property
    def _grace_s(self) -> float:
        return self._settings.cancel_grace_s

    def _is_possible(self, event: ChildEvent) -> bool:
        """As for every life; and its link lets no frame through before the payload was sent."""
        return super()._is_possible(event) and (self._payload_sent or not isinstance(event, PAYLOAD_ANSWERS))

    # ---------------------------------------------------------------- time

    def _on_time_while_wanted(self, now: float) -> Effects:
        if self._payload_sent and self._deadline_at <= now:
            return self.stop("deadline", now)
        if self.state is _S.STARTING and self._payload_sent and self._ready_by <= now:
            return self._judged_stuck(now, f"it was not ready within {self._settings.ready_s:g} s")
        if self.state is _S.READY and self._ping_due <= now:
            return self._ping(now)
        return []

    def _next_deadline_while_wanted(self) -> float | None:
        if not self._payload_sent or not self._is_wanted():
            return None
        return min(self._deadline_at, self._ready_by if self.state is _S.STARTING else self._ping_due)

    def _ping(self, now: float) -> Effects:
        self._vitals = self._vitals.with_ping()
        self._ping_due = now + self._settings.ping_interval_s
        ping = SendFrame(self.name, self.incarnation, Ping(self._vitals.pinged))
        return [ping, ObserveChild(self.name, self.incarnation)]

    # ---------------------------------------------------------------- stopping

    def _is_wanted(self) -> bool:
        return self.state in (_S.STARTING, _S.READY)

    def _stop_for(self, blame: Attribution, cancel: Cancel, now: float) -> Effects:
        if not self._is_wanted():
            return []
        self._blame = blame
        if not self._payload_sent:
            return self._stop_at(Rung.TERMINATE, now)
        self._cancel = cancel
        return self._stop_at(Rung.ASK, now)

    def _await_exit(self, now: float) -> Effects:
        """It said its last word: it has its grace to exit by itself."""
        return self._stop_at(Rung.ASK, now) if self._is_wanted() else []

    def _judged_stuck(self, now: float, about: str = "it showed no sign of life") -> Effects:
        if not self._is_wanted():
            return []
        silent_s = round(self._vitals.silent_s(now), 3)
        told = EmitEvent(self.name, "child.unhealthy", {"verdict": Verdict.STUCK, "silent_s": silent_s})
        return [told, *self.stop("stuck", now, about=about)]

    def _ask(self) -> Effects:
        if self._cancel is None:
            return []
        told = EmitEvent(self.name, "drain.cancel", {"reason": self._cancel.reason})
        return [SendFrame(self.name, self.incarnation, self._cancel), told]

    def _climb(self, now: float) -> Effects:
        if self._blame is None:
            about = "it said its last word and did not exit"
            self._blame = Attribution(TerminalStatus.CRASHED, Detail.STUCK, about=about)
        return super()._climb(now)

    def _given_up(self, now: float) -> Effects:
        return self._settle(self._outcome or self._blame or attribute_cancel("stuck"), now)

    # ---------------------------------------------------------------- verdicts

    def _react(self, now: float) -> Effects:
        """Act on what liveness says."""
        match judge(self._vitals, now, self._settings):
            case Verdict.EXITING:
                return self._await_exit(now)
            case Verdict.STUCK:
                return self._judged_stuck(now)
            case Verdict.DEAD:
                return self._bury(now)
        return []

    def _bury(self, now: float) -> Effects:
        assert self._death is not None, "dead without an exit"
        over = self._ledger.meter(self.name).over()
        aftermath = self._end(now)
        settled = self._settle(self._outcome or self._blame or attribute_death(self._death, over), now)
        return [*settled, *aftermath.begin()]

    def _settle(self, end: Outcome | Attribution, now: float) -> Effects:
        claimed = amounts_of(end.usage) if isinstance(end, Outcome) else Amounts()
        settled = self._ledger.settle(self.name, claimed)
        self.record = settle(self._facts, end, settled.meter, self._vitals.cpu_s, now)
        return [WriteLog(settled), WriteLog(RunEnded(self.record)), ShowMeter(self.name, settled.meter)]

    # ---------------------------------------------------------------- moves

    def _came_up(self, event: ChildSpawned, now: float) -> Effects:
        born = WriteLog(Spawned(self.name, event.pid, event.start_ticks))
        told = EmitEvent(self.name, "agent.spawn", {"child_pid": event.pid, "method": "exec"})
        return [born, told, *self._spawned(event, now)]

    def _spawn_failed(self, event: SpawnFailed, now: float) -> Effects:
        self._end_unborn()
        return self._settle(self._blame or attribute_unborn(event.about, event.detail), now)

    def _became_ready(self, event: ChildReady, now: float) -> Effects:
        self._ready = True
        self._vitals = self._vitals.with_progress(now)
        if self.state is _S.STARTING:
            self._ping_due = now + self._settings.ping_interval_s
            self._move_to(_S.READY)
        return [EmitEvent(self.name, "agent.ready", {"features": ",".join(event.features)})]

    def _ponged(self, event: ChildPonged, _now: float) -> Effects:
        self._vitals = self._vitals.with_pong(event.seq, event.activity)
        return []

    def _progressed(self, _event: ProgressSeen, now: float) -> Effects:
        self._vitals = self._vitals.with_progress(now)
        return []

    def _told(self, event: EventReported, now: float) -> Effects:
        self._vitals = self._vitals.with_progress(now)
        return [PassOnEvent(self.name, self.incarnation, event.frame)]

    def _metered(self, event: MeterReported, now: float) -> Effects:
        self._vitals = self._vitals.with_progress(now)
        meter = self._adopt(event.spent, event.held)
        over = meter.over()
        # One call may cost more than was held for it. An agent that then ends by itself is left to it.
        excused = meter.held.is_zero() and not self._overshot
        self._overshot = over is not None
        stopped = [] if over is None or excused else self.stop("budget", now, over)
        return [ShowMeter(self.name, meter), *stopped]

    def _observed(self, event: ChildObserved, now: float) -> Effects:
        self._vitals = self._vitals.with_observation(event.stopped, event.cpu_s, now)
        known = self._ledger.meter(self.name)
        limit_s = self._adopt(known.spent, known.held).limit.cpu_s
        if limit_s is not None and self._vitals.cpu_s > limit_s:
            return self.stop("budget", now, "cpu_s")
        return self._react(now)

    def _adopt(self, spent: Amounts, held: Amounts) -> Meter:
        """Adopt an agent's figures. Its CPU time is the kernel's, whatever it says."""
        return self._ledger.report(self.name, msgspec.structs.replace(spent, cpu_s=self._vitals.cpu_s), held)

    def _requested(self, event: RequestMade, now: float) -> Effects:
        self._vitals = self._vitals.with_progress(now)
        refusal = ReplyError("unavailable", f"{event.method} is not offered in this run")
        return [SendFrame(self.name, self.incarnation, Reply(event.id, error=refusal))]

    def _finished(self, event: ResultReported, now: float) -> Effects:
        self._outcome = self._outcome or event.outcome
        return self._await_exit(now)

    def _misspoke(self, event: PeerViolatedProtocol, now: float) -> Effects:
        self._violations += 1
        told: Effects = []
        if self._violations <= MAX_ANSWERS:
            told.append(EmitEvent(self.name, "child.violation", {"code": event.code, "about": event.about}))
        if self._violations < self._settings.max_violations:
            return told
        blame = Attribution(TerminalStatus.CRASHED, Detail.OUTPUT, about=f"{self._violations} lines were no frames")
        return [*told, *self._stop_for(blame, Cancel("stuck", self._grace_s), now)]

    def _link_closed(self, _event: LinkClosed, now: float) -> Effects:
        self._vitals = self._vitals.with_closed_link()
        return self._react(now)

    def _overflowed(self, _event: QueueOverflowed, now: float) -> Effects:
        return self._judged_stuck(now, "it does not read what it is told")

    def _exited(self, event: ChildExited, now: float) -> Effects:
        self._death = Death(event.status, event.signal, self._ready)
        self._vitals = self._vitals.with_exit(event.cpu_s)
        known = self._ledger.meter(self.name)
        self._adopt(known.spent, known.held)
        facts = {"exit_status": event.status, "signal": event.signal, "cpu_s": event.cpu_s}
        return [EmitEvent(self.name, "agent.exit", facts), *self._react(now)]

    def _came_late(self, _event: ChildEvent, _now: float) -> Effects:
        """After the record nothing counts."""
        self.late_events += 1
        return []

    _while_up: ClassVar[dict[type[ChildEvent], Move]] = {
        ChildPonged: _ponged,
        ProgressSeen: _progressed,
        EventReported: _told,
        MeterReported: _metered,
        ResultReported: _finished,
        PeerViolatedProtocol: _misspoke,
        LinkClosed: _link_closed,
        QueueOverflowed: _overflowed,
        ChildObserved: _observed,
        ChildExited: _exited,
    }

    moves: ClassVar[Moves] = {
        **Life.moves,
        **on_each((_S.STARTING, _S.READY, _S.STOPPING), _while_up),
        **on_each(
            (_S.STARTING, _S.STOPPING), {ChildSpawned: _came_up, SpawnFailed: _spawn_failed, ChildReady: _became_ready}
        ),
        **on_each((_S.READY, _S.STOPPING), {RequestMade: _requested}),
        **on_each((_S.EXITED,), dict.fromkeys((*PAYLOAD_ANSWERS, *ALWAYS_POSSIBLE), _came_late)),
    }
