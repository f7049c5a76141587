"""Tool names as providers take them: 1 to 64 letters, digits, `_` and `-`, and back. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_NAME_CHARS = 64

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class ToolNames:
    """A legal and distinct wire name for each of the tools on offer."""

    def __init__(self, names: Iterable[str]) -> None:
        self._to_wire: dict[str, str] = {}
        self._from_wire: dict[str, str] = {}
        # Names that are legal already keep themselves, whatever order they come in.
        for name in sorted(names, key=lambda name: legal_name(name) != name):
            wire_name = _distinct(legal_name(name), self._from_wire)
            self._to_wire[name] = wire_name
            self._from_wire[wire_name] = name

    def to_wire(self, name: str) -> str:
        """The wire name of a tool; of a name that is on offer nowhere (a model made it up), a legal spelling."""
        return self._to_wire.get(name) or legal_name(name)

    def from_wire(self, wire_name: str) -> str:
        """The tool that the model means; what it made up stays as it is."""
        return self._from_wire.get(wire_name, wire_name)


def legal_name(name: str) -> str:
    """`name` with each illegal character as `_`, at most 64 of them, at least one."""
    return _ILLEGAL.sub("_", name)[:MAX_NAME_CHARS] or "_"


def _distinct(name: str, taken: dict[str, str]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        suffix = f"_{number}"
        candidate = name[: MAX_NAME_CHARS - len(suffix)] + suffix
    return candidate
