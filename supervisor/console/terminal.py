"""A terminal with one line at its foot that is redrawn. The only module that imports rich.

rich knows how wide a character is. The cursor is never hidden, so that a killed run leaves a terminal that works.
"""

from __future__ import annotations

import os
from typing import IO, cast

from rich.console import Console
from rich.text import Text

from supervisor.console.sink import Sink

FALLBACK_COLUMNS = 80
_ERASE_LINE = b"\r\x1b[2K"


class _SinkFile:
    """The sink as rich wants a file."""

    encoding = "utf-8"

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, text: str) -> int:
        self._sink.write(text.encode("utf-8", "replace"))
        return len(text)

    def flush(self) -> None:
        pass


class Terminal:
    """Prints lines above the foot line. `plain`: no colours and no weights."""

    def __init__(self, sink: Sink, *, plain: bool) -> None:
        self._sink = sink
        self._rich = Console(
            file=cast("IO[str]", _SinkFile(sink)),
            force_terminal=True,
            color_system=None if plain else "standard",
        )
        self._drawn = False

    def print(self, line: str, style: str = "") -> None:
        """A line that stays. The foot is gone until it is drawn again."""
        self.erase()
        self._rich.print(Text(line, style=style), soft_wrap=True)

    def draw(self, foot: str) -> None:
        """Put `foot` in the place of the foot line, cut to the width."""
        self.erase()
        line = Text(foot, style="dim")
        # One column stays free: a full last column makes some terminals wrap.
        line.truncate(max(1, self._columns() - 1), overflow="ellipsis")
        self._rich.print(line, end="", soft_wrap=True)
        self._drawn = True

    def erase(self) -> None:
        """Take the foot line away."""
        if self._drawn:
            self._sink.write(_ERASE_LINE)
            self._drawn = False

    def _columns(self) -> int:
        """Asked at every draw: a terminal is resized at any time, and COLUMNS would not know."""
        try:
            return os.get_terminal_size(self._sink.fd).columns or FALLBACK_COLUMNS
        except OSError:
            return FALLBACK_COLUMNS
