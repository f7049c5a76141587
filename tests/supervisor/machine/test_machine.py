"""Any order of what can happen, late and doubled events included, ends in exactly one record and in nothing left."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from protocol.budget import Amounts, Ceiling
from protocol.errors import LocalProtocolError
from protocol.frames import Activity, Event
from protocol.journal.entries import Minted, RunEnded, Settled
from protocol.record import Outcome, Usage
from protocol.status import Detail, TerminalStatus
from supervisor.machine.effects import (
    EndRun,
    ObserveChild,
    PassOnEvent,
    ReapChild,
    SendFrame,
    SendPayload,
    SignalGroup,
    SpawnChild,
    SweepOrphans,
    WriteLog,
)
from supervisor.machine.events import (
    ChildEvent,
    ChildExited,
    ChildObserved,
    ChildPonged,
    ChildReady,
    ChildReaped,
    ChildSpawned,
    EndpointAnnounced,
    EventReported,
    LinkClosed,
    LogFailed,
    MeterReported,
    OrphansSwept,
    PeerViolatedProtocol,
    ProgressSeen,
    QueueOverflowed,
    RequestMade,
    ResultReported,
    RunStarted,
    SignalReceived,
    SpawnFailed,
    TimePassed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.settings import SupervisionSettings
from supervisor.machine.states import ChildState
from tests.supervisor.machine.stage import AGENT, SERVICE, SPAWNED, Stage, only

SHORT = SupervisionSettings(max_violations=5, overslept_s=600.0)

counts = st.integers(0, 2_000)
outcomes = st.builds(
    Outcome,
    status=st.sampled_from(TerminalStatus),
    detail=st.sampled_from([None, Detail.SIGNAL, Detail.TOKENS]),
    partial=st.sampled_from([None, "so far"]),
    usage=st.builds(Usage, steps=counts, tokens=counts),
)
said_by_agent = st.one_of(
    st.builds(ChildReady, st.just(AGENT), st.just(1), st.just(("cancel",))),
    st.builds(ChildPonged, st.just(AGENT), st.just(1), counts, st.builds(Activity, st.just("model"), counts, counts)),
    st.builds(EventReported, st.just(AGENT), st.just(1), st.just(Event("loop.paused"))),
    st.builds(
        MeterReported,
        st.just(AGENT),
        st.just(1),
        st.builds(Amounts, counts, counts),
        st.builds(Amounts, counts, counts),
    ),
    st.builds(RequestMade, st.just(AGENT), st.just(1), st.just("q1"), st.just("human.ask")),
    st.builds(ResultReported, st.just(AGENT), st.just(1), outcomes),
)
children = st.sampled_from([AGENT, SERVICE])
troubles = st.one_of(
    st.builds(ProgressSeen, st.just(AGENT), st.just(1)),
    st.builds(PeerViolatedProtocol, children, st.just(1), st.just("garbage"), st.just("a line")),
    st.builds(LinkClosed, children, st.just(1)),
    st.builds(QueueOverflowed, st.just(AGENT), st.just(1)),
    st.builds(EndpointAnnounced, st.just(SERVICE), st.just(1), st.just("http://127.0.0.1:1/v1")),
    st.builds(LogFailed, st.just("No space left on device")),
    st.just(SignalReceived()),
)
exits = st.one_of(
    st.builds(ChildExited, children, st.just(1), st.integers(0, 3), st.none(), st.just(0.5)),
    st.builds(ChildExited, children, st.just(1), st.none(), st.sampled_from(["SIGKILL", "SIGSEGV"]), st.just(0.5)),
)


class AnyRun(RuleBasedStateMachine):
    """A driver that is honest, and a world that is not."""

    def __init__(self) -> None:
        super().__init__()
        self.owed: list[ChildEvent] = []
        self.effects: list = []
        self.alive: set[str] = set()

    @initialize(service=st.booleans(), cpu_s=st.sampled_from([None, 0.4]))
    def begin(self, service: bool, cpu_s: float | None) -> None:
        ceiling = Ceiling(steps=1_000, tokens=1_500, tool_calls=10, cpu_s=cpu_s)
        self.stage = Stage(service=service, settings=SHORT, deadline_s=500.0, ceiling=ceiling)
        self.feed(RunStarted())

    # ---- the driver

    def feed(self, event) -> None:
        effects = self.stage.machine.handle(event, self.stage.now)
        self.effects += effects
        for effect in effects:
            self.perform(effect)

    def perform(self, effect) -> None:
        match effect:
            case SpawnChild(child, incarnation):
                self.owed.append(ChildSpawned(child, incarnation, 4242, 99))
            case ObserveChild(child, incarnation):
                self.owed.append(ChildObserved(child, incarnation, False, 0.3))
            case SweepOrphans(child, incarnation):
                self.owed.append(OrphansSwept(child, incarnation, frozenset(), 0))
            case ReapChild(child, incarnation):
                self.alive.discard(child)  # even if it is not dead: nobody looks at it any more
                self.owed.append(ChildReaped(child, incarnation))

    def possible(self, event: ChildEvent) -> bool:
        try:
            self.stage.machine._require_possible(event)
        except LocalProtocolError:
            return False
        return True

    # ---- the world

    @precondition(lambda self: self.owed)
    @rule(fails=st.booleans(), leaves=st.booleans(), stopped=st.booleans())
    def the_driver_answers(self, fails: bool, leaves: bool, stopped: bool) -> None:
        answer = self.owed.pop(0)
        if isinstance(answer, ChildSpawned) and fails:
            answer = SpawnFailed(answer.child, answer.incarnation, "no such file")
        elif isinstance(answer, ChildSpawned):
            self.alive.add(answer.child)
        elif isinstance(answer, OrphansSwept) and leaves:
            answer = OrphansSwept(answer.child, answer.incarnation, frozenset({7}), 1)
        elif isinstance(answer, ChildObserved):
            answer = ChildObserved(answer.child, answer.incarnation, stopped, answer.cpu_s)
        self.feed(answer)

    @rule(event=st.one_of(said_by_agent, troubles))
    def something_is_said(self, event) -> None:
        if not isinstance(event, ChildEvent) or (event.child in self.alive and self.possible(event)):
            self.feed(event)

    @rule(event=exits)
    def a_process_ends(self, event: ChildExited) -> None:
        if event.child in self.alive and self.possible(event):
            self.alive.discard(event.child)
            self.feed(event)

    @rule(event=st.one_of(said_by_agent, exits), incarnation=st.just(0))
    def something_is_late(self, event, incarnation: int) -> None:
        if event.child in self.stage.machine.lives:
            late = type(event)(**{f: getattr(event, f) for f in event.__struct_fields__} | {"incarnation": incarnation})
            before = fingerprint(self.stage)
            self.feed(late)
            assert fingerprint(self.stage) == before

    @rule(event=st.one_of(said_by_agent, troubles, exits, st.just(SPAWNED), st.just(RunStarted())))
    def what_is_impossible_is_refused_and_changes_nothing(self, event) -> None:
        if self.possible(event):
            return
        before = fingerprint(self.stage)
        with pytest.raises(LocalProtocolError):
            self.stage.machine.handle(event, self.stage.now)
        assert fingerprint(self.stage) == before

    @rule(seconds=st.sampled_from([0.0, 0.01, 1.0, 6.0, 60.0]))
    def time_passes(self, seconds: float) -> None:
        self.stage.now += seconds
        self.feed(TimePassed())

    # ---- what holds

    @invariant()
    def the_machine_is_sound(self) -> None:
        if hasattr(self, "stage"):
            self.stage.machine.check_invariants()

    @invariant()
    def whoever_is_stopping_has_a_deadline(self) -> None:
        if hasattr(self, "stage") and any(
            life.state is ChildState.STOPPING and life.name in self.alive for life in self.stage.machine.lives.values()
        ):
            assert self.stage.machine.next_deadline() is not None

    @invariant()
    def nothing_is_done_twice_that_is_done_once(self) -> None:
        for kind in (Minted, Settled, RunEnded):
            assert len([e for e in only(WriteLog, self.effects) if isinstance(e.entry, kind)]) <= 1
        assert len(only(EndRun, self.effects)) <= 1
        assert len(only(SendPayload, self.effects)) <= 1
        for kind in (SpawnChild, ReapChild):
            done = [effect.child for effect in only(kind, self.effects)]
            assert len(done) == len(set(done))

    @invariant()
    def nothing_is_done_to_a_child_that_was_let_go(self) -> None:
        let_go: set[str] = set()
        for effect in self.effects:
            if isinstance(effect, SignalGroup | SendFrame | SendPayload | SweepOrphans | PassOnEvent):
                assert effect.child not in let_go
            if isinstance(effect, ReapChild):
                let_go.add(effect.child)

    def teardown(self) -> None:
        """Whatever state this is: with an honest driver and time, the run ends."""
        if not hasattr(self, "stage"):
            return
        record = self.stage.machine.record
        for _ in range(500):
            if self.stage.machine.over:
                break
            self.go_on()
        assert self.stage.machine.over
        assert len([e for e in only(WriteLog, self.effects) if isinstance(e.entry, RunEnded)]) == 1
        assert record is None or self.stage.machine.record is record

    def go_on(self) -> None:
        while self.owed:
            answer = self.owed.pop(0)
            if isinstance(answer, ChildSpawned):
                self.alive.add(answer.child)
            self.feed(answer)
        for effect in only(SignalGroup, self.effects):
            if effect.rung is Rung.KILL and effect.child in self.alive:
                self.alive.discard(effect.child)
                self.feed(ChildExited(effect.child, 1, None, "SIGKILL", 0.5))
        due = self.stage.machine.next_deadline()
        if due is not None:
            self.stage.now = max(due, self.stage.now)
            self.feed(TimePassed())


def fingerprint(stage: Stage) -> str:
    machine = stage.machine
    return repr(
        [
            (
                {k: v for k, v in vars(life).items() if k not in ("_ledger", "late_events", "_aftermath")},
                vars(life._aftermath) if life._aftermath else None,
            )
            for life in machine.lives.values()
        ]
        + [vars(machine.ledger), machine._signals, machine.over, machine._started]
    )


AnyRun.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestAnyRun = AnyRun.TestCase


def test_nothing_happens_before_the_start_and_a_run_starts_once():
    stage = Stage()
    for event in (SignalReceived(), TimePassed(), SPAWNED):
        with pytest.raises(LocalProtocolError, match="not started"):
            stage.machine.handle(event, 1.0)
    stage.happen(RunStarted())
    with pytest.raises(LocalProtocolError, match="RunStarted is illegal in state started"):
        stage.machine.handle(RunStarted(), 1.0)


def test_a_child_that_nobody_knows_cannot_have_done_anything():
    stage = Stage().up()
    with pytest.raises(LocalProtocolError, match=r"of '0\.7'"):
        stage.machine.handle(ProgressSeen("0.7", 1), 1.0)


def test_time_that_passes_with_nothing_due_has_no_effect():
    stage = Stage().up()
    assert stage.happen(TimePassed()) == []
