"""One streamed reply put together, and judged: the part that all wires share. Pure.

Theory of operation. A wire feeds the deltas of one reply in order, then calls `finish`. What the stream said
decides, never how it ended:

    no finish reason and no end marker      cut: ModelError CUT_STREAM, its calls never run (U-21)
    only one of the two                     complete
    length                                  the text and every call are TRUNCATED (U-18)
    calls promised and none there, calls there and not said, or a reason nobody knows
                                            LYING_FINISH; the calls are dropped (U-25, U-26)
    refused or filtered                     `refused`; the calls are dropped
    paused                                  PAUSED, to be sent back (U-26)
    no text and no call                     EMPTY (U-27)

Bounds: MAX_CALLS calls and MAX_REPLY_BYTES of output. Usage is the provider's, or a high guess (`estimate`).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from subagent.models.call_checks import judge_calls
from subagent.models.call_fragments import CallFragments
from subagent.models.deltas import (
    CallDelta,
    Delta,
    EndMarker,
    Finish,
    HiddenDelta,
    RefusalDelta,
    StopMeaning,
    TextDelta,
    UsageReport,
)
from subagent.models.estimate import settle_usage
from subagent.models.surrogates import encodable
from subagent.models.types import AssistantTurn, ErrorKind, ModelError, ReplyFault, ToolCall, TurnUsage

MAX_CALLS = 128
MAX_REPLY_BYTES = 8 * 1024 * 1024


class Assembler:
    """The reply to one request of `request_bytes`. `fresh_id` gives each call its id."""

    def __init__(self, request_bytes: int, *, fresh_id: Callable[[], str]) -> None:
        self._request_bytes = request_bytes
        self._fresh_id = fresh_id
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls = CallFragments()
        self._finish: Finish | None = None
        self._ended = False
        self._reported = UsageReport()
        self._output_bytes = 0

    @property
    def is_complete(self) -> bool:
        """Whether the stream has said that the reply is over."""
        return self._ended or self._finish is not None

    @property
    def is_ended(self) -> bool:
        """Whether the end marker has come: nothing follows it."""
        return self._ended

    def usage(self) -> TurnUsage:
        """What the call has cost so far."""
        return settle_usage(self._reported, self._request_bytes, self._output_bytes)

    def feed(self, delta: Delta) -> None:
        """Take the next piece. Raises ModelError MALFORMED past a bound."""
        match delta:
            case TextDelta(text):
                self._count(text)
                self._text.append(text)
            case CallDelta():
                self._count(delta.name + delta.arguments)
                self._calls.add(delta)
                self._require(len(self._calls.calls) <= MAX_CALLS, f"over {MAX_CALLS} calls")
            case HiddenDelta(text):
                self._count(text)
            case RefusalDelta(text):
                self._count(text)
                self._refusal.append(text)
            case Finish():
                self._finish = delta
            case UsageReport():
                self._reported = _merged(self._reported, delta)
            case EndMarker():
                self._ended = True

    def finish(self) -> AssistantTurn:
        """The turn. Raises ModelError CUT_STREAM, with what it cost, if the stream never said it was over."""
        if not self.is_complete:
            raise ModelError(ErrorKind.CUT_STREAM, "the stream ended without a finish reason", usage=self.usage())
        refusal = "".join(self._refusal)
        text = encodable("".join(self._text)) or encodable(refusal)
        meaning = self._meaning(refusal)
        calls = self._judged(meaning)
        return AssistantTurn(
            text=text,
            calls=calls,
            stop=self._finish.stop if self._finish else "",
            usage=self.usage(),
            reply_fault=_fault(meaning, text, calls),
            refused=meaning is StopMeaning.REFUSED,
        )

    def _meaning(self, refusal: str) -> StopMeaning:
        """What the reply's end means, once it is held against what came."""
        has_calls = bool(self._calls.calls)
        said = self._finish.meaning if self._finish else StopMeaning.CALLS if has_calls else StopMeaning.END
        if refusal and said is not StopMeaning.LENGTH:
            return StopMeaning.REFUSED
        lies = has_calls if said is StopMeaning.END else said is StopMeaning.CALLS and not has_calls
        return StopMeaning.UNKNOWN if lies else said

    def _judged(self, meaning: StopMeaning) -> tuple[ToolCall, ...]:
        if meaning not in (StopMeaning.CALLS, StopMeaning.LENGTH):
            return ()
        return judge_calls(self._calls.calls, truncated=meaning is StopMeaning.LENGTH, fresh_id=self._fresh_id)

    def _count(self, output: str) -> None:
        self._output_bytes += len(output) if output.isascii() else len(output.encode("utf-8", "surrogatepass"))
        self._require(self._output_bytes <= MAX_REPLY_BYTES, f"over {MAX_REPLY_BYTES} bytes")

    def _require(self, within: bool, about: str) -> None:
        if not within:
            raise ModelError(ErrorKind.MALFORMED, f"the reply is {about}", usage=self.usage())


_FAULT_OF = {
    StopMeaning.LENGTH: ReplyFault.TRUNCATED,
    StopMeaning.UNKNOWN: ReplyFault.LYING_FINISH,
    StopMeaning.PAUSED: ReplyFault.PAUSED,
}


def _fault(meaning: StopMeaning, text: str, calls: tuple[ToolCall, ...]) -> ReplyFault | None:
    empty = meaning is StopMeaning.END and not text.strip() and not calls
    return ReplyFault.EMPTY if empty else _FAULT_OF.get(meaning)


def _merged(one: UsageReport, other: UsageReport) -> UsageReport:
    """The larger of each figure: most servers count up, and where two reports contradict each other none is trusted."""
    figures = zip(msgspec.structs.astuple(one), msgspec.structs.astuple(other), strict=True)
    return UsageReport(*(max(filter(_is_said, pair), default=None) for pair in figures))


def _is_said(figure: int | None) -> bool:
    return figure is not None
