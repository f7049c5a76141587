"""The rungs and their times, and when a signal is a second one."""

from __future__ import annotations

from supervisor.machine.ladder import Rung, Signals, stand_on
from tests.supervisor.machine.stage import SETTINGS


def test_the_rungs_come_in_order_each_after_its_grace():
    ladder = stand_on(Rung.ASK, 0.0, SETTINGS)
    climbed = [ladder := ladder.climbed(ladder.due_at, SETTINGS) for _ in range(3)]
    assert [rung.rung for rung in climbed] == [Rung.TERMINATE, Rung.KILL, Rung.GIVE_UP]
    assert [rung.due_at for rung in climbed] == [7.0, 10.0, 10.0]


def test_a_whole_drain_stays_under_twenty_five_seconds():
    assert SETTINGS.cancel_grace_s + SETTINGS.term_grace_s + SETTINGS.kill_grace_s + SETTINGS.sweep_s < 25


def test_asking_may_have_a_grace_of_its_own():
    assert stand_on(Rung.ASK, 1.0, SETTINGS, 0.5).due_at == 1.5


def test_signals_close_to_the_first_are_the_first():
    signals, kill = Signals().received(10.0, SETTINGS)
    assert not kill
    signals, kill = signals.received(10.0 + SETTINGS.same_signal_s, SETTINGS)
    assert not kill
    assert signals.received(10.01 + SETTINGS.same_signal_s, SETTINGS)[1]
