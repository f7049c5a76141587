"""The foot line, on a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios

import pytest

from supervisor.console.sink import Sink
from supervisor.console.terminal import Terminal

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def screen():
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    yield master, slave
    os.close(master)
    os.close(slave)


def resize(fd: int, columns: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def shown(master: int) -> str:
    try:
        return os.read(master, 1 << 16).decode()
    except BlockingIOError:
        return ""


def test_the_foot_is_cut_to_the_width_of_now(screen):
    master, slave = screen
    terminal = Terminal(Sink(slave), plain=True)
    for columns in (40, 12, 90):
        resize(slave, columns)
        terminal.draw("x" * 200)
        foot = ESCAPES.sub("", shown(master)).strip("\r")
        assert len(foot) == columns - 1
        assert foot.endswith("…")


def test_wide_characters_count_for_two_columns(screen):
    master, slave = screen
    resize(slave, 21)
    Terminal(Sink(slave), plain=True).draw("漢" * 50)
    assert shown(master).count("漢") <= 9


def test_a_width_of_nothing_draws_without_an_error(screen):
    master, slave = screen
    resize(slave, 0)
    Terminal(Sink(slave), plain=True).draw("x")
    assert "x" in shown(master)


def test_a_line_that_stays_takes_the_place_of_the_foot(screen):
    master, slave = screen
    terminal = Terminal(Sink(slave), plain=True)
    terminal.draw("foot")
    shown(master)
    terminal.print("a line [bold]that stays[/bold]")
    assert shown(master) == "\r\x1b[2Ka line [bold]that stays[/bold]\r\n"
    terminal.erase()
    assert shown(master) == ""


def test_plain_writes_no_colour_and_the_cursor_is_never_hidden(screen):
    master, slave = screen
    for plain in (True, False):
        terminal = Terminal(Sink(slave), plain=plain)
        terminal.print("warning", "yellow")
        terminal.draw("foot")
        seen = shown(master)
        assert ("\x1b[33m" in seen) is not plain
        assert "\x1b[?25l" not in seen
