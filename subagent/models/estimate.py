"""Tokens where a provider does not say: unknown is not zero (field report U-22).

A guess errs on the high side, since a budget that trips too early can be raised and one that never trips is
none. Two bytes a token is above what tokenisers give for prose, code, JSON and CJK text alike.
"""

from __future__ import annotations

from subagent.models.deltas import UsageReport
from subagent.models.types import TurnUsage

BYTES_PER_TOKEN = 2

MAX_TOKENS_OF_CALL = 10**9
"""A figure above it is no count: no call is that large, and sums of a run must stay below 2**53."""

NOTHING_USED = TurnUsage(0, 0)
"""A request that never left, or was refused, cost nothing."""


def estimate_tokens(size_bytes: int) -> int:
    """A high guess of the tokens in `size_bytes` of text or JSON."""
    return -(-size_bytes // BYTES_PER_TOKEN)


def settle_usage(reported: UsageReport, request_bytes: int, output_bytes: int) -> TurnUsage:
    """What a call cost. Estimated is a figure that is missing or absurd, or zero where there was something to count."""
    tokens_in = _said(reported.tokens_in)
    tokens_out = _said(reported.tokens_out)
    in_unknown = tokens_in == 0
    out_unknown = tokens_out == 0 and (output_bytes > 0 or reported.tokens_out != 0)
    return TurnUsage(
        tokens_in=estimate_tokens(request_bytes) if in_unknown else tokens_in,
        tokens_out=estimate_tokens(output_bytes) + 1 if out_unknown else tokens_out,
        tokens_cached=0 if in_unknown else min(_said(reported.tokens_cached), tokens_in),
        estimated=in_unknown or out_unknown,
    )


def _said(tokens: int | None) -> int:
    """The figure, or 0 where there is none that can be believed."""
    return tokens if tokens is not None and 0 <= tokens <= MAX_TOKENS_OF_CALL else 0
