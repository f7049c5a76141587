"""What a tool is: a declared nature, a check of its arguments before any effect, and then the effect."""

from __future__ import annotations

from typing import Protocol

import msgspec

from protocol.errors import CoveyError


class ToolNature(msgspec.Struct, frozen=True):
    """What may be assumed of a tool. The default is the careful one: it changes things, once, alone.

    `repeatable`: running it twice is the same as once. `parallel_safe`: it may run beside others.
    """

    mutating: bool = True
    repeatable: bool = False
    parallel_safe: bool = False


READ_ONLY = ToolNature(mutating=False, repeatable=True, parallel_safe=True)


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as it is offered. `parameters` is the JSON Schema of its arguments, encoded."""

    name: str
    description: str
    parameters: bytes
    nature: ToolNature


class FileImage(msgspec.Struct, frozen=True):
    """What a file tool is about to do to one file: its digest before and after (hex SHA-256, None: no file).

    Journalled with the intent, so that a resume can tell done from not done (RULINGS "Journal order").
    """

    path: str
    before_sha256: str | None
    after_sha256: str | None


class ToolRefused(CoveyError):
    """The call was not made: bad arguments, or out of scope. The text is for the model; nothing has happened."""


class ToolFailed(CoveyError):
    """The call was made and failed. The text is for the model."""


class PreparedCall(Protocol):
    """A call whose arguments are good. `run` has the effect, once."""

    @property
    def image(self) -> FileImage | None:
        """The file that `run` will change, or None."""
        ...

    def run(self) -> str:
        """Have the effect and return the result's text. Raises ToolFailed."""
        ...


class Tool(Protocol):
    """One tool."""

    @property
    def spec(self) -> ToolSpec: ...

    def prepare(self, arguments: bytes) -> PreparedCall:
        """Check a JSON object of arguments, with no side effect. Raises ToolRefused naming the field and the fix."""
        ...
