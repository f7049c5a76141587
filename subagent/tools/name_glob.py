"""Matching paths against a glob: `*` and `?` within a name, `**` for any folders. No pattern can hang.

All the places in the pattern where the names so far may have led are followed at once: there is no backtracking.
Where the folders of the last path led is kept, so that a walk pays for each folder once, however deep it lies.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

MAX_GLOB_CHARS = 256


class Glob:
    """One glob. Without a slash it matches file names in every folder."""

    def __init__(self, glob: str) -> None:
        self._pattern = _parse(glob)
        self._folders: list[str] = []
        self._places = [self._behind_stars({0})]

    def matches(self, path: str) -> bool:
        """Whether the glob matches a path relative to the workspace."""
        *folders, name = [part for part in path.split("/") if part != "."]
        kept = _common(self._folders, folders)
        del self._places[kept + 1 :]
        for folder in folders[kept:]:
            self._places.append(self._step(self._places[-1], folder))
        self._folders = folders
        return len(self._pattern) in self._step(self._places[-1], name)

    def _step(self, places: set[int], name: str) -> set[int]:
        """Where `name` leads from `places`."""
        return self._behind_stars({after for place in places for after in self._take(place, name)})

    def _take(self, place: int, name: str) -> tuple[int, ...]:
        if place == len(self._pattern):
            return ()
        if self._pattern[place] == "**":
            return (place,)
        return (place + 1,) if fnmatchcase(name, self._pattern[place]) else ()

    def _behind_stars(self, places: set[int]) -> set[int]:
        """`places`, and those that a `**` which matches no folder leads to."""
        return places | {place + 1 for place in places if self._pattern[place : place + 1] == ("**",)}


def _parse(glob: str) -> tuple[str, ...]:
    """The glob as name patterns; of several `**` in a row one is left, which matches the same."""
    parts = [part for part in glob.split("/") if part not in ("", ".")]
    if len(parts) < 2:
        parts = ["**", *parts]
    return tuple(part for before, part in zip(["", *parts], parts, strict=False) if not part == before == "**")


def _common(one: list[str], other: list[str]) -> int:
    """How many names two lists begin with alike."""
    for number, (name, other_name) in enumerate(zip(one, other, strict=False)):
        if name != other_name:
            return number
    return min(len(one), len(other))
