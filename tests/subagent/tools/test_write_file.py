"""write_file leaves exactly the given content, and says what it did."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from subagent.tools import write_file
from subagent.tools.beneath import Root
from subagent.tools.types import ToolFailed, ToolRefused
from subagent.tools.write_file import WriteFile


def test_a_new_file_is_written_with_its_folders(root: Root, inside: Path) -> None:
    call = WriteFile(root).prepare(b'{"path":"out/a.txt","content":"h\xc3\xa9\\n"}')
    assert not (inside / "out").exists()
    assert call.run() == "'out/a.txt' has been written: 4 bytes, a new file"
    assert (inside / "out/a.txt").read_text() == "hé\n"
    assert call.image.path == "out/a.txt"
    assert call.image.before_sha256 is None
    assert call.image.after_sha256 == hashlib.sha256("hé\n".encode()).hexdigest()


def test_an_existing_file_is_replaced_and_the_same_call_again_gives_the_same_file(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("older")
    for told in ("instead of 5 bytes before", "instead of 3 bytes before"):
        call = WriteFile(root).prepare(b'{"path":"a.txt","content":"new"}')
        assert call.run() == f"'a.txt' has been written: 3 bytes, {told}"
    assert (inside / "a.txt").read_text() == "new"
    assert call.image.before_sha256 == call.image.after_sha256


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b'{"path":"../outside/new.txt","content":""}', "has '..' in it"),
        (b'{"path":"/new.txt","content":""}', "is absolute"),
        (b'{"path":"out/new.txt","content":""}', "leads out of the workspace"),
        (b'{"path":"folder","content":""}', "is a folder"),
        (b'{"path":"a.txt"}', "content is missing"),
        (b'{"path":"a.txt","content":5}', "content: Expected `str`, got `int`"),
        (b'{"path":"a.txt","content":"x","mode":"a"}', "there is no argument 'mode'"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_happens(
    root: Root, inside: Path, outside: Path, arguments: bytes, told: str
) -> None:
    (inside / "out").symlink_to("../outside")
    (inside / "folder").mkdir()
    with pytest.raises(ToolRefused, match=told):
        WriteFile(root).prepare(arguments)
    assert sorted(entry.name for entry in inside.iterdir()) == ["folder", "out"]
    assert [entry.name for entry in outside.iterdir()] == ["secret.txt"]


def test_content_over_the_bound_is_refused(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_file, "MAX_FILE_BYTES", 3)
    with pytest.raises(ToolRefused, match="content: has 4 bytes, at most 3 can be written"):
        WriteFile(root).prepare(b'{"path":"a.txt","content":"abcd"}')


def test_a_folder_swapped_for_a_link_after_the_plan_fails_without_a_trace(
    root: Root, inside: Path, outside: Path
) -> None:
    (inside / "d").mkdir()
    call = WriteFile(root).prepare(b'{"path":"d/secret.txt","content":"ours"}')
    (inside / "d").rmdir()
    (inside / "d").symlink_to("../outside")
    with pytest.raises(ToolFailed, match="leads out of the workspace"):
        call.run()
    assert (outside / "secret.txt").read_text() == "outside"


def test_its_nature_is_declared(root: Root) -> None:
    nature = WriteFile(root).spec.nature
    assert (nature.mutating, nature.repeatable, nature.parallel_safe) == (True, True, False)
