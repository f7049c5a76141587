"""The two consoles of lines: levels, and one line for each event."""

from __future__ import annotations

import json
import os

import pytest

from protocol.budget import Ceiling, Meter
from supervisor.console.lines import JsonConsole, TextConsole
from supervisor.console.sink import Sink
from tests.supervisor.console.events_of import event

EVENTS = [
    event("agent.spawn", child_pid=7),
    event("tool.call", tool="t\x1b[2J"),
    event("budget.warn", left=1),
    event("loop.error"),
]


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "log").open("w+b") as opened:
        yield opened


def lines_of(log) -> list[bytes]:
    return os.pread(log.fileno(), 1 << 20, 0).splitlines()


@pytest.mark.parametrize(("level", "count"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_a_level_lets_through_what_is_as_grave(log, level, count):
    for console in (JsonConsole(Sink(log.fileno()), level), TextConsole(Sink(log.fileno()), level)):
        for happened in EVENTS:
            console.event(happened)
        console.close()
    assert len(lines_of(log)) == 2 * count


def test_every_line_of_the_json_console_is_json_whatever_it_is_told(log):
    console = JsonConsole(Sink(log.fileno()), "debug")
    for happened in EVENTS:
        console.event(happened)
        console.meter("0", Meter(Ceiling()))
        console.delta("0", "text of the model")
        console.tick()
    console.close()
    assert [json.loads(line)["event"] for line in lines_of(log)] == [happened.event for happened in EVENTS]
    assert not console.is_text


def test_the_text_console_writes_no_escape_code(log):
    console = TextConsole(Sink(log.fileno()), "debug")
    for happened in EVENTS:
        console.event(happened)
    console.close()
    assert b"\x1b" not in b"".join(lines_of(log))
    assert console.is_text


def test_dropped_lines_are_counted_in_the_next_one_that_fits():
    read, write = os.pipe()
    sink = Sink(write, backlog_bytes=8_192)
    console = JsonConsole(sink, "info")
    total = 2_000
    for number in range(total):
        console.event(event("loop.step", turn=number))
    found = b""
    while b"log.dropped" not in found:
        found += os.read(read, 1 << 20)
        console.event(event("loop.step", turn=-1))
    os.close(write)
    found += os.read(read, 1 << 20)
    os.close(read)
    lines = [json.loads(line) for line in found.splitlines()]
    kept = sum(line["event"] == "loop.step" and line["turn"] >= 0 for line in lines)
    dropped = next(line for line in lines if line["event"] == "log.dropped")
    assert dropped["level"] == "warning"
    assert 0 < kept < total
    assert kept + dropped["count"] >= total
