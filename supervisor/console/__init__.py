"""What a run shows on stderr while it goes on: JSON lines, readable lines, or one live line on a terminal.

auto    live on a terminal, JSON lines elsewhere
text    readable lines, without a live line and without escape codes
json    JSON lines
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, Protocol

from protocol.events import Level
from supervisor.console.sink import Sink
from supervisor.observer import Observer

Format = Literal["auto", "text", "json"]
FORMATS: tuple[Format, ...] = ("auto", "text", "json")

STDERR = 2


class Console(Observer, Protocol):
    """An observer on stderr."""

    @property
    def is_text(self) -> bool:
        """Whether people read it: then the end of a run is told in words too."""
        ...

    @property
    def wants(self) -> Level:
        """The least level of the events that it has a use for."""
        ...


def open_console(log_format: Format, level: Level, environ: Mapping[str, str], fd: int = STDERR) -> Console:
    """The console for `fd`. Nothing is written before the first event. Close it at the end of the run."""
    on_terminal = log_format == "auto" and os.isatty(fd)
    if on_terminal and environ.get("TERM", "dumb") != "dumb":
        from supervisor.console.live import LiveConsole

        return LiveConsole(Sink(fd), level, plain=bool(environ.get("NO_COLOR")))
    from supervisor.console.lines import JsonConsole, TextConsole

    return TextConsole(Sink(fd), level) if on_terminal or log_format == "text" else JsonConsole(Sink(fd), level)
