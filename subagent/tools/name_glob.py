"""Matching a path against a glob: `*` and `?` within a name, `**` for any folders. Linear: no pattern can hang."""

from __future__ import annotations

from fnmatch import fnmatchcase


def parse_glob(glob: str) -> tuple[str, ...]:
    """The glob as name patterns. One without a slash matches file names in every folder."""
    parts = tuple(part for part in glob.split("/") if part not in ("", "."))
    return parts if len(parts) > 1 else ("**", *parts)


def matches(pattern: tuple[str, ...], names: list[str]) -> bool:
    """Whether a path, split into its names, matches a parsed glob.

    Follows all the places in the pattern where the names so far may have led: no backtracking.
    """
    places = _behind_stars(pattern, {0})
    for name in names:
        places = _behind_stars(pattern, {next_place for place in places for next_place in _take(pattern, place, name)})
    return len(pattern) in places


def _take(pattern: tuple[str, ...], place: int, name: str) -> tuple[int, ...]:
    if place == len(pattern):
        return ()
    if pattern[place] == "**":
        return (place,)
    return (place + 1,) if fnmatchcase(name, pattern[place]) else ()


def _behind_stars(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    """`places`, and those that a `**` which matches no folder leads to."""
    reached = set(places)
    for place in sorted(places):
        at = place
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            reached.add(at)
    return reached
