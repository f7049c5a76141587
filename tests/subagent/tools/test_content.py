"""Files are read within a bound, and binary ones are told apart."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from subagent.tools import content
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.content import read_content


def test_a_small_file_is_read_whole(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("text")
    found = read_content(root, "a.txt")
    assert (found.data, found.size_bytes, found.whole, found.binary) == (b"text", 4, True, False)


def test_of_a_large_file_the_beginning_is_read_and_its_size_is_known(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "MAX_FILE_BYTES", 10)
    (inside / "a.txt").write_text("0123456789abc")
    found = read_content(root, "a.txt")
    assert (found.data, found.size_bytes, found.whole) == (b"0123456789", 13, False)


def test_a_file_with_a_nul_near_its_start_is_binary(root: Root, inside: Path) -> None:
    (inside / "a.png").write_bytes(b"\x89PNG\0\0")
    assert read_content(root, "a.png").binary


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused_in_words(root: Root, inside: Path) -> None:
    (inside / "a.txt").touch(mode=0o000)
    with pytest.raises(PathRefused, match="permission denied"):
        read_content(root, "a.txt")
