"""A file is replaced in one step, inside the root, only if nobody changed it, whatever is swapped around it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from subagent.tools import content
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.content import read_content
from subagent.tools.replace import Replacement, image, read_original
from subagent.tools.types import ToolFailed

SWAPS = 2_000


def planned(root: Root, path: str, data: bytes) -> Replacement:
    original = read_original(root, path)
    return Replacement(root, image(path, original.data if original else None, data), data, "done")


def replace(root: Root, path: str, data: bytes) -> str:
    return planned(root, path, data).run()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_image_is_the_files_digest_before_and_after(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_bytes(b"old")
    planned_image = planned(root, "a.txt", b"new").image
    assert (planned_image.before_sha256, planned_image.after_sha256) == (sha256(b"old"), sha256(b"new"))
    assert planned(root, "deep/new.txt", b"new").image.before_sha256 is None


def test_planning_changes_nothing(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_bytes(b"old")
    planned(root, "a.txt", b"new")
    planned(root, "deep/new.txt", b"new")
    assert [entry.name for entry in inside.iterdir()] == ["a.txt"]
    assert (inside / "a.txt").read_bytes() == b"old"


def test_a_new_file_gets_its_folders_and_the_usual_mode(root: Root, inside: Path) -> None:
    replace(root, "a/b/new.txt", b"new")
    assert (inside / "a/b/new.txt").read_bytes() == b"new"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((inside / "a/b/new.txt").stat().st_mode) == 0o666 & ~umask


def test_a_replaced_file_keeps_its_mode_without_set_id_bits(root: Root, inside: Path) -> None:
    (inside / "run.sh").write_bytes(b"old")
    (inside / "run.sh").chmod(0o4751)
    replace(root, "run.sh", b"new")
    assert stat.S_IMODE((inside / "run.sh").stat().st_mode) == 0o751


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_replaced_file_keeps_its_owner(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_bytes(b"old")
    os.chown(inside / "a.txt", 1234, 4321)
    replace(root, "a.txt", b"new")
    assert ((inside / "a.txt").stat().st_uid, (inside / "a.txt").stat().st_gid) == (1234, 4321)


def test_nothing_else_is_left_in_the_folder(root: Root, inside: Path) -> None:
    replace(root, "a.txt", b"one")
    replace(root, "a.txt", b"two")
    assert [entry.name for entry in inside.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("meanwhile", [b"changed by another", None])
def test_a_file_that_changed_since_the_plan_is_left_alone(root: Root, inside: Path, meanwhile: bytes | None) -> None:
    (inside / "a.txt").write_bytes(b"old")
    plan = planned(root, "a.txt", b"new")
    (inside / "a.txt").unlink()
    if meanwhile is not None:
        (inside / "a.txt").write_bytes(meanwhile)
    with pytest.raises(ToolFailed, match="changed by somebody else"):
        plan.run()
    assert ((inside / "a.txt").read_bytes() if meanwhile else None) == meanwhile


def test_a_file_that_appeared_since_the_plan_is_left_alone(root: Root, inside: Path) -> None:
    plan = planned(root, "a.txt", b"new")
    (inside / "a.txt").write_bytes(b"somebody's")
    with pytest.raises(ToolFailed, match="changed by somebody else"):
        plan.run()
    assert (inside / "a.txt").read_bytes() == b"somebody's"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("link", "is a symbolic link"),
        ("link_out", "is a symbolic link"),
        ("folder", "is a folder"),
        ("fifo", "is a FIFO"),
    ],
)
def test_what_is_no_regular_file_is_not_replaced(root: Root, inside: Path, outside: Path, path: str, told: str) -> None:
    (inside / "a.txt").write_bytes(b"old")
    (inside / "link").symlink_to("a.txt")
    (inside / "link_out").symlink_to("../outside/secret.txt")
    (inside / "folder").mkdir()
    os.mkfifo(inside / "fifo")
    with pytest.raises(PathRefused, match=told):
        planned(root, path, b"new")
    assert (outside / "secret.txt").read_text() == "outside"


def test_a_file_too_large_to_compare_is_not_replaced(root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (inside / "a.txt").write_bytes(b"0123456789abc")
    monkeypatch.setattr(content, "MAX_FILE_BYTES", 10)
    with pytest.raises(PathRefused, match="13 bytes"):
        planned(root, "a.txt", b"new")


def test_a_failed_write_leaves_the_old_file_and_no_other(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "a.txt").write_bytes(b"old")
    plan = planned(root, "a.txt", b"new")

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("subagent.tools.replace.os.write", full)
    with pytest.raises(ToolFailed, match="No space left on device"):
        plan.run()
    assert [entry.name for entry in inside.iterdir()] == ["a.txt"]
    assert (inside / "a.txt").read_bytes() == b"old"


def test_a_cancel_in_the_middle_leaves_no_temporary_file(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(fd: int, mode: int) -> None:
        raise KeyboardInterrupt

    (inside / "a.txt").write_bytes(b"new")
    plan = planned(root, "a.txt", b"newer")
    monkeypatch.setattr("subagent.tools.replace.os.fchmod", cancelled)
    with pytest.raises(KeyboardInterrupt):
        plan.run()
    assert [entry.name for entry in inside.iterdir()] == ["a.txt"]


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[threading.Thread]:
    """Run `work` in a thread until it returns or the block ends."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,))
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def test_a_reader_sees_the_old_content_or_the_new_one_and_nothing_between(root: Root, inside: Path) -> None:
    contents = [letter * 300_000 for letter in (b"a", b"b")]
    replace(root, "a.txt", contents[0])
    seen: set[bytes] = set()

    def read(stop: threading.Event) -> None:
        while not stop.is_set():
            seen.add((inside / "a.txt").read_bytes())

    with beside(read):
        for round_number in range(200):
            replace(root, "a.txt", contents[round_number % 2])
    assert seen <= set(contents)
    assert seen


class Swapper:
    """Swaps an entry for a link and back, over and over. Each swap is one step: the name is never missing."""

    def __init__(self, swap: Callable[[], None]) -> None:
        self.swaps = 0
        self._swap = swap

    def __call__(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self._swap()
            self.swaps += 1


def exchange(one: Path, other: Path) -> Callable[[], None]:
    """Two entries change names with each other."""
    libc = ctypes.CDLL(None, use_errno=True)

    def swap() -> None:
        assert libc.renameat2(-100, bytes(one), -100, bytes(other), 2) == 0, os.strerror(ctypes.get_errno())

    return swap


def cover(target: Path, aside: Path, link_to: str) -> Callable[[], None]:
    """A link is put over a file, then a file over the link."""

    def swap() -> None:
        aside.symlink_to(link_to)
        aside.replace(target)
        aside.write_text("inside")
        aside.replace(target)

    return swap


def attack(root: Root, path: str, written_path: str, swapper: Swapper) -> tuple[set[bytes], int, int]:
    """Read and write while entries are swapped: what was read, how often both worked, how often one was refused."""
    read: set[bytes] = set()
    done = refused = 0
    with beside(swapper):
        while swapper.swaps < SWAPS or done + refused < 1_000 or not (done and refused):
            try:
                read.add(read_content(root, path).data)
                replace(root, written_path, b"ours")
                done += 1
            except (PathRefused, ToolFailed):
                refused += 1
    return read, done, refused


def test_a_folder_swapped_for_a_link_lets_nothing_out_and_nothing_in(root: Root, inside: Path, outside: Path) -> None:
    (inside / "d").mkdir()
    (inside / "d" / "secret.txt").write_text("inside")
    (inside / "link").symlink_to("../outside")
    read, done, refused = attack(root, "d/secret.txt", "d/new.txt", Swapper(exchange(inside / "d", inside / "link")))
    assert read == {b"inside"}
    assert done
    assert refused
    assert [entry.name for entry in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == "outside"


def test_a_file_swapped_for_a_link_is_never_read_or_written_through(root: Root, inside: Path, outside: Path) -> None:
    (inside / "a.txt").write_text("inside")
    swapper = Swapper(cover(inside / "a.txt", inside / "aside", "../outside/secret.txt"))
    read, done, refused = attack(root, "a.txt", "a.txt", swapper)
    assert read <= {b"inside", b"ours"}
    assert done
    assert refused
    assert (outside / "secret.txt").read_text() == "outside"
