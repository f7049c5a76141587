"""Which console a descriptor gets."""

from __future__ import annotations

import os
import pty

import pytest

from supervisor.console import open_console
from supervisor.console.lines import JsonConsole, TextConsole
from supervisor.console.live import LiveConsole


@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    yield slave
    os.close(master)
    os.close(slave)


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield write
    os.close(read)
    os.close(write)


def test_a_terminal_gets_a_live_line_unless_it_cannot_or_shall_not(terminal):
    xterm = {"TERM": "xterm"}
    assert isinstance(open_console("auto", "info", xterm, terminal), LiveConsole)
    assert isinstance(open_console("auto", "info", {"TERM": "dumb"}, terminal), TextConsole)
    assert isinstance(open_console("auto", "info", {}, terminal), TextConsole)
    assert isinstance(open_console("text", "info", xterm, terminal), TextConsole)
    assert isinstance(open_console("json", "info", xterm, terminal), JsonConsole)


def test_a_pipe_gets_json_lines_unless_text_is_asked_for(pipe):
    assert isinstance(open_console("auto", "info", {"TERM": "xterm"}, pipe), JsonConsole)
    assert isinstance(open_console("text", "info", {}, pipe), TextConsole)
