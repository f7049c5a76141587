"""Signs of life to verdicts: the table of the module, and what moves each sign."""

from __future__ import annotations

import msgspec
import pytest

from protocol.frames import Activity
from supervisor.machine.liveness import Verdict, Vitals, judge
from tests.supervisor.machine.stage import SETTINGS

NOW = 1_000.0


def vitals(*, pongs: bool, progress: bool, due: bool, works: bool, stopped: bool = False) -> Vitals:
    return Vitals(
        progress_at=NOW - (1.0 if progress else SETTINGS.progress_s),
        observed_at=NOW,
        missed=0 if pongs else SETTINGS.missed_pings,
        activity=Activity("tool", 0.0, NOW if due else NOW - 0.1),
        working=works,
        stopped=stopped,
    )


@pytest.mark.parametrize("works", [False, True])
@pytest.mark.parametrize(
    ("progress", "due", "verdict"),
    [
        (True, True, Verdict.HEALTHY),
        (True, False, Verdict.HEALTHY),
        (False, True, Verdict.BUSY),
        (False, False, Verdict.STUCK),
    ],
)
def test_with_pongs_progress_is_health_and_a_due_activity_an_excuse(progress, due, works, verdict):
    assert judge(vitals(pongs=True, progress=progress, due=due, works=works), NOW, SETTINGS) is verdict


@pytest.mark.parametrize(
    ("progress", "due", "works", "verdict"),
    [
        (True, True, True, Verdict.BUSY),
        (True, False, True, Verdict.BUSY),
        (False, True, True, Verdict.BUSY),
        (False, False, True, Verdict.STUCK),
        (True, True, False, Verdict.STUCK),
        (False, True, False, Verdict.STUCK),
    ],
)
def test_without_pongs_only_work_that_is_not_overdue_is_an_excuse(progress, due, works, verdict):
    assert judge(vitals(pongs=False, progress=progress, due=due, works=works), NOW, SETTINGS) is verdict


def test_a_stopped_process_without_pongs_is_stuck_whatever_it_declared():
    signs = vitals(pongs=False, progress=True, due=True, works=True, stopped=True)
    assert judge(signs, NOW, SETTINGS) is Verdict.STUCK


def test_a_process_that_is_stopped_for_a_moment_and_pongs_is_left_alone():
    signs = vitals(pongs=True, progress=True, due=False, works=False, stopped=True)
    assert judge(signs, NOW, SETTINGS) is Verdict.HEALTHY


@pytest.mark.parametrize("pongs", [False, True])
def test_a_closed_link_is_exiting_and_only_an_exit_is_death(pongs):
    signs = vitals(pongs=pongs, progress=False, due=False, works=False).with_closed_link()
    assert judge(signs, NOW, SETTINGS) is Verdict.EXITING
    assert judge(signs.with_exit(0.1), NOW, SETTINGS) is Verdict.DEAD


def test_a_ping_is_missed_when_the_next_is_sent_before_its_pong():
    signs = Vitals(NOW, NOW).with_ping()
    assert signs.missed == 0
    signs = signs.with_ping().with_ping()
    assert signs.missed == 2
    assert signs.with_pong(2, Activity("idle", 0, 0)).missed == 0


@pytest.mark.parametrize("seq", [0, 1, 3, 10**9])
def test_a_pong_that_answers_no_open_ping_is_no_sign_of_life(seq):
    answered = Vitals(NOW, NOW).with_ping().with_pong(1, Activity("idle", 0, 0)).with_ping()
    assert answered.with_pong(seq, Activity("model", 0, 10**9)) == answered


def test_work_is_cpu_time_in_proportion_to_the_time_since_the_last_look():
    signs = Vitals(NOW, NOW)
    assert not signs.with_observation(False, 0.05, NOW + 5).working
    assert signs.with_observation(False, 0.5, NOW + 5).working
    assert not signs.with_observation(False, 0.5, NOW + 5).with_observation(False, 0.5, NOW + 10).working


def test_cpu_time_never_goes_back():
    assert Vitals(NOW, NOW, cpu_s=3.0).with_observation(False, 0.0, NOW + 5).cpu_s == 3.0


def test_a_gap_of_ours_is_taken_off_every_silence():
    signs = Vitals(NOW - 10, NOW - 10)
    assert signs.put_off(7.0).silent_s(NOW) == 3.0
    assert msgspec.structs.replace(signs, progress_at=NOW + 1).silent_s(NOW) == 0.0
