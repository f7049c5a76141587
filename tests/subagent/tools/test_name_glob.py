"""Globs match as a shell's do, with ** for any folders, in time that no pattern can blow up."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.tools.name_glob import MAX_GLOB_CHARS, Glob


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
        ("**/**/**/a/**/**", "x/b", False),
        ("**/**/**/a/**/**", "x/a/b/c", True),
        ("./", "a/b", True),
        ("src/*.py", "./src/a.py", True),
        ("A.py", "a.py", False),
    ],
)
def test_a_glob_matches_what_a_shell_would(glob: str, path: str, matched: bool) -> None:
    assert Glob(glob).matches(path) is matched


def test_a_pattern_made_to_backtrack_is_answered_at_once() -> None:
    assert not Glob("**/a/" * 200 + "b").matches("/".join(["a"] * 400))
    assert not Glob("*a" * 100 + "b").matches("a" * 250)


@pytest.mark.parametrize("part", ["**/", "**/*/", "*/", "**/a*/"])
def test_a_walk_through_a_deep_tree_pays_for_each_folder_once(part: str) -> None:
    glob = Glob((part * MAX_GLOB_CHARS)[:MAX_GLOB_CHARS] + "/no")
    paths = ["/".join(["a"] * depth) + f"/{name}" for depth in range(1, 1_000) for name in range(10)]
    began_s = time.process_time()
    assert not any(glob.matches(path) for path in paths)
    assert time.process_time() - began_s < 10  # measured: under 1 s; asked anew for each path, minutes


PARTS = st.lists(st.sampled_from(["**", "*", "a", "b", "a?"]), min_size=2, max_size=5)
PATHS = st.lists(st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=4), max_size=6)


@given(PARTS, PATHS)
def test_what_was_asked_before_changes_no_answer(parts: list[str], paths: list[list[str]]) -> None:
    asked_before = Glob("/".join(parts))
    for names in paths:
        path = "/".join(names)
        assert asked_before.matches(path) is Glob("/".join(parts)).matches(path) is _expected(parts, names)


def _expected(parts: list[str], names: list[str]) -> bool:
    """By backtracking: the definition of a glob."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(_expected(parts[1:], names[taken:]) for taken in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], parts[0]) and _expected(parts[1:], names[1:])
