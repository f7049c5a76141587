"""The console of a terminal, on a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from protocol.budget import Amounts, Ceiling, Meter
from supervisor.console import open_console
from supervisor.console.live import LiveConsole
from tests.supervisor.console.events_of import event

END_OF_FOOT = "\x1b[0m"
ERASED = "\r\x1b[2K"


@pytest.fixture
def screen():
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    yield master, slave
    os.close(master)
    os.close(slave)


def shown(master: int, last: str = "") -> str:
    """What the terminal got, up to `last`: the kernel passes it on in its own time, and in pieces."""
    seen = b""
    end_s = time.monotonic() + 20
    while not seen or last.encode() not in seen:
        readable, _, _ = select.select([master], [], [], max(0.0, end_s - time.monotonic()) if last else 0.0)
        if not readable:
            break
        seen += os.read(master, 1 << 16)
    return seen.decode()


def test_steps_stay_and_the_live_line_is_gone_at_the_end(screen):
    master, slave = screen
    console = open_console("auto", "info", {"TERM": "xterm"}, slave)
    assert isinstance(console, LiveConsole)
    console.event(event("intel.call", turn=1))
    console.meter("0", Meter(Ceiling(), spent=Amounts(tokens=77)))
    console.tick()
    assert "turn 1 · model · 77 tokens · 0:" in shown(master, END_OF_FOOT)
    console.event(event("tool.result", tool="evil\x1b]0;title\x07", outcome="ok", elapsed_ms=3))
    console.delta("0", "text of the model")
    seen = shown(master, END_OF_FOOT)
    assert "evil]0;title: ok, 0.0 s\r\n" in seen
    assert "\x07" not in seen
    console.close()
    assert shown(master, ERASED) == ERASED
    console.close()


def test_a_level_above_info_keeps_the_live_line_and_drops_the_steps(screen):
    master, slave = screen
    console = open_console("auto", "error", {"TERM": "xterm", "NO_COLOR": "1"}, slave)
    console.event(event("tool.result", tool="t", outcome="ok"))
    assert shown(master) == ""
    console.tick()
    assert "tokens" in shown(master, "tokens")
    assert console.wants == "info"


def test_rich_is_not_imported_before_the_first_line():
    program = (
        "import os, pty, sys\n"
        "from supervisor.console import open_console\n"
        "console = open_console('auto', 'info', {'TERM': 'xterm'}, pty.openpty()[1])\n"
        "assert 'rich' not in sys.modules\n"
        "console.tick()\n"
        "assert 'rich' in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=30, check=False).returncode == 0
