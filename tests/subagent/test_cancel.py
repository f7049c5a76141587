"""The cancel gate: nothing is raised outside a region, and no cancel is lost. Real signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from protocol.frames import Cancel
from subagent.cancel import CancelGate, CancelRaised

CANCEL = Cancel("request", 5.0)


@pytest.fixture
def gate():
    before = signal.getsignal(signal.SIGUSR1)
    yield CancelGate()
    signal.signal(signal.SIGUSR1, before)


def press(gate: CancelGate, after_s: float = 0.05) -> threading.Thread:
    def pressing() -> None:
        time.sleep(after_s)
        gate.request(CANCEL)  # the first one counts
        while gate.pending:
            gate.nudge()
            time.sleep(0.01)

    thread = threading.Thread(target=pressing, daemon=True)
    thread.start()
    return thread


def test_a_blocking_read_in_a_region_is_interrupted(gate: CancelGate) -> None:
    read_fd, write_fd = os.pipe()
    thread = press(gate)
    with pytest.raises(CancelRaised), gate.region():
        os.read(read_fd, 1)
    assert gate.acknowledge() is CANCEL
    thread.join(5)
    assert not thread.is_alive()
    os.close(read_fd)
    os.close(write_fd)


def test_nothing_is_raised_outside_a_region(gate: CancelGate) -> None:
    thread = press(gate, after_s=0)
    end = time.monotonic() + 0.1
    while time.monotonic() < end:
        time.sleep(0.001)
    assert gate.acknowledge() is CANCEL
    thread.join(5)


def test_a_cancel_that_came_before_a_region_is_raised_at_its_entry(gate: CancelGate) -> None:
    gate.request(CANCEL)
    with pytest.raises(CancelRaised), gate.region():
        pytest.fail("the region was entered")


def test_a_cancel_during_a_shield_is_raised_behind_it(gate: CancelGate) -> None:
    done: list[str] = []

    def work() -> None:
        with gate.region():
            with gate.shielded():
                gate.request(CANCEL)
                gate.nudge()
                done.append("whole")
            done.append("too far")

    with pytest.raises(CancelRaised):
        work()
    assert done == ["whole"]


def test_a_cancel_that_a_cleanup_swallowed_is_raised_at_the_end_of_the_region(gate: CancelGate) -> None:
    def work() -> None:
        with gate.region(), contextlib.suppress(BaseException):
            gate.request(CANCEL)
            gate.nudge()
            time.sleep(5)

    with pytest.raises(CancelRaised):
        work()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cancel_that_a_finaliser_dropped_is_raised_again_in_the_same_region(gate: CancelGate) -> None:
    class Dropping:
        def __del__(self) -> None:
            gate.request(CANCEL)
            gate.nudge()
            time.sleep(5)  # the exception ends this, and Python drops it

    def work() -> None:
        with gate.region():
            Dropping()
            threads.append(press(gate, after_s=0))
            time.sleep(10)

    threads: list[threading.Thread] = []
    began_s = time.monotonic()
    with pytest.raises(CancelRaised):
        work()
    assert time.monotonic() - began_s < 5
    gate.acknowledge()
    threads[0].join(5)


def test_the_first_cancel_counts(gate: CancelGate) -> None:
    gate.request(CANCEL)
    gate.request(Cancel("deadline", 5.0))
    assert gate.acknowledge() is CANCEL


def test_a_cancel_is_overdue_only_while_nobody_acknowledged_it(gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subagent.cancel.ACKNOWLEDGE_WITHIN_S", 0.0)
    gate.request(CANCEL)
    time.sleep(0.001)
    assert gate.overdue
    gate.acknowledge()
    assert not gate.overdue


@pytest.mark.parametrize("rounds", [100, pytest.param(2000, marks=[pytest.mark.slow, pytest.mark.timeout(300)])])
def test_every_cancel_at_a_random_moment_takes(rounds: int) -> None:
    program = Path(__file__).with_name("cancelling.py")
    ran = subprocess.run([sys.executable, program, str(rounds), "7"], capture_output=True, timeout=280, check=True)
    told = json.loads(ran.stdout)
    assert (told["took"], told["late"]) == (rounds, 0)
