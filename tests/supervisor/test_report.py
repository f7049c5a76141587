"""Only what is in the vocabulary reaches the observer, and under the run's own name."""

from __future__ import annotations

import os

from protocol.frames import Event
from supervisor.report import Reporter
from tests.supervisor.running import Recorder


def test_an_event_of_ours_carries_its_level_its_run_and_our_pid():
    seen = Recorder()
    Reporter("r1", seen).emit("0", "drain.kill", {})
    [event] = seen.events
    assert (event.event, event.level, event.run, event.agent, event.path) == (
        "drain.kill",
        "warning",
        "r1",
        "r1/0",
        "0",
    )
    assert event.pid == os.getpid()


def test_an_event_of_ours_may_have_a_level_of_its_own():
    seen = Recorder()
    Reporter("r1", seen).emit("0", "run.end", {}, "error")
    assert seen.events[0].level == "error"


def test_an_agents_event_carries_the_agents_pid_whatever_it_says_of_itself():
    seen = Recorder()
    reporter = Reporter("r1", seen)
    reporter.pass_on("0", 77, Event("loop.step", {"turn": 1, "calls": 0, "tokens": 5}))
    assert (seen.events[0].pid, seen.events[0].fields["tokens"]) == (77, 5)
    reporter.pass_on("0", 77, Event("loop.step", {"turn": 1, "run": "r2"}))
    reporter.pass_on("0", 77, Event("made.up"))
    assert len(seen.events) == 1
    reporter.tell_ignored("0", {"late_frames": 0})
    assert (seen.events[1].event, seen.events[1].fields) == ("child.ignored", {"late_frames": 0, "unknown_events": 2})


def test_nothing_ignored_is_nothing_told():
    seen = Recorder()
    Reporter("r1", seen).tell_ignored("0", {"late_frames": 0})
    assert seen.events == []


def test_display_text_is_shown_and_is_no_event():
    seen = Recorder()
    Reporter("r1", seen).pass_on("0", 77, Event("intel.delta", {"text": "x"}))
    assert (seen.deltas, seen.events) == (1, [])
