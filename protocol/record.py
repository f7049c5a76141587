"""The end of one agent: what the agent says of itself, and the record that its supervisor makes of it.

An `Outcome` is the agent's word and travels in the `result` frame. A `TerminalRecord` is written exactly
once, by the supervisor, and a late frame never changes it (DESIGN section 2).
"""

from __future__ import annotations

import msgspec

from protocol.budget import Count, Seconds
from protocol.raw_json import RawOrNone, null_is_none
from protocol.status import Abort, Detail, TerminalStatus


class ArtifactRef(msgspec.Struct, frozen=True):
    """Where a value over 64 KiB lies: a content address inside the run's folder (DESIGN section 3)."""

    ref: str
    size_bytes: Count


class Usage(msgspec.Struct, frozen=True):
    """What was used. `tokens` = in + out; `tokens_estimated` of them were never reported by a provider.

    `charged_unknown` tokens were held at an end that nobody saw. `cost_microusd` is None for a model without
    a price. `tree_tokens` counts the agent and all below it. Nothing negative can be decoded.
    """

    steps: Count = 0
    tokens: Count = 0
    tokens_in: Count = 0
    tokens_out: Count = 0
    tokens_cached: Count = 0
    tokens_estimated: Count = 0
    charged_unknown: Count = 0
    tree_tokens: Count = 0
    tool_calls: Count = 0
    cost_microusd: Count | None = None
    cpu_s: Seconds = 0.0


class Outcome(msgspec.Struct, frozen=True):
    """What an agent says of its own end.

    `result` is the answer as a JSON value (a string for a text contract), `partial` text that is worth having
    when there is no answer. Either may lie behind `result_ref` instead. `dropped_injects` were accepted too late.
    """

    status: TerminalStatus
    detail: Detail | None = None
    abort: Abort | None = None
    result: RawOrNone = None
    result_ref: ArtifactRef | None = None
    partial: str | None = None
    usage: Usage = Usage()
    dropped_injects: tuple[str, ...] = ()
    about: str = ""

    def __post_init__(self) -> None:
        null_is_none(self, "result")


class TerminalRecord(msgspec.Struct, frozen=True):
    """The one terminal record of an agent. Times are RFC 3339 in UTC; `journal` is a path."""

    run: str
    agent: str
    path: str
    status: TerminalStatus
    detail: Detail | None
    abort: Abort | None
    exit_code: int
    result: RawOrNone
    partial: str | None
    usage: Usage
    started_at: str
    ended_at: str
    journal: str
    about: str = ""
    dropped_injects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        null_is_none(self, "result")
