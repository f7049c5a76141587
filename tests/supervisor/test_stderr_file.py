"""What a child prints, kept up to a bound."""

from __future__ import annotations

import os

from supervisor.stderr_file import MAX_BYTES, StderrFile


def filled(path, total: int) -> bytes:
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    kept = StderrFile(path)
    kept.drain_from(read_fd)
    while total > 0:
        total -= os.write(write_fd, b"e" * min(total, 65_536))
        assert kept.take()
    assert not kept.take()
    os.close(write_fd)
    kept.drain()
    assert kept.ended
    kept.close()
    return path.read_bytes()


def test_all_of_it_is_kept_while_it_is_small(tmp_path):
    assert filled(tmp_path / "log", 100_000) == b"e" * 100_000
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_what_comes_after_the_bound_is_dropped_and_said_to_be(tmp_path):
    content = filled(tmp_path / "log", 3 * MAX_BYTES)
    assert content.startswith(b"e" * MAX_BYTES)
    assert content[MAX_BYTES:].decode().strip() == "[covey: more was written here, and dropped]"


def test_a_full_disk_stops_the_keeping_and_not_the_draining():
    if os.path.exists("/dev/full"):
        read_fd, write_fd = os.pipe()
        os.set_blocking(read_fd, False)
        kept = StderrFile("/dev/full")
        kept.drain_from(read_fd)
        os.write(write_fd, b"hello")
        assert kept.take()
        os.write(write_fd, b"world")
        assert kept.take()
        os.close(write_fd)
        kept.close()


def test_it_can_be_closed_before_it_has_a_pipe(tmp_path):
    StderrFile(tmp_path / "log").close()
