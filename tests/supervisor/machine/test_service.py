"""The life of a service, and what its failure means for the run."""

from __future__ import annotations

import pytest

from protocol.errors import LocalProtocolError
from protocol.status import Abort, Detail, TerminalStatus
from supervisor.machine.effects import CloseInput, EndRun, ReapChild, SendPayload, SignalGroup, SpawnChild
from supervisor.machine.events import (
    ChildExited,
    ChildReaped,
    ChildSpawned,
    LinkClosed,
    OrphansSwept,
    PeerViolatedProtocol,
    RunStarted,
    SignalReceived,
    SpawnFailed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.states import ChildState
from tests.supervisor.machine.stage import (
    AGENT,
    EXITED,
    READY,
    REAPED,
    SERVICE,
    SETTINGS,
    SPAWNED,
    SWEPT,
    Stage,
    announced,
    killed,
    only,
    result,
)

BORN = ChildSpawned(SERVICE, 1, 77, 5)
ENDED = ChildExited(SERVICE, 1, 0, None, 0.0)
CLEAN = OrphansSwept(SERVICE, 1, frozenset(), 0)
GONE = ChildReaped(SERVICE, 1)


def started() -> Stage:
    stage = Stage(service=True)
    stage.happen(RunStarted(), BORN, SPAWNED)
    return stage


def running() -> Stage:
    stage = started()
    stage.happen(announced(), READY)
    return stage


def signals(effects) -> list[tuple[str, Rung]]:
    return [(effect.child, effect.rung) for effect in only(SignalGroup, effects)]


def test_service_and_agent_are_spawned_at_once_and_the_payload_waits_for_the_endpoint():
    stage = Stage(service=True)
    assert only(SpawnChild, stage.happen(RunStarted())) == [SpawnChild(SERVICE, 1), SpawnChild(AGENT, 1)]
    assert only(SendPayload, stage.happen(BORN, SPAWNED)) == []
    assert only(SendPayload, stage.happen(announced())) == [SendPayload(AGENT, 1, "http://127.0.0.1:1/v1")]


def test_an_endpoint_that_is_told_before_the_agent_exists_is_kept_for_it():
    stage = Stage(service=True)
    stage.happen(RunStarted(), BORN, announced())
    assert only(SendPayload, stage.happen(SPAWNED)) == [SendPayload(AGENT, 1, "http://127.0.0.1:1/v1")]


def test_the_service_outlives_the_agent_and_then_its_stdin_is_closed():
    stage = running()
    assert only(CloseInput, stage.happen(result())) == []
    assert only(CloseInput, stage.happen(EXITED)) == [CloseInput(SERVICE, 1)]
    assert stage.happen(SWEPT, REAPED, ENDED)[-1].child == SERVICE
    assert stage.happen(CLEAN) == [ReapChild(SERVICE, 1)]
    assert stage.happen(GONE) == [EndRun()]


def test_a_service_that_ignores_its_stdin_is_signalled():
    stage = running()
    stage.happen(result(), EXITED, SWEPT, REAPED)
    assert signals(stage.wait(SETTINGS.service_grace_s)) == [(SERVICE, Rung.TERMINATE)]
    assert signals(stage.wait(SETTINGS.term_grace_s)) == [(SERVICE, Rung.KILL)]


def test_a_service_that_the_kernel_does_not_end_does_not_keep_the_run():
    stage = running()
    stage.happen(result(), EXITED, SWEPT, REAPED)
    stage.wait(SETTINGS.service_grace_s + SETTINGS.term_grace_s + SETTINGS.kill_grace_s)
    assert stage.happen(GONE) == [EndRun()]
    assert stage.record().status is TerminalStatus.COMPLETED


@pytest.mark.parametrize(
    ("happening", "word"),
    [
        (ENDED, "exited with status 0"),
        (ChildExited(SERVICE, 1, None, "SIGSEGV", 0.0), "killed by SIGSEGV"),
        (PeerViolatedProtocol(SERVICE, 1, "garbage", "its first line is no {base_url}"), "no {base_url}"),
    ],
)
def test_a_service_that_never_serves_ends_the_run_as_intelligence_unavailable(happening, word):
    stage = started()
    assert (AGENT, Rung.TERMINATE) in signals(stage.happen(happening))
    stage.happen(killed("SIGTERM"))
    record = stage.record()
    assert (record.status, record.detail) == (TerminalStatus.CRASHED, Detail.SETUP)
    assert (record.abort, record.exit_code) == (Abort.INTELLIGENCE_UNAVAILABLE, 4)
    assert word in record.about


def test_a_service_that_closed_its_stdout_has_its_grace_to_say_by_its_exit_why():
    stage = started()
    assert signals(stage.happen(LinkClosed(SERVICE, 1))) == []
    assert (AGENT, Rung.TERMINATE) in signals(stage.happen(ChildExited(SERVICE, 1, 3, None, 0.0)))
    stage.happen(killed("SIGTERM"))
    assert stage.record().about == "scripted exited with status 3 and told no endpoint"


def test_a_service_that_closed_its_stdout_and_cannot_be_ended_fails_the_run_all_the_same():
    stage = started()
    stage.happen(LinkClosed(SERVICE, 1))
    stage.wait(SETTINGS.service_grace_s + SETTINGS.term_grace_s + SETTINGS.kill_grace_s)
    stage.happen(killed("SIGTERM"))
    assert stage.record().about == "scripted does not end and told no endpoint"


def test_a_service_that_is_too_slow_is_ended_with_the_run():
    stage = started()
    assert (AGENT, Rung.TERMINATE) in signals(stage.wait(30.0))
    stage.happen(killed("SIGTERM"))
    assert stage.record().about == "scripted told no endpoint within 30 s"


def test_a_service_that_cannot_be_spawned_ends_an_agent_whose_spawn_is_not_answered_yet():
    stage = Stage(service=True)
    assert signals(stage.happen(RunStarted(), SpawnFailed(SERVICE, 1, "no such file"))) == []
    assert signals(stage.happen(SPAWNED)) == [(AGENT, Rung.TERMINATE)]
    effects = stage.happen(killed("SIGTERM"), SWEPT, REAPED)
    assert effects[-1] == EndRun()
    assert (stage.record().status, stage.record().detail) == (TerminalStatus.CRASHED, Detail.SPAWN)
    assert (stage.record().abort, stage.record().exit_code) == (None, 1)


@pytest.mark.parametrize("child", [SERVICE, AGENT])
def test_a_log_that_cannot_be_made_is_a_fault_of_the_disk_whosever_it_is(child):
    stage = Stage(service=child == SERVICE)
    stage.happen(RunStarted(), SpawnFailed(child, 1, "its log cannot be written: No space left on device", Detail.IO))
    if child == SERVICE:
        stage.happen(SPAWNED, killed("SIGTERM"), SWEPT, REAPED)
    record = stage.record()
    assert (record.status, record.detail, record.abort) == (TerminalStatus.CRASHED, Detail.IO, None)
    assert "No space left" in record.about


def test_a_service_that_dies_in_use_is_left_to_the_agent_to_notice():
    stage = running()
    assert signals(stage.happen(ENDED)) == [(SERVICE, Rung.KILL)]
    assert stage.machine.lives[AGENT].state is ChildState.READY
    assert stage.happen(CLEAN, GONE, result(), EXITED, SWEPT, REAPED)[-1] == EndRun()


def test_a_second_signal_kills_the_service_as_well():
    stage = running()
    stage.happen(SignalReceived())
    stage.now += 1.0
    assert signals(stage.happen(SignalReceived())) == [(AGENT, Rung.KILL), (SERVICE, Rung.KILL)]


def test_our_own_sleep_does_not_count_against_its_start():
    stage = started()
    stage.now += 3_600.0
    stage.happen(announced())
    assert stage.machine.lives[SERVICE].state is ChildState.READY


def test_a_second_announcement_cannot_have_happened():
    stage = running()
    with pytest.raises(LocalProtocolError, match="EndpointAnnounced is illegal in state scripted ready"):
        stage.happen(announced())
