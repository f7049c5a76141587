from __future__ import annotations

import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.budget import Amounts
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.journal.entries import Held, Outcomed, Paused
from protocol.journal.log import Journal, JournalLocked, open_journal, read_journal, utc_now

WRITER = """
import sys
from pathlib import Path
from protocol.journal.entries import Outcomed
from protocol.journal.log import open_journal
journal = open_journal(Path(sys.argv[1]))
print("open", flush=True)
for _ in range(int(sys.argv[2])):
    journal.append("outcome", Outcomed("c", "ok", "x" * 300))
sys.stdin.read()
"""


class Seam:
    """A disk that does what it is told: None writes, a number writes that many bytes only, an error is raised."""

    def __init__(self) -> None:
        self.next: int | OSError | BaseException | None = None

    def __call__(self, fd: int, line: bytes) -> int:
        told, self.next = self.next, None
        if isinstance(told, int):
            return os.write(fd, line[:told])
        if told is not None:
            raise told
        return os.write(fd, line)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def fill(path: Path, count: int = 3) -> bytes:
    journal = open_journal(path)
    for turn in range(1, count + 1):
        journal.append("hold", Held(turn, 1, Amounts(tokens=turn)))
    journal.close()
    return path.read_bytes()


def numbers(path: Path) -> list[int]:
    return [entry.seq for entry in read_journal(path)]


def append_many(journal: Journal, count: int) -> None:
    for _ in range(count):
        journal.append("outcome", Outcomed("c", "ok", "x" * 3_000))


def wait_for_size(path: Path, size: int) -> None:
    deadline = time.monotonic() + 10
    while (path.stat().st_size if path.exists() else 0) < size:
        assert time.monotonic() < deadline, f"{path} never grew to {size} bytes"
        time.sleep(0.005)


def writer(path: Path, entries: int) -> subprocess.Popen[bytes]:
    """A process that locks a journal, writes so many entries and waits for its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(entries)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate(timeout=10)


def test_entries_are_numbered_from_one_and_read_back_in_order(path: Path) -> None:
    fill(path)
    journal = open_journal(path)
    assert [entry.seq for entry in journal.entries] == [1, 2, 3]
    assert journal.append("pause", Paused(True)) == journal.seq == 4
    journal.close()
    assert [entry.type for entry in read_journal(path)] == ["hold", "hold", "hold", "pause"]


def test_a_new_journal_is_for_its_owner_alone(path: Path) -> None:
    fill(path, 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert numbers(path) == []


def test_times_are_rfc_3339_in_utc(path: Path) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", utc_now())


def test_a_file_cut_at_any_byte_is_repaired_on_open_and_goes_on(path: Path) -> None:
    content = fill(path, 2)
    first = content.index(b"\n") + 1
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        journal = open_journal(path)
        kept = 2 if cut == len(content) else 1 if cut >= first else 0
        assert (journal.seq, path.stat().st_size) == (kept, [0, first, len(content)][kept])
        journal.append("pause", Paused(False))
        journal.close()
        assert numbers(path) == list(range(1, kept + 2))


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, 10_000), rubbish=st.sampled_from([b"", b"\0" * 16, b"\0\n", b'{"v":1,"seq":', b"\xf0\x9f"]))
def test_a_torn_tail_of_any_kind_is_cut_on_open(
    tmp_path_factory: pytest.TempPathFactory, cut: int, rubbish: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    content = fill(path, 5)
    ends = [match.end() for match in re.finditer(b"\n", content)]
    cut = ends[0] + cut % (len(content) - ends[0])
    path.write_bytes(content[:cut] + rubbish)
    whole = sum(1 for end in ends if end <= cut)
    journal = open_journal(path)
    assert (journal.seq, path.stat().st_size) == (whole, ends[whole - 1])
    journal.close()


@pytest.mark.parametrize("content", [b"# notes\n", b'{"v":2,"seq":1}\n'])
def test_a_file_that_cannot_be_read_is_left_as_it_is_and_unlocked(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(RemoteProtocolError, match="no journal|version"):
            open_journal(path)
    assert path.read_bytes() == content


def test_damage_in_the_middle_is_an_error_and_cuts_nothing(path: Path) -> None:
    content = fill(path, 3).replace(b'"turn":2', b'"turn":9')
    path.write_bytes(content)
    with pytest.raises(RemoteProtocolError, match="damaged: journal entry 2 at byte"):
        open_journal(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "told", [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "I/O error"), 0, 1, 60]
)
def test_a_failed_or_short_append_leaves_the_file_as_it_was_and_the_next_one_works(
    path: Path, told: int | OSError
) -> None:
    before = fill(path)
    seam = Seam()
    journal = open_journal(path, seam)
    seam.next = told
    with pytest.raises(OSError, match="No space|I/O error|bytes written"):
        journal.append("hold", Held(4, 1, Amounts(tokens=4)))
    assert (path.read_bytes(), journal.seq) == (before, 3)
    assert journal.append("hold", Held(4, 1, Amounts(tokens=4))) == 4
    journal.close()
    assert numbers(path) == [1, 2, 3, 4]


def test_an_append_that_could_not_be_cut_off_is_cut_before_the_next_one(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seam = Seam()
    journal = open_journal(path, seam)
    with monkeypatch.context() as broken:
        broken.setattr(os, "ftruncate", _refuse)
        seam.next = 20
        with pytest.raises(OSError, match="read-only"):
            journal.append("pause", Paused(True))
    assert path.stat().st_size == 20
    assert journal.append("pause", Paused(True)) == 1
    journal.close()
    assert numbers(path) == [1]


def _refuse(fd: int, size: int) -> None:
    raise OSError(errno.EROFS, "read-only")


def test_an_exception_of_a_signal_handler_in_an_append_leaves_no_double_number(path: Path) -> None:
    def written_then_interrupted(fd: int, line: bytes) -> int:
        os.write(fd, line)
        if b'"turn":1' in line:
            raise KeyboardInterrupt
        return len(line)

    journal = open_journal(path, written_then_interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.append("hold", Held(1, 1, Amounts()))
    assert journal.append("hold", Held(2, 1, Amounts())) == 1
    journal.close()
    assert numbers(path) == [1]


def test_text_that_is_no_unicode_changes_nothing(path: Path) -> None:
    before = fill(path)
    journal = open_journal(path)
    with pytest.raises(LocalProtocolError):
        journal.append("outcome", Outcomed("c", "ok", "\udc80"))
    assert (path.read_bytes(), journal.append("pause", Paused(True))) == (before, 4)
    journal.close()


def test_a_full_disk_leaves_a_good_journal_and_an_error_for_the_caller(tmp_path: Path) -> None:
    """A file size limit makes write(2) itself fall short, and then fail, as a full disk does."""
    path = tmp_path / "journal.jsonl"
    script = WRITER.replace(
        'print("open", flush=True)', "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))"
    )
    failed = subprocess.run(
        [sys.executable, "-B", "-c", script, str(path), "100"],  # -B: a cut .pyc would break everybody's next import
        capture_output=True,
        text=True,
        timeout=20,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "OSError" in failed.stderr
    assert numbers(path) == list(range(1, path.read_bytes().count(b"\n") + 1))
    assert 9_000 < path.stat().st_size <= 10_000


def test_a_really_full_file_system_leaves_a_good_journal_and_room_makes_it_go_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 40_000)
        journal = open_journal(disk / "journal.jsonl")
        with pytest.raises(OSError, match="No space left|bytes written"):
            append_many(journal, 100)
        full = journal.seq
        assert numbers(journal.path) == list(range(1, full + 1))
        ballast.unlink()
        assert journal.append("pause", Paused(True)) == full + 1
        journal.close()
        assert numbers(journal.path) == list(range(1, full + 2))
    finally:
        subprocess.run(["umount", str(disk)], capture_output=True, check=False)


def test_a_second_writer_in_another_process_is_refused_until_the_first_is_killed(path: Path) -> None:
    first = writer(path, 0)
    try:
        with pytest.raises(JournalLocked, match="is being written by somebody else"):
            open_journal(path)
    finally:
        end(first)
    open_journal(path).close()


def test_a_second_writer_in_the_same_process_is_refused_until_the_first_closes(path: Path) -> None:
    first = open_journal(path)
    with pytest.raises(JournalLocked):
        open_journal(path)
    first.close()
    open_journal(path).close()


def test_a_refused_writer_has_touched_nothing_and_leaks_no_descriptor(path: Path) -> None:
    fill(path)
    first = open_journal(path)
    path.write_bytes(path.read_bytes() + b"half a line of the first")
    before, fds = path.read_bytes(), len(os.listdir("/proc/self/fd"))
    with pytest.raises(JournalLocked):
        open_journal(path)
    assert (path.read_bytes(), len(os.listdir("/proc/self/fd"))) == (before, fds)
    first.close()


def test_an_exec_does_not_carry_the_lock_along(path: Path) -> None:
    journal = open_journal(path)
    script = "print('up', flush=True); input()"
    heir = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False
    )
    try:
        assert heir.stdout is not None
        assert heir.stdout.readline() == b"up\n"
        journal.close()
        open_journal(path).close()
    finally:
        end(heir)


def test_a_closed_journal_takes_no_entry_and_closes_nobody_elses_descriptor(path: Path, tmp_path: Path) -> None:
    journal = open_journal(path)
    journal.close()
    other = os.open(tmp_path / "other", os.O_CREAT | os.O_RDWR)
    journal.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        journal.append("pause", Paused(True))
    assert os.fstat(other).st_size == 0
    os.close(other)


def test_a_writer_killed_at_a_random_moment_leaves_a_journal_that_goes_on(path: Path) -> None:
    for size in (50_000, 400_000, 1_000_000):
        process = writer(path, 20_000)
        try:
            wait_for_size(path, size)
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=10)
        found = numbers(path)
        assert found == list(range(1, len(found) + 1))
        journal = open_journal(path)
        assert journal.seq == len(found)
        journal.close()


def test_a_reader_beside_a_writer_never_sees_half_an_entry(path: Path) -> None:
    process = writer(path, 20_000)
    try:
        found: list[int] = []
        deadline = time.monotonic() + 30
        while len(found) < 20_000:
            assert time.monotonic() < deadline
            found = numbers(path)
            assert found == list(range(1, len(found) + 1))
    finally:
        end(process)


def test_an_append_costs_microseconds(path: Path) -> None:
    journal = open_journal(path)
    held = Held(1, 1, Amounts(tokens=900))
    started = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(2_000):
        journal.append("hold", held)
    ended = resource.getrusage(resource.RUSAGE_SELF)
    journal.close()
    cpu_s = ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime
    assert cpu_s / 2_000 < 250e-6
