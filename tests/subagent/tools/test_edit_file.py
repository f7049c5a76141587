"""edit_file changes exactly the text that was meant, or nothing."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import msgspec
import pytest

from subagent.tools import edit_file
from subagent.tools.beneath import Root
from subagent.tools.edit_file import EditFile
from subagent.tools.types import ToolFailed, ToolRefused


def edit(root: Root, arguments: bytes) -> str:
    return EditFile(root).prepare(arguments).run()


def test_a_text_that_occurs_once_is_replaced(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("one\r\ntwo é\nthree\n", newline="")
    assert edit(root, '{"path":"a.txt","old":"two é","new":"2"}'.encode()) == "'a.txt' has been changed in 1 place"
    assert (inside / "a.txt").read_bytes() == b"one\r\n2\nthree\n"


def test_all_occurrences_are_replaced_if_asked_for(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("x x x")
    assert edit(root, b'{"path":"a.txt","old":"x","new":"y","all":true}') == "'a.txt' has been changed in 3 places"
    assert (inside / "a.txt").read_text() == "y y y"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b'{"path":"a.txt","old":"gone","new":""}', "old: does not occur in 'a.txt': copy it exactly from read_file"),
        (b'{"path":"a.txt","old":"one two","new":""}', "old: does not occur in 'a.txt' with this white space"),
        (b'{"path":"crlf.txt","old":"a\\nb","new":""}', "old: does not occur in 'crlf.txt', whose lines end in CR LF"),
        (
            b'{"path":"a.txt","old":"x","new":"y"}',
            r"old: occurs 7 times in 'a.txt' \(lines 3, 3, 4, 5, 6, …\): give more",
        ),
        (b'{"path":"a.txt","old":"","new":"y"}', "old: Expected `str` of length >= 1"),
        (b'{"path":"a.txt","old":"x","new":"x","all":true}', "old and new are the same"),
        (b'{"path":"none.txt","old":"x","new":"y"}', "'none.txt' does not exist: write_file makes a new file"),
        (b'{"path":"latin.txt","old":"x","new":"y"}', r"'latin.txt' is not UTF-8 text \(byte 3\)"),
        (b'{"path":"link","old":"one","new":"y"}', "is a symbolic link"),
        (b'{"path":"../x","old":"x","new":"y"}', "has '..' in it"),
        (b'{"path":"a.txt","old":"x"}', "new is missing"),
    ],
)
def test_an_edit_that_is_not_clear_is_refused_and_changes_nothing(
    root: Root, inside: Path, arguments: bytes, told: str
) -> None:
    text = "one\n  two\nx x\nx\nx\nx\nx x\n"
    (inside / "a.txt").write_text(text)
    (inside / "crlf.txt").write_bytes(b"a\r\nb\r\n")
    (inside / "latin.txt").write_bytes(b"caf\xe9")
    (inside / "link").symlink_to("a.txt")
    with pytest.raises(ToolRefused, match=told):
        EditFile(root).prepare(arguments)
    assert (inside / "a.txt").read_text() == text


def test_a_file_that_changed_since_the_plan_is_left_alone(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("old text")
    call = EditFile(root).prepare(b'{"path":"a.txt","old":"old","new":"new"}')
    (inside / "a.txt").write_text("old text, and more")
    with pytest.raises(ToolFailed, match="changed by somebody else"):
        call.run()
    assert (inside / "a.txt").read_text() == "old text, and more"


def test_a_result_over_the_bound_is_refused(root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (inside / "a.txt").write_text("x")
    monkeypatch.setattr(edit_file, "MAX_FILE_BYTES", 3)
    with pytest.raises(ToolRefused, match="would have 4 bytes, at most 3 can be written"):
        EditFile(root).prepare(b'{"path":"a.txt","old":"x","new":"abcd"}')
    with pytest.raises(ToolRefused, match="would have 4 bytes"):
        EditFile(root).prepare('{"path":"a.txt","old":"x","new":"éé"}'.encode())


def test_a_result_of_gigabytes_is_refused_before_it_is_built(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("abc\n" * 1_000_000)
    call = msgspec.json.encode({"path": "a.txt", "old": "a", "new": "x" * 4_000, "all": True})
    tracemalloc.start()
    try:
        with pytest.raises(ToolRefused, match="'a.txt' would have 4003000000 bytes, at most 16777216 can be written"):
            EditFile(root).prepare(call)
        assert tracemalloc.get_traced_memory()[1] < 64 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_an_edit_may_bring_a_file_to_the_bound_exactly(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "a.txt").write_text("x-x-")
    monkeypatch.setattr(edit_file, "MAX_FILE_BYTES", 8)
    edit(root, '{"path":"a.txt","old":"x","new":"yé","all":true}'.encode())
    assert (inside / "a.txt").read_text() == "yé-yé-"


def test_its_nature_is_declared(root: Root) -> None:
    nature = EditFile(root).spec.nature
    assert (nature.mutating, nature.repeatable, nature.parallel_safe) == (True, False, False)
