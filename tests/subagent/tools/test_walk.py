"""A walk visits files in a fixed order, within its bound, and follows no link."""

from __future__ import annotations

from pathlib import Path

from subagent.tools.beneath import Root
from subagent.tools.walk import Walk


def test_files_come_in_order_without_links_git_and_special_files(root: Root, inside: Path, outside: Path) -> None:
    for path in ("b/z.txt", "b/a.txt", "a.txt", ".git/config", "b/.git/x", "c/d/e.txt"):
        (inside / path).parent.mkdir(parents=True, exist_ok=True)
        (inside / path).touch()
    (inside / "out").symlink_to("../outside")
    (inside / "loop").symlink_to(".")
    (inside / "link.txt").symlink_to("a.txt")
    walk = Walk(root)
    assert list(walk.files(".")) == ["a.txt", "b/a.txt", "b/z.txt", "c/d/e.txt"]
    assert not walk.cut
    assert list(Walk(root).files("b/")) == ["b/a.txt", "b/z.txt"]


def test_a_walk_stops_at_its_bound_and_says_so(root: Root, inside: Path) -> None:
    for number in range(10):
        (inside / f"{number}.txt").touch()
    walk = Walk(root, max_visited=4)
    assert len(list(walk.files("."))) == 4
    assert walk.cut


def test_a_folder_that_cannot_be_listed_is_counted_and_passed_by(root: Root) -> None:
    walk = Walk(root)
    assert list(walk.files("gone")) == []
    assert walk.unreadable == 1
