"""The two consoles that write one line for each event."""

from __future__ import annotations

import msgspec

from protocol.budget import Meter
from protocol.events import Level, is_logged
from supervisor.console.rendering import json_line, text_line
from supervisor.console.sink import Sink
from supervisor.observer import LogEvent


class _LineConsole:
    """Passes events of a level; meters and deltas are for a live line, which this is not.

    Lines that a slow reader left no room for are dropped, and the next line that fits is preceded by their number.
    """

    is_text = True

    def __init__(self, sink: Sink, level: Level) -> None:
        self._sink = sink
        self._level = level
        self._dropped = 0

    @property
    def wants(self) -> Level:
        return self._level

    def event(self, event: LogEvent) -> None:
        if not is_logged(event.level, self._level):
            return
        if self._dropped and self._sink.write(self._line(_drops(event, self._dropped))):
            self._dropped = 0
        if not self._sink.write(self._line(event)):
            self._dropped += 1

    def _line(self, event: LogEvent) -> bytes:
        return text_line(event).encode() + b"\n"

    def meter(self, path: str, meter: Meter) -> None:
        pass

    def delta(self, path: str, text: str) -> None:
        pass

    def tick(self) -> None:
        self._sink.flush()

    def close(self) -> None:
        self._sink.close()


def _drops(latest: LogEvent, count: int) -> LogEvent:
    return msgspec.structs.replace(latest, level="warning", event="log.dropped", fields={"count": count})


class TextConsole(_LineConsole):
    """Readable lines."""


class JsonConsole(_LineConsole):
    """JSON lines, and nothing else."""

    is_text = False

    def _line(self, event: LogEvent) -> bytes:
        return json_line(event)
