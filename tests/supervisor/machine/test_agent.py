"""The life of one agent, event by event."""

from __future__ import annotations

import msgspec
import pytest

from protocol.budget import Amounts, Ceiling
from protocol.errors import LocalProtocolError
from protocol.frames import Cancel, Event, Ping, Reply
from protocol.journal.entries import Minted, RunEnded, Settled, Spawned
from protocol.record import Outcome, Usage
from protocol.status import Detail, TerminalStatus
from supervisor.machine.effects import (
    EmitEvent,
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
    EventReported,
    LinkClosed,
    LogFailed,
    MeterReported,
    OrphansSwept,
    PeerViolatedProtocol,
    ProgressSeen,
    QueueOverflowed,
    RequestMade,
    RunStarted,
    SignalReceived,
    SpawnFailed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.states import ChildState
from tests.supervisor.machine.stage import (
    AGENT,
    ANSWER,
    EXITED,
    READY,
    REAPED,
    SETTINGS,
    SPAWNED,
    SWEPT,
    Stage,
    killed,
    meter,
    only,
    pong,
    result,
    seen,
)


def frames(effects) -> list:
    return [effect.frame for effect in only(SendFrame, effects)]


def rungs(effects) -> list[Rung]:
    return [effect.rung for effect in only(SignalGroup, effects)]


def test_a_start_mints_before_it_spawns_and_sends_the_payload_when_the_process_exists():
    stage = Stage()
    mint, spawn = stage.happen(RunStarted())
    assert isinstance(mint, WriteLog)
    assert isinstance(mint.entry, Minted)
    assert spawn == SpawnChild(AGENT, 1)
    born = stage.happen(SPAWNED)
    assert only(WriteLog, born)[0].entry == Spawned(AGENT, 4242, 99)
    assert only(SendPayload, born) == [SendPayload(AGENT, 1, None)]


def test_a_result_then_an_exit_is_a_completed_run_settled_once():
    stage = Stage().up()
    stage.happen(meter(12), result())
    assert stage.machine.lives[AGENT].state is ChildState.STOPPING
    effects = stage.happen(EXITED)
    assert [type(e.entry) for e in only(WriteLog, effects)] == [Settled, RunEnded]
    assert stage.record().status is TerminalStatus.COMPLETED
    assert stage.record().exit_code == 0
    assert stage.record().usage.cpu_s == 0.25


def test_a_death_is_settled_then_its_group_killed_then_orphans_swept_then_reaped():
    stage = Stage().up()
    effects = stage.happen(result(), EXITED)
    order = [type(effect) for effect in effects if isinstance(effect, WriteLog | SignalGroup | SweepOrphans)]
    assert order == [WriteLog, WriteLog, SignalGroup, SweepOrphans]
    assert rungs(effects) == [Rung.KILL]
    assert stage.happen(SWEPT) == [ReapChild(AGENT, 1)]
    assert stage.happen(REAPED) == [EndRun()]


def test_orphans_that_are_not_gone_yet_are_swept_again_and_counted_once():
    stage = Stage().up()
    stage.happen(result(), EXITED)
    assert stage.happen(OrphansSwept(AGENT, 1, frozenset({7, 8}), 2)) == []
    assert only(SweepOrphans, stage.wait(SETTINGS.sweep_interval_s)) == [SweepOrphans(AGENT, 1)]
    told, reap = stage.happen(OrphansSwept(AGENT, 1, frozenset({8}), 0))
    assert told == EmitEvent(AGENT, "child.sweep", {"count": 2})
    assert reap == ReapChild(AGENT, 1)


def test_orphans_that_the_kernel_does_not_end_do_not_keep_the_run():
    stage = Stage().up()
    stage.happen(result(), EXITED)
    for _ in range(10_000):
        stage.now += SETTINGS.sweep_interval_s
        if only(ReapChild, stage.happen(OrphansSwept(AGENT, 1, frozenset({7}), 1))):
            break
    assert stage.now - 100.0 <= SETTINGS.sweep_s + 1


def test_a_spawn_that_fails_is_a_crash_and_the_end_of_the_run():
    stage = Stage()
    effects = stage.happen(RunStarted(), SpawnFailed(AGENT, 1, "no such file"))
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.SPAWN)
    assert stage.record().about == "no such file"
    assert only(EndRun, effects)


def test_an_exit_before_ready_says_that_it_never_came_up():
    stage = Stage()
    stage.happen(RunStarted(), SPAWNED, msgspec.structs.replace(EXITED, status=2))
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.SPAWN)


def test_an_exit_without_a_result_is_a_crash():
    stage = Stage().up()
    stage.happen(EXITED)
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.EXIT)
    assert stage.record().exit_code == 1


def test_a_set_up_that_failed_is_told_by_the_agent_before_it_was_ready():
    stage = Stage()
    stage.happen(RunStarted(), SPAWNED, result(Outcome(TerminalStatus.CRASHED, Detail.SETUP, about="no wire")), EXITED)
    assert stage.record().detail is Detail.SETUP


def test_a_signal_cancels_and_an_agent_that_obeys_has_the_last_word():
    stage = Stage().up()
    effects = stage.happen(SignalReceived())
    assert frames(effects) == [Cancel("signal", SETTINGS.cancel_grace_s)]
    stage.happen(result(Outcome(TerminalStatus.CANCELLED, Detail.SIGNAL, partial="so far")), EXITED)
    assert (stage.record().status, stage.record().exit_code) == (TerminalStatus.CANCELLED, 3)
    assert stage.record().partial == "so far"


def test_an_agent_that_ignores_its_cancel_meets_sigterm_and_then_sigkill_each_in_its_time():
    stage = Stage().up()
    stage.happen(SignalReceived())
    assert rungs(stage.wait(SETTINGS.cancel_grace_s - 0.01)) == []
    assert rungs(stage.wait(0.02)) == [Rung.TERMINATE]
    assert rungs(stage.wait(SETTINGS.term_grace_s - 0.02)) == []
    assert rungs(stage.wait(0.02)) == [Rung.KILL]
    stage.happen(killed())
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CANCELLED, Detail.SIGNAL)


def test_a_second_signal_kills_at_once_but_a_doubled_first_one_does_not():
    stage = Stage().up()
    stage.happen(SignalReceived())
    stage.now += SETTINGS.same_signal_s / 2
    assert stage.happen(SignalReceived()) == []
    stage.now += SETTINGS.same_signal_s
    assert rungs(stage.happen(SignalReceived())) == [Rung.KILL]
    assert stage.happen(SignalReceived()) == []


def test_an_agent_without_a_payload_is_told_by_sigterm_for_it_cannot_read_a_cancel():
    stage = Stage(service=True)
    stage.happen(RunStarted(), SPAWNED)
    effects = stage.happen(SignalReceived())
    assert rungs(effects) == [Rung.TERMINATE]
    assert frames(effects) == []


def test_a_signal_between_a_spawn_and_its_answer_reaches_the_process():
    stage = Stage()
    stage.happen(RunStarted())
    assert rungs(stage.happen(SignalReceived())) == []
    assert rungs(stage.happen(SPAWNED)) == [Rung.TERMINATE]


def test_what_the_kernel_cannot_kill_is_given_up_and_the_run_still_ends():
    stage = Stage().up()
    stage.happen(SignalReceived())
    effects = stage.wait(SETTINGS.cancel_grace_s + SETTINGS.term_grace_s + SETTINGS.kill_grace_s)
    assert EmitEvent(AGENT, "child.unhealthy", {"verdict": "unkillable", "silent_s": None}) in effects
    assert stage.record().status is TerminalStatus.CANCELLED
    assert only(ReapChild, effects) == [ReapChild(AGENT, 1)]
    assert stage.happen(REAPED) == [EndRun()]


def test_the_deadline_cancels_whatever_the_agent_does():
    stage = Stage(deadline_s=3.0).up()
    stage.happen(ProgressSeen(AGENT, 1))
    assert frames(stage.wait(3.0)) == [Cancel("deadline", SETTINGS.cancel_grace_s)]
    stage.happen(killed("SIGTERM"))
    assert (stage.record().status, stage.record().exit_code) == (TerminalStatus.DEADLINE, 124)


def test_an_agent_that_is_not_ready_in_time_is_stuck():
    stage = Stage()
    stage.happen(RunStarted(), SPAWNED)
    assert frames(stage.wait(SETTINGS.ready_s)) == [Cancel("stuck", SETTINGS.cancel_grace_s)]
    stage.happen(killed())
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.STUCK)
    assert "not ready" in stage.record().about


def test_each_ping_interval_pings_and_looks_at_the_process():
    stage = Stage().up()
    effects = stage.wait(SETTINGS.ping_interval_s)
    assert effects == [SendFrame(AGENT, 1, Ping(1)), ObserveChild(AGENT, 1)]


def test_silence_over_three_pings_without_cpu_time_is_stuck():
    stage = Stage().up()
    for _ in range(SETTINGS.missed_pings):
        stage.wait(SETTINGS.ping_interval_s)
        assert frames(stage.happen(seen())) == []
    stage.wait(SETTINGS.ping_interval_s)
    effects = stage.happen(seen())
    assert frames(effects) == [Cancel("stuck", SETTINGS.cancel_grace_s)]
    assert only(EmitEvent, effects)[0].name == "child.unhealthy"


def test_an_agent_that_pongs_is_left_alone_for_as_long_as_its_activity_is_due():
    stage = Stage().up()
    for seq in range(1, 60):
        stage.wait(SETTINGS.ping_interval_s)
        assert frames(stage.happen(pong(seq, due_s=100.0 + 3_600), seen())) == []


def test_an_agent_whose_activity_is_overdue_and_that_shows_no_progress_is_stuck():
    stage = Stage().up()
    told = []
    for seq in range(1, 30):
        stage.wait(SETTINGS.ping_interval_s)
        told += frames(stage.happen(pong(seq, due_s=110.0), seen()))
    assert told == [Cancel("stuck", SETTINGS.cancel_grace_s)]


def test_a_closed_link_is_no_death_but_gives_it_only_its_grace():
    stage = Stage().up()
    assert stage.happen(LinkClosed(AGENT, 1)) == []
    assert stage.machine.lives[AGENT].state is ChildState.STOPPING
    assert rungs(stage.wait(SETTINGS.cancel_grace_s)) == [Rung.TERMINATE]
    stage.happen(killed("SIGTERM"))
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.STUCK)


def test_a_child_that_does_not_read_is_stuck():
    stage = Stage().up()
    assert frames(stage.happen(QueueOverflowed(AGENT, 1))) == [Cancel("stuck", SETTINGS.cancel_grace_s)]
    assert stage.happen(QueueOverflowed(AGENT, 1)) == []


def test_an_agent_that_stays_after_its_result_is_killed_and_its_result_stands():
    stage = Stage().up()
    stage.happen(result())
    assert rungs(stage.wait(SETTINGS.cancel_grace_s + SETTINGS.term_grace_s)) == [Rung.TERMINATE, Rung.KILL]
    stage.happen(killed())
    assert stage.record().status is TerminalStatus.COMPLETED


def test_the_first_result_counts_and_a_later_one_changes_nothing():
    stage = Stage().up()
    stage.happen(result(), result(Outcome(TerminalStatus.REFUSED)), EXITED)
    before = stage.record()
    stage.happen(result(Outcome(TerminalStatus.REFUSED)), meter(999), LinkClosed(AGENT, 1), seen())
    assert stage.record() is before
    assert before.status is TerminalStatus.COMPLETED
    assert stage.machine.lives[AGENT].late_events == 4


def test_what_an_agent_tells_is_passed_on_behind_what_went_before_it():
    stage = Stage()
    stage.happen(RunStarted(), SPAWNED)
    told = EventReported(AGENT, 1, Event("loop.paused"))
    up, paused = stage.happen(READY, told)
    assert (up.name, paused) == ("agent.ready", PassOnEvent(AGENT, 1, told.frame))
    stage.happen(result(), EXITED)
    assert stage.happen(told) == []


def test_a_request_is_answered_for_nobody_may_wait_for_ever():
    stage = Stage().up()
    [reply] = frames(stage.happen(RequestMade(AGENT, 1, "q1", "human.ask")))
    assert isinstance(reply, Reply)
    assert (reply.id, reply.error.code) == ("q1", "unavailable")


def test_violations_are_told_up_to_a_bound_and_then_end_the_agent():
    stage = Stage().up()
    violation = PeerViolatedProtocol(AGENT, 1, "garbage", "a line of 3 bytes is not JSON")
    effects = stage.happen(*[violation] * SETTINGS.max_violations)
    assert len([e for e in only(EmitEvent, effects) if e.name == "child.violation"]) == 64
    assert frames(effects) == [Cancel("stuck", SETTINGS.cancel_grace_s)]
    stage.happen(killed())
    assert stage.record().detail is Detail.OUTPUT


def test_more_spent_and_held_than_granted_is_stopped_and_names_the_dimension():
    stage = Stage().up()
    assert frames(stage.happen(meter(900, held=100))) == []
    assert frames(stage.happen(meter(900, held=101))) == [Cancel("budget", SETTINGS.cancel_grace_s, "tokens")]
    stage.happen(killed())
    assert stage.record().status is TerminalStatus.CRASHED
    assert "tokens" in stage.record().about


def test_one_call_that_cost_more_than_its_hold_is_excused_but_not_a_second():
    stage = Stage().up()
    assert frames(stage.happen(meter(1_050))) == []
    assert frames(stage.happen(meter(1_051))) == [Cancel("budget", SETTINGS.cancel_grace_s, "tokens")]


def test_cpu_time_is_the_kernels_figure_and_bounded_by_it():
    stage = Stage(ceiling=Ceiling(steps=10, tokens=1_000, tool_calls=10, cpu_s=2.0)).up()
    lie = MeterReported(AGENT, 1, Amounts(1, 10, cpu_s=500.0), Amounts())
    assert frames(stage.happen(lie)) == []
    assert frames(stage.happen(seen(cpu_s=2.5))) == [Cancel("budget", SETTINGS.cancel_grace_s, "cpu_s")]
    stage.happen(killed(cpu_s=2.6))
    assert (stage.record().detail, stage.record().usage.cpu_s) == (Detail.CPU, 2.6)


def test_a_hold_that_was_open_at_a_death_is_charged_and_marked():
    stage = Stage().up()
    stage.happen(meter(100, held=50), killed())
    usage = stage.record().usage
    assert (usage.tokens, usage.charged_unknown, usage.tree_tokens) == (150, 50, 150)


def test_an_agents_last_word_explains_its_hold_but_lowers_no_figure():
    stage = Stage().up()
    stage.happen(meter(100, held=50), result(msgspec.structs.replace(ANSWER, usage=Usage(steps=2, tokens=130))))
    stage.happen(EXITED)
    usage = stage.record().usage
    assert (usage.tokens, usage.charged_unknown) == (150, 20)


def test_a_meter_that_goes_back_is_not_believed():
    stage = Stage().up()
    stage.happen(meter(100), meter(3), killed())
    assert stage.record().usage.tokens == 100


def test_a_failing_tree_log_ends_the_run_as_our_fault():
    stage = Stage().up()
    stage.happen(LogFailed("No space left on device"), killed())
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.IO)


def test_our_own_sleep_is_nobodys_silence():
    stage = Stage(deadline_s=100.0).up()
    stage.now += 3_600.0
    assert frames(stage.happen(seen())) == []
    assert {type(frame) for frame in frames(stage.wait(90.0))} == {Ping}
    assert frames(stage.wait(11.0))[-1] == Cancel("deadline", SETTINGS.cancel_grace_s)


@pytest.mark.parametrize("event", [READY, SPAWNED, SWEPT, REAPED])
def test_what_cannot_have_happened_is_refused_and_changes_nothing(event: ChildEvent):
    stage = Stage().up()
    deadline, story = stage.machine.next_deadline(), stage.machine.lives[AGENT].story
    with pytest.raises(LocalProtocolError) as raised:
        stage.machine.handle(event, stage.now + 1)
    assert "ready" in raised.value.state
    assert raised.value.given == type(event).__name__
    assert raised.value.story == story
    assert (stage.machine.next_deadline(), stage.machine.lives[AGENT].story) == (deadline, story)


def test_a_frame_before_the_payload_cannot_have_happened():
    stage = Stage(service=True)
    stage.happen(RunStarted(), SPAWNED)
    with pytest.raises(LocalProtocolError):
        stage.happen(READY)


def test_an_event_of_an_earlier_process_is_late_and_one_of_a_later_one_impossible():
    stage = Stage().up()
    assert stage.happen(msgspec.structs.replace(EXITED, incarnation=0)) == []
    assert stage.machine.lives[AGENT].late_events == 1
    with pytest.raises(LocalProtocolError):
        stage.happen(msgspec.structs.replace(EXITED, incarnation=2))
