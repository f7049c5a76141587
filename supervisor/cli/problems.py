"""Every problem of a command line in one pass: a user mends them all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from protocol.errors import CoveyError, SpecError

T = TypeVar("T")


class UsageProblems(CoveyError):
    """`command` cannot run, and nothing has happened yet. One text for each problem."""

    def __init__(self, problems: Sequence[str], command: str = "covey run") -> None:
        self.problems = tuple(problems)
        self.command = command
        super().__init__("; ".join(self.problems))


class Problems:
    """Collects what is wrong. Call `stop_if_any` before the first side effect."""

    def __init__(self, found: Sequence[str] = ()) -> None:
        self._found = list(found)

    def take(self, parse: Callable[[], T], otherwise: T) -> T:
        """What `parse` returns; with its SpecError noted, the placeholder `otherwise`, which is never used."""
        try:
            return parse()
        except SpecError as error:
            self._found.append(str(error))
            return otherwise

    def stop_if_any(self) -> None:
        """Raise UsageProblems unless everything was in order."""
        if self._found:
            raise UsageProblems(self._found)
