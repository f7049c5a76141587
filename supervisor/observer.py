"""What a run tells whoever watches it. The driver calls these on its loop: none of them may wait."""

from __future__ import annotations

from typing import Protocol

import msgspec

from protocol.budget import Meter
from protocol.events import Level
from protocol.frames import EventValue


class LogEvent(msgspec.Struct, frozen=True):
    """One event of the vocabulary as a log line shows it. `ts` is RFC 3339 in UTC; `pid` is who saw it."""

    ts: str
    level: Level
    event: str
    run: str
    agent: str
    path: str
    pid: int
    fields: dict[str, EventValue]


class Observer(Protocol):
    """A view of a run. Whoever built it closes it."""

    def event(self, event: LogEvent) -> None:
        """Something of the vocabulary of protocol.events happened."""
        ...

    def meter(self, path: str, meter: Meter) -> None:
        """The account of the agent at `path` changed; figures are absolute."""
        ...

    def delta(self, path: str, text: str) -> None:
        """Text of the model, for display only."""
        ...

    def tick(self) -> None:
        """Called a few times a second, so that a live line can show the time that passes."""
        ...

    def close(self) -> None:
        """Nothing more will come."""
        ...
