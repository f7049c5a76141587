"""What a wire tells the assembler: the pieces of one streamed reply, the same from every provider.

A wire turns each event of its provider into these and decides nothing else.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from subagent.models.types import StopWord


class StopMeaning(StrEnum):
    """What a finish reason stands for. UNKNOWN is never a success (field report U-26)."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    REFUSED = "refused"
    PAUSED = "paused"
    UNKNOWN = "unknown"


class TextDelta(msgspec.Struct, frozen=True):
    """A piece of the answer's text."""

    text: str


class HiddenDelta(msgspec.Struct, frozen=True):
    """Output that is no part of the answer (reasoning): it counts for bounds and estimates alone."""

    text: str


class RefusalDelta(msgspec.Struct, frozen=True):
    """A piece of the text in which the model declines."""

    text: str


class CallDelta(msgspec.Struct, frozen=True):
    """A piece of a tool call. Empty strings and an index of None were not given."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""


class Finish(msgspec.Struct, frozen=True):
    """The finish reason, and what it stands for."""

    stop: StopWord
    meaning: StopMeaning


class UsageReport(msgspec.Struct, frozen=True):
    """Tokens as the provider counts them; None was not said. Of several reports the larger figure counts."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None


class EndMarker(msgspec.Struct, frozen=True):
    """The provider said that the stream is over (`[DONE]`)."""


Delta = TextDelta | HiddenDelta | RefusalDelta | CallDelta | Finish | UsageReport | EndMarker
