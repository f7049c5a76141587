"""The kernel keeps every path inside the root: hostile paths, hostile files, races, and kernels that cannot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from protocol.errors import SpecError
from subagent.tools.beneath import PathMissing, PathRefused, Root, open_root
from subagent.tools.content import read_content


def read(root: Root, path: str) -> bytes:
    return read_content(root, path).data


@pytest.mark.parametrize(
    "path", ["a.txt", "./a.txt", "sub/../a.txt", "sub/./../a.txt", "sub//b.txt", "to_file", "to_folder/b.txt"]
)
def test_a_path_that_stays_inside_is_read(root: Root, inside: Path, path: str) -> None:
    (inside / "sub").mkdir()
    (inside / "a.txt").write_text("good")
    (inside / "sub" / "b.txt").write_text("good")
    (inside / "to_file").symlink_to("a.txt")
    (inside / "to_folder").symlink_to("sub")
    assert read(root, path) == b"good"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../outside/secret.txt", "leads out of the workspace"),
        ("sub/../../outside/secret.txt", "leads out of the workspace"),
        ("link_out", "leads out of the workspace"),
        ("folder_out/secret.txt", "leads out of the workspace"),
        ("chain_1", "leads out of the workspace"),
        ("absolute_link", "leads out of the workspace"),
        ("link_up/outside/secret.txt", "leads out of the workspace"),
        ("link_to_absolute_inside", "leads out of the workspace"),
        ("/etc/hostname", "is absolute: give a path relative to the workspace"),
        ("//etc/hostname", "is absolute"),
        ("dangling", "does not exist"),
        ("nothing", "does not exist"),
        ("nothing/deeper", "does not exist"),
        ("loop", "symbolic link that cannot be followed"),
        ("", "is empty: give a path"),
        ("a.txt\0.png", "NUL"),
        ("a.txt/", "has a part that is no folder"),
        ("a.txt/x", "has a part that is no folder"),
        ("n" * 256, "is too long to be a path"),
        ("d/" * 2100 + "x", "is too long to be a path"),
        ("fifo", "is a FIFO, a socket or a device"),
        ("socket", "is a FIFO, a socket or a device"),
        ("sub", "is a folder, not a file"),
        (".", "is a folder, not a file"),
    ],
)
def test_a_hostile_path_is_refused_by_name(root: Root, inside: Path, outside: Path, path: str, told: str) -> None:
    (inside / "sub").mkdir()
    (inside / "a.txt").write_text("good")
    (inside / "link_out").symlink_to("../outside/secret.txt")
    (inside / "folder_out").symlink_to("../outside")
    (inside / "chain_1").symlink_to("sub/chain_2")
    (inside / "sub" / "chain_2").symlink_to("../link_out")
    (inside / "absolute_link").symlink_to(outside / "secret.txt")
    (inside / "link_up").symlink_to("..")
    (inside / "link_to_absolute_inside").symlink_to(inside / "a.txt")
    (inside / "dangling").symlink_to("nothing")
    (inside / "loop").symlink_to("loop")
    os.mkfifo(inside / "fifo")
    with socket.socket(socket.AF_UNIX) as bound:
        fd = os.open(inside, os.O_PATH)
        bound.bind(f"/proc/self/fd/{fd}/socket")
        os.close(fd)
        with pytest.raises(PathRefused, match=told):
            read(root, path)


def test_the_absolute_path_of_a_workspace_file_is_refused_with_the_relative_one(root: Root, inside: Path) -> None:
    with pytest.raises(PathRefused, match="give it relative to the workspace, as 'sub/a.txt'"):
        read(root, f"{inside}/sub/a.txt")
    with pytest.raises(PathRefused, match="as '.'"):
        read(root, str(inside))


def test_a_refusal_quotes_no_more_of_a_path_than_fits_a_sentence(root: Root) -> None:
    with pytest.raises(PathRefused) as refused:
        read(root, "x\n" * 10_000)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


def test_a_device_is_refused_without_being_opened(tmp_path: Path) -> None:
    with pytest.raises(PathRefused, match="device"):
        read(open_root("/dev"), "null")


def test_the_kernels_own_files_are_no_workspace_files() -> None:
    everything = open_root("/")
    for path in ("proc/self/environ", "proc/1/stat", "sys/kernel/mm/transparent_hugepage/enabled", "proc"):
        with pytest.raises(PathRefused, match=r"belongs to the kernel|does not exist"), everything.located(path):
            pass


def test_a_magic_link_leads_nowhere() -> None:
    with pytest.raises(PathRefused, match="symbolic link that cannot be followed"):
        read(open_root("/"), "proc/self/root/etc/hostname")


def test_a_missing_entry_is_told_apart_from_a_refused_one(root: Root, outside: Path) -> None:
    with pytest.raises(PathMissing):
        read(root, "nothing")
    with pytest.raises(PathRefused) as refused:
        read(root, "../outside/secret.txt")
    assert not isinstance(refused.value, PathMissing)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../new.txt", "has '..' in it"),
        ("new/../../new.txt", "has '..' in it"),
        ("folder_out/new.txt", "leads out of the workspace"),
        ("folder_out/deep/new.txt", "leads out of the workspace"),
        ("dangling_out/new.txt", "leads out of the workspace|does not exist"),
        ("a.txt/new.txt", "has a part that is no folder"),
        ("new/", "names a folder"),
        ("new/.", "names a folder"),
        (".", "names a folder"),
        ("", "is empty"),
        ("x\0y", "NUL"),
        ("/new.txt", "is absolute"),
    ],
)
def test_no_folder_is_made_outside_or_for_a_path_that_is_no_file(
    root: Root, inside: Path, outside: Path, path: str, told: str
) -> None:
    (inside / "a.txt").write_text("good")
    (inside / "folder_out").symlink_to("../outside")
    (inside / "dangling_out").symlink_to("../outside/not_there")
    before = sorted(entry.name for entry in inside.parent.rglob("*"))
    with pytest.raises(PathRefused, match=told), root.parent(path, make=True):
        pass
    assert sorted(entry.name for entry in inside.parent.rglob("*")) == before


def test_missing_folders_are_made_part_by_part(root: Root, inside: Path) -> None:
    with root.parent("a/./b//c/file.txt", make=True) as (fd, name):
        assert os.path.samestat(os.fstat(fd), (inside / "a/b/c").stat())
        assert name == "file.txt"


def test_the_root_stays_itself_when_its_path_is_renamed(root: Root, inside: Path, outside: Path) -> None:
    (inside / "a.txt").write_text("good")
    inside.rename(inside.with_name("elsewhere"))
    inside.symlink_to(outside)
    assert read(root, "a.txt") == b"good"
    with pytest.raises(PathMissing):
        read(root, "secret.txt")


def test_descriptors_do_not_leak(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("good")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a.txt", "nothing", "../x", "."):
        for _ in range(20):
            try:
                read(root, path)
            except PathRefused:
                continue
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("path", ["relative", "/nothing/of/this/name", "/etc/passwd"])
def test_a_root_that_cannot_be_used_is_a_spec_error(path: str) -> None:
    with pytest.raises(SpecError, match="workspace: "):
        open_root(path)


WITHOUT_OPENAT2 = """
    import ctypes, struct
    from protocol.errors import SpecError
    from protocol.kinship import gain_no_privileges
    from subagent.tools.beneath import open_root

    # Load the system call's number; 437 (openat2) fails with EPERM, everything else is allowed.
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    class Filter(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]
    gain_no_privileges()
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(22, 2, ctypes.byref(Filter(len(steps), ctypes.addressof(program)))) == 0
    try:
        open_root("/")
    except SpecError as error:
        print(error)
"""


def run_python(script: str, *arguments: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_system_without_openat2_has_no_weaker_check_but_a_setup_error() -> None:
    told = run_python(WITHOUT_OPENAT2)
    assert "openat2(2): Linux 5.6 or newer" in told
    assert told.startswith("workspace: ")


HIDDEN_AND_UNPRIVILEGED = """
    import os, sys
    from protocol.kinship import hide_memory
    from subagent.tools.beneath import open_root
    from subagent.tools.content import read_content
    root = open_root(sys.argv[1])
    if os.geteuid() == 0:
        os.setgid(65534); os.setuid(65534)
    hide_memory()
    print(read_content(root, "sub/a.txt").data.decode())
"""


def test_a_process_that_hides_its_memory_reads_all_the_same(inside: Path) -> None:
    (inside / "sub").mkdir()
    (inside / "sub" / "a.txt").write_text("good")
    inside.chmod(0o755)
    assert run_python(HIDDEN_AND_UNPRIVILEGED, str(inside)).strip() == "good"
