"""Errors of the protocol, by who is at fault.

CoveyError
├── ProtocolError          a link or a journal was used against its rules
│   ├── LocalProtocolError     by us: illegal input to one of our cores; nothing changed
│   └── RemoteProtocolError    by the peer, or by what a disk gave back
├── BudgetExceeded         a hold, mint or limit that does not fit (see protocol.budget)
└── SpecError              input of a user that cannot be used; names the field and the fix
"""

from __future__ import annotations

from collections.abc import Sequence


class CoveyError(Exception):
    """Base of every error that Covey raises on purpose."""


class ProtocolError(CoveyError):
    """A rule of a link, a machine or a journal was broken. Raised only as one of its two children."""


class LocalProtocolError(ProtocolError):
    """We fed a core something illegal. The core's state is unchanged.

    Carries `state`, `given` and `story` (the recent moves, oldest first), and shows all three.
    """

    def __init__(self, state: str, given: str, story: Sequence[str] = ()) -> None:
        self.state = state
        self.given = given
        self.story = tuple(story)
        told = f"; before that: {', '.join(self.story)}" if self.story else ""
        super().__init__(f"{given} is illegal in state {state}{told}")


class RemoteProtocolError(ProtocolError):
    """The peer, or a file, gave us something that breaks the rules. `code` is a wire error code."""

    def __init__(self, code: str, about: str) -> None:
        self.code = code
        self.about = about
        super().__init__(f"{code}: {about}")


class SpecError(CoveyError):
    """A value that a user gave cannot be used. `field` is where it stands; the text says the fix."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")
