"""What the live line says."""

from __future__ import annotations

import msgspec
import pytest

from protocol.budget import Amounts, Ceiling, Meter
from supervisor.console.progress import Progress, after_event, after_meter, elapsed_text, finished_line, live_line
from tests.supervisor.console.events_of import event

START = Progress(started_s=100.0)


def test_the_line_tells_turn_tool_tokens_and_elapsed():
    progress = START
    for happened in (
        event("agent.ready"),
        event("intel.call", attempt=1),
        event("intel.call", attempt=2),
        event("intel.call", attempt=1),
        event("tool.call", tool="read_file"),
    ):
        progress = after_event(progress, happened)
    progress = after_meter(progress, "0", Meter(Ceiling(), spent=Amounts(tokens=12_345)))
    assert live_line(progress, 165.9) == "turn 2 · read_file · 12,345 tokens · 1:05"


@pytest.mark.parametrize(
    ("name", "doing"),
    [
        ("intel.call", "model"),
        ("intel.retry", "waiting to try again"),
        ("tool.result", "thinking"),
        ("loop.paused", "paused"),
        ("loop.resumed", "thinking"),
        ("drain.cancel", "stopping"),
        ("run.start", "starting"),
    ],
)
def test_each_event_says_what_is_being_done(name, doing):
    assert after_event(START, event(name)).doing == doing


def test_a_meter_of_another_agent_is_in_the_roots_already():
    assert after_meter(START, "0.1", Meter(Ceiling(), spent=Amounts(tokens=5))).tokens == 0


def test_a_tools_name_is_cleaned_and_cut():
    assert after_event(START, event("tool.call", tool="\x1b[2J\r" + "x" * 500)).doing == "[2J" + "x" * 45


@pytest.mark.parametrize(("seconds", "text"), [(-1, "0:00"), (7.9, "0:07"), (754, "12:34"), (3_723, "1:02:03")])
def test_elapsed_time_is_read_like_a_clock(seconds, text):
    assert elapsed_text(seconds) == text


def test_finished_steps_stay_and_what_goes_on_does_not():
    turn = after_event(START, event("intel.call", attempt=1))
    assert (
        finished_line(turn, event("tool.result", tool="search", outcome="ok", elapsed_ms=1_250))
        == "  search: ok, 1.2 s"
    )
    assert finished_line(turn, event("intel.result", tokens_in=9, tokens_out=2, elapsed_ms=40)) == (
        "turn 1: 9 tokens in, 2 out, 0.0 s"
    )
    assert finished_line(turn, event("loop.correction", problems=2)) == "  the check sent the answer back, problems: 2"
    assert finished_line(turn, event("tool.call", tool="x")) is None
    assert "budget.warn" in (finished_line(turn, event("budget.warn", dimension="tokens")) or "")


def test_missing_fields_make_no_error():
    for name in ("tool.result", "intel.result", "loop.correction", "intel.call", "tool.call"):
        finished_line(START, event(name))
        after_event(START, event(name))


def test_the_end_of_the_run_is_no_line_it_is_told_in_words():
    failed = msgspec.structs.replace(event("run.end", status="crashed"), level="error")
    assert finished_line(START, failed) is None
