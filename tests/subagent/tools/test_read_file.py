"""read_file shows a text as it is, within its bound, and says what is left out and how to go on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.tools.beneath import Root
from subagent.tools.content import Content
from subagent.tools.read_file import ReadFile, ReadFileArguments, show_lines
from subagent.tools.types import ToolFailed, ToolRefused


def read(root: Root, arguments: bytes, result_bytes: int = 32_768) -> str:
    return ReadFile(root, result_bytes).prepare(arguments).run()


def test_a_whole_file_is_its_text_and_nothing_else(root: Root, inside: Path) -> None:
    text = "one\r\ntwo\n\nthree \N{GRINNING FACE}"
    (inside / "a.txt").write_text(text, newline="")
    assert read(root, b'{"path":"a.txt"}') == text


def test_an_empty_file_is_said_to_be_empty(root: Root, inside: Path) -> None:
    (inside / "a.txt").touch()
    assert read(root, b'{"path":"a.txt"}') == "[the file is empty]"


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        (b'"offset_line":3', "3\n4\n5\n[lines 3 to 5 of 5 are shown]"),
        (b'"limit_lines":2', "1\n2\n[lines 1 to 2 of 5 are shown; offset_line=3 goes on]"),
        (b'"offset_line":2,"limit_lines":1', "2\n[lines 2 to 2 of 5 are shown; offset_line=3 goes on]"),
        (b'"limit_lines":99', "1\n2\n3\n4\n5\n"),
        (b'"limit_lines":null', "1\n2\n3\n4\n5\n"),
    ],
)
def test_lines_are_chosen_by_offset_and_limit(root: Root, inside: Path, more: bytes, shown: str) -> None:
    (inside / "a.txt").write_text("1\n2\n3\n4\n5\n")
    assert read(root, b'{"path":"a.txt",%s}' % more) == shown


def test_a_line_past_the_end_is_an_error_that_tells_how_long_the_file_is(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("1\n2\n")
    with pytest.raises(ToolFailed, match="'a.txt' has 2 lines: there is no line 3"):
        read(root, b'{"path":"a.txt","offset_line":3}')


def test_a_long_file_can_be_read_to_its_end_by_following_the_notes(root: Root, inside: Path) -> None:
    text = "".join(f"{number} {'é' * (number % 40)}\n" for number in range(2_000))
    (inside / "a.txt").write_text(text)
    found, offset = "", 1
    while offset:
        part = read(root, b'{"path":"a.txt","offset_line":%d}' % offset, 4_000)
        assert len(part.encode()) <= 4_000
        note = re.search(r"\[lines \d+ to \d+ of 2000 are shown(?:; offset_line=(\d+) goes on)?\]$", part)
        assert note is not None
        found += part[: note.start()]
        offset = int(note[1] or 0)
    assert found == text


@pytest.mark.parametrize(("rest", "told"), [("\nnext\n", "; offset_line=2 goes on behind it"), ("", "")])
def test_a_line_longer_than_the_bound_is_cut_and_said_to_be(root: Root, inside: Path, rest: str, told: str) -> None:
    (inside / "a.txt").write_text("é" * 5_000 + rest)
    shown = read(root, b'{"path":"a.txt"}', 2_000)
    assert len(shown.encode()) <= 2_000
    assert re.fullmatch(
        rf"é+\n\[line 1 of {2 if rest else 1} is too long and is cut here, search finds text in the rest of it{told}\]",
        shown,
    )


def test_bytes_that_are_no_text_are_shown_replaced_and_said_so(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_bytes(b"caf\xe9 latin\n")
    assert read(root, b'{"path":"a.txt"}') == "caf\ufffd latin\n[bytes that are not UTF-8 are shown as \ufffd]"


def test_a_binary_file_has_no_text_to_show(root: Root, inside: Path) -> None:
    (inside / "a.png").write_bytes(b"\x89PNG\0")
    with pytest.raises(ToolFailed, match="'a.png' is a binary file of 5 bytes"):
        read(root, b'{"path":"a.png"}')


def test_what_lies_behind_the_readable_part_of_a_huge_file_is_said_to_be_left_out() -> None:
    shown = show_lines(Content(b"1\n2\n", 20_000_000), ReadFileArguments("a.txt"), 1_000)
    assert shown == "1\n2\n[only the first 16777216 of the file's 20000000 bytes can be read]"


def test_a_path_that_leads_out_fails_and_a_bad_argument_is_refused(root: Root) -> None:
    with pytest.raises(ToolFailed, match="leads out of the workspace"):
        read(root, b'{"path":"../outside/secret.txt"}')
    with pytest.raises(ToolRefused, match="offset_line: Expected `int` >= 1"):
        read(root, b'{"path":"a","offset_line":0}')


@given(st.binary(max_size=400), st.integers(1, 30), st.integers(1, 500))
def test_a_result_never_exceeds_its_bound(data: bytes, offset: int, result_bytes: int) -> None:
    try:
        shown = show_lines(Content(data, len(data)), ReadFileArguments("a.txt", offset), result_bytes)
    except ToolFailed:
        return
    assert len(shown.encode()) <= result_bytes


def test_reading_changes_nothing_and_may_run_beside_others(root: Root) -> None:
    tool = ReadFile(root, 1_000)
    assert not tool.spec.nature.mutating
    assert tool.spec.nature.repeatable
    assert tool.spec.nature.parallel_safe
    assert tool.prepare(b'{"path":"a"}').image is None
