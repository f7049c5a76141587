"""The console of a terminal: one live line at its foot, and above it the steps that are over."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING

from protocol.budget import Meter
from protocol.events import Level, is_logged
from supervisor.console.progress import Progress, after_event, after_meter, finished_line, live_line
from supervisor.console.sink import Sink
from supervisor.observer import LogEvent

if TYPE_CHECKING:
    from supervisor.console.terminal import Terminal

_STYLES = {"warning": "yellow", "error": "red"}


class LiveConsole:
    """Shows a run on a terminal. `plain`: no colours."""

    is_text = True

    def __init__(self, sink: Sink, level: Level, *, plain: bool) -> None:
        self._sink = sink
        self._level = level
        self._plain = plain
        self._progress = Progress(started_s=time.monotonic())

    @property
    def wants(self) -> Level:
        """The live line moves on with every event of level info, whatever stays above it."""
        return "debug" if self._level == "debug" else "info"

    def event(self, event: LogEvent) -> None:
        self._progress = after_event(self._progress, event)
        line = finished_line(self._progress, event) if is_logged(event.level, self._level) else None
        if line is not None:
            self._terminal.print(line, _STYLES.get(event.level, ""))
            self._draw()

    def meter(self, path: str, meter: Meter) -> None:
        self._progress = after_meter(self._progress, path, meter)

    def delta(self, path: str, text: str) -> None:
        pass

    def tick(self) -> None:
        self._draw()
        self._sink.flush()

    def close(self) -> None:
        self._terminal.erase()
        self._sink.close()

    @cached_property
    def _terminal(self) -> Terminal:
        """Made at the first line, when the agent is starting already: importing rich takes longer than all else."""
        from supervisor.console.terminal import Terminal

        return Terminal(self._sink, plain=self._plain)

    def _draw(self) -> None:
        self._terminal.draw(live_line(self._progress, time.monotonic()))
