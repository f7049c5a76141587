"""Writing without waiting, against real pipes."""

from __future__ import annotations

import os
import time

import pytest

from supervisor.console.sink import PIECE_BYTES, Sink


@pytest.fixture
def pipe():
    read, write = os.pipe()
    os.set_blocking(read, False)
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            continue


def drain(fd: int) -> bytes:
    found = b""
    while True:
        try:
            piece = os.read(fd, 1 << 20)
        except BlockingIOError:
            return found
        if not piece:
            return found
        found += piece


def test_what_a_reader_takes_arrives_whole_and_in_order(pipe):
    read, write = pipe
    sink = Sink(write)
    lines = [b"%d %s\n" % (number, b"x" * 3_000) for number in range(60)]
    found = b""
    for line in lines:
        sink.write(line)
        found += drain(read)
    while found.count(b"\n") < len(lines):
        sink.flush()
        found += drain(read)
    assert found == b"".join(lines)


def test_a_reader_that_stops_costs_no_time_and_loses_whole_lines_only(pipe):
    read, write = pipe
    sink = Sink(write, backlog_bytes=64 * 1024)
    began = time.monotonic()
    taken = sum(sink.write(b"%06d %s\n" % (number, b"y" * 192)) for number in range(2_000))
    assert time.monotonic() - began < 5
    assert taken < 2_000
    found = drain(read)
    while piece := (sink.flush() or drain(read)):
        found += piece
    assert all(len(line) == 199 for line in found.splitlines())
    assert len(found.splitlines()) == taken


def test_closing_gives_a_stopped_reader_a_bounded_time(pipe):
    _, write = pipe
    sink = Sink(write)
    for _ in range(300):
        sink.write(b"z" * 1_000)
    began = time.monotonic()
    sink.close()
    assert time.monotonic() - began < 5


def test_a_reader_that_is_gone_is_forgotten(pipe):
    read, write = pipe
    os.close(read)
    sink = Sink(write)
    sink.write(b"a\n")
    sink.write(b"b\n")
    sink.close()


def test_the_descriptor_is_left_as_it_was(pipe):
    _, write = pipe
    Sink(write).close()
    assert os.get_blocking(write)
    os.write(write, b"still open")


def test_a_line_longer_than_a_piece_is_written_in_pieces(pipe):
    read, write = pipe
    Sink(write).write(b"a" * (3 * PIECE_BYTES + 1))
    assert len(drain(read)) == 3 * PIECE_BYTES + 1


def test_a_file_takes_everything_at_once(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        Sink(log.fileno()).write(b"line\n")
    assert (tmp_path / "log").read_bytes() == b"line\n"
