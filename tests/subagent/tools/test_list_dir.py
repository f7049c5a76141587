"""list_dir shows the names of a folder in order, within its bound, and how to see the rest."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from subagent.tools import list_dir
from subagent.tools.beneath import Root
from subagent.tools.list_dir import ListDir
from subagent.tools.types import ToolFailed, ToolRefused


def listing(root: Root, arguments: bytes = b"", result_bytes: int = 32_768) -> str:
    return ListDir(root, result_bytes).prepare(arguments).run()


def test_every_kind_of_entry_is_told_apart(root: Root, inside: Path) -> None:
    (inside / "b.txt").write_text("four")
    (inside / "folder").mkdir()
    (inside / "a_link").symlink_to("b.txt")
    (inside / "two\nlines").touch()
    os.mkfifo(inside / "pipe")
    assert listing(root).split("\n") == [
        "a_link (symbolic link)",
        "b.txt (4 bytes)",
        "folder/",
        "pipe (FIFO, socket or device)",
        r"'two\nlines' (0 bytes)",
    ]


def test_a_folder_below_and_a_link_to_a_folder_inside_are_listed(root: Root, inside: Path) -> None:
    (inside / "sub").mkdir()
    (inside / "sub" / "a.txt").touch()
    (inside / "link").symlink_to("sub")
    assert listing(root, b'{"path":"sub"}') == listing(root, b'{"path":"link"}') == "a.txt (0 bytes)"


def test_an_empty_folder_is_said_to_be_empty(root: Root) -> None:
    assert listing(root) == "[the folder is empty]"


def test_a_long_listing_can_be_followed_to_its_end(root: Root, inside: Path) -> None:
    names = sorted(f"file_{number:04}.txt" for number in range(300))
    for name in names:
        (inside / name).touch()
    found: list[str] = []
    after = ""
    while True:
        part = listing(root, b'{"after":"%s"}' % after.encode(), 1_500)
        assert len(part.encode()) <= 1_500
        found += re.findall(r"^(\S+) \(0 bytes\)$", part, re.MULTILINE)
        goes_on = re.search(r"\[(\d+) more entries; after='(.+)' goes on\]$", part)
        if goes_on is None:
            break
        assert int(goes_on[1]) == len(names) - len(found)
        after = goes_on[2]
    assert found == names


def test_nothing_behind_the_last_name_is_said_so(root: Root, inside: Path) -> None:
    (inside / "a.txt").touch()
    assert listing(root, b'{"after":"zzz"}') == "[none of the 1 entries sorts after 'zzz']"


def test_more_entries_than_are_looked_at_are_said_to_be_left_out(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_dir, "MAX_ENTRIES", 2)
    for name in "abc":
        (inside / name).touch()
    assert "[the folder has more than 2 entries; the others were not looked at]" in listing(root)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (b"a.txt", "is a file, not a folder: read_file"),
        (b"..", "leads out of the workspace"),
        (b"out", "leads out of the workspace"),
        (b"nothing", "does not exist"),
    ],
)
def test_what_is_no_folder_of_the_workspace_fails_in_words(
    root: Root, inside: Path, outside: Path, path: bytes, told: str
) -> None:
    (inside / "a.txt").touch()
    (inside / "out").symlink_to("../outside")
    with pytest.raises(ToolFailed, match=told):
        listing(root, b'{"path":"%s"}' % path)


def test_a_bad_argument_is_refused_before_anything_is_read(root: Root) -> None:
    with pytest.raises(ToolRefused, match="path: Expected `str`, got `int`"):
        listing(root, b'{"path":1}')
