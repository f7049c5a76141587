"""Globs match as a shell's do, with ** for any folders, in time that no pattern can blow up."""

from __future__ import annotations

import pytest

from subagent.tools.name_glob import matches, parse_glob


@pytest.mark.parametrize(
    ("glob", "path", "matched"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("a?.txt", "ab.txt", True),
        ("[ab].txt", "b.txt", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("./src/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("src/**/*.py", "lib/a.py", False),
        ("**/test/*", "a/test/b", True),
        ("src/**", "src/a/b", True),
        ("**", "a/b", True),
        ("**/**/a", "a", True),
        ("A.py", "a.py", False),
    ],
)
def test_a_glob_matches_what_a_shell_would(glob: str, path: str, matched: bool) -> None:
    assert matches(parse_glob(glob), path.split("/")) is matched


def test_a_pattern_made_to_backtrack_is_answered_at_once() -> None:
    assert not matches(parse_glob("**/a/" * 200 + "b"), ["a"] * 400)
    assert not matches(parse_glob("*a" * 100 + "b"), ["a" * 250])
