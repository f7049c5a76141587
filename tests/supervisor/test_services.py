"""The pipes of a service."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from protocol.codec import Fault
from supervisor.services import MAX_LINE_BYTES, Announcement, ServiceLink

LINE = b'{"base_url":"http://127.0.0.1:1/v1","more":1}\n'


class Ends:
    def __init__(self) -> None:
        self.service_in, write_fd = os.pipe()
        read_fd, self.service_out = os.pipe()
        os.set_blocking(read_fd, False)
        self.link = ServiceLink(write_fd, read_fd)

    def say(self, content: bytes) -> None:
        os.write(self.service_out, content)


@pytest.fixture
def ends() -> Iterator[Ends]:
    made = Ends()
    yield made
    made.link.close()
    os.close(made.service_in)
    os.close(made.service_out)


def test_the_first_line_tells_the_endpoint_however_it_is_cut(ends):
    assert ends.link.read() is None
    ends.say(LINE[:9])
    assert ends.link.read() is None
    ends.say(LINE[9:])
    assert ends.link.read() == Announcement("http://127.0.0.1:1/v1")


def test_what_it_prints_afterwards_is_read_and_dropped(ends):
    ends.say(LINE + b"more\n")
    assert ends.link.read() is not None
    ends.say(LINE)
    assert ends.link.read() is None


@pytest.mark.parametrize("line", [b"Listening on 8080\n", b"{}\n", b'{"base_url":5}\n', b"\xff\n", b"[" * 5000 + b"\n"])
def test_a_first_line_that_is_no_announcement_is_a_fault_that_quotes_nothing(ends, line):
    ends.say(line)
    fault = ends.link.read()
    assert isinstance(fault, Fault)
    assert "8080" not in fault.about


def test_a_line_without_end_is_a_fault(ends):
    for _ in range(MAX_LINE_BYTES // 8_192):
        ends.say(b"x" * 8_192)
        fault = ends.link.read()
    ends.say(b"x")
    assert isinstance(ends.link.read() or fault, Fault)


def test_the_end_of_its_stdout_is_noticed(ends):
    os.dup2(ends.service_in, ends.service_out)
    assert ends.link.read() is None
    assert ends.link.ended


def test_its_input_is_closed_once(ends):
    ends.link.close_input()
    ends.link.close_input()
    assert os.read(ends.service_in, 1) == b""
