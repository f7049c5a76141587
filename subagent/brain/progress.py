"""Turns that change nothing: a digest of new tool results and text, compared with the turn before.

`idle` counts turns in a row that equal the one before them. Turns of refusals only neither raise nor reset
it (RULINGS "The loop"): a refusal is our text, not news from the world.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec


class Progress(msgspec.Struct, frozen=True):
    """The signature of the last turn, and how many turns in a row had it already."""

    signature: str = ""
    idle: int = 0

    def turned(self, signature: str) -> Progress:
        """A turn ended with this signature."""
        return Progress(signature, self.idle + 1 if signature == self.signature else 0)


def digest(*parts: str) -> str:
    """A digest of texts, in order, unambiguous at their borders. Hex, 32 characters."""
    return sign(parts)


def sign(parts: Iterable[str]) -> str:
    """As `digest`, of an iterable."""
    hashed = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(encoded))
        hashed.update(encoded)
    return hashed.hexdigest()[:32]
