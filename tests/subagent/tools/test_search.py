"""search finds a literal text in the workspace's text files, within its bounds, and says what it passed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from subagent.tools import search
from subagent.tools.beneath import Root
from subagent.tools.search import Search
from subagent.tools.types import ToolFailed, ToolRefused


def find(root: Root, arguments: bytes, result_bytes: int = 32_768) -> str:
    return Search(root, result_bytes).prepare(arguments).run()


@pytest.fixture
def files(inside: Path) -> None:
    for path, text in {
        "a.py": "import os\nneedle = 1\n",
        "src/b.py": "Needle here\nno\n  needle there",
        "src/c.txt": "needle",
        ".git/config": "needle",
    }.items():
        (inside / path).parent.mkdir(exist_ok=True)
        (inside / path).write_text(text)
    (inside / "d.bin").write_bytes(b"\0needle")


@pytest.mark.usefixtures("files")
def test_matches_are_given_with_path_and_line(root: Root) -> None:
    assert find(root, b'{"text":"needle"}').split("\n") == [
        "a.py:2: needle = 1",
        "src/b.py:3:   needle there",
        "src/c.txt:1: needle",
        "[3 matches in 3 text files; 1 binary files passed by]",
    ]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "matched"),
    [
        (b'{"text":"needle","glob":"*.py"}', ["a.py:2", "src/b.py:3"]),
        (b'{"text":"needle","glob":"src/*.py"}', ["src/b.py:3"]),
        (b'{"text":"needle","path":"src"}', ["src/b.py:3", "src/c.txt:1"]),
        (b'{"text":"needle","path":"./src/b.py"}', ["./src/b.py:3"]),
        (b'{"text":"NEEDLE","ignore_case":true,"path":"src/b.py"}', ["src/b.py:1", "src/b.py:3"]),
        (b'{"text":"nowhere"}', []),
    ],
)
def test_path_glob_and_case_narrow_the_search(root: Root, arguments: bytes, matched: list[str]) -> None:
    lines = find(root, arguments).split("\n")[:-1]
    assert [line.rsplit(": ", 1)[0] for line in lines] == matched


@pytest.mark.usefixtures("files")
def test_no_match_says_how_much_was_searched(root: Root) -> None:
    assert find(root, b'{"text":"nowhere","glob":"*.py"}') == "[0 matches in 2 text files]"


def test_a_result_fits_its_bound_and_says_that_there_is_more(root: Root, inside: Path) -> None:
    (inside / "a.txt").write_text("needle é\n" * 5_000)
    shown = find(root, b'{"text":"needle"}', 2_000)
    assert len(shown.encode()) <= 2_000
    assert "matches are shown and there are more; path or glob narrows the search]" in shown


def test_matches_files_and_bytes_are_bounded_by_count(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside / "a.txt").write_text("needle\n" * 20)
    (inside / "b.txt").write_text("needle\n" * 20)
    monkeypatch.setattr(search, "MAX_MATCHES", 3)
    assert "[the first 3 matches are shown and there are more" in find(root, b'{"text":"needle"}')
    monkeypatch.setattr(search, "MAX_MATCHES", 1_000)
    monkeypatch.setattr(search, "MAX_SEARCHED_BYTES", 100)
    assert "[20 matches in 1 text files; stopped after 100 bytes; path or glob narrows" in find(
        root, b'{"text":"needle"}'
    )


def test_a_link_to_the_outside_is_not_followed(root: Root, inside: Path, outside: Path) -> None:
    (inside / "out").symlink_to("../outside")
    (inside / "out.txt").symlink_to("../outside/secret.txt")
    assert find(root, b'{"text":"outside"}') == "[0 matches in 0 text files]"
    with pytest.raises(ToolFailed, match="leads out of the workspace"):
        find(root, b'{"text":"outside","path":"out"}')


def test_a_text_of_two_lines_or_none_is_refused(root: Root) -> None:
    with pytest.raises(ToolRefused, match="text: must be part of one line"):
        find(root, b'{"text":"a\\nb"}')
    with pytest.raises(ToolRefused, match="text: Expected `str` of length >= 1"):
        find(root, b'{"text":""}')


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (b'{"text":"a","glob":"%s"}' % (b"**/" * 500), "glob: Expected `str` of length <= 256"),
        (b'{"text":"%s"}' % (b"a" * 2_000), "text: Expected `str` of length <= 1024"),
    ],
)
def test_a_text_or_a_glob_that_would_cost_too_much_is_refused(root: Root, arguments: bytes, told: str) -> None:
    with pytest.raises(ToolRefused, match=told):
        find(root, arguments)


def test_two_searches_of_the_same_files_give_the_same_text(root: Root, inside: Path) -> None:
    for number in range(50):
        (inside / f"{number}.txt").write_text("needle")
    assert find(root, b'{"text":"needle"}', 1_200) == find(root, b'{"text":"needle"}', 1_200)
