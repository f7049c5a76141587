"""Events for the tests of the console."""

from __future__ import annotations

from protocol.events import EVENTS
from protocol.frames import EventValue
from supervisor.observer import LogEvent


def event(name: str, **fields: EventValue) -> LogEvent:
    level = EVENTS[name].level if name in EVENTS else "info"
    return LogEvent("2026-01-02T03:04:05.678Z", level, name, "r1", "r1/0", "0", 42, dict(fields))
