"""Whether a failed model call is tried again, and after how long. Pure: `now` and jitter come in.

never           auth, rejected_request (the same request gets the same answer), context_length (the loop
                compacts first), and anything once the attempts are used up
Retry-After     is a floor: the wait is that or the back-off, whichever is longer, never their sum (U-23)
otherwise       0.2 s, doubling, jittered by half either way, 5 s at most
the deadline    a wait that would end past it is not begun
"""

from __future__ import annotations

from typing import Literal

import msgspec

from subagent.models.types import ErrorKind, ModelError

FIRST_DELAY_S = 0.2
MAX_DELAY_S = 5.0

NEVER_RETRIED = frozenset({ErrorKind.AUTH, ErrorKind.REJECTED_REQUEST, ErrorKind.CONTEXT_LENGTH})


class Retry(msgspec.Struct, frozen=True):
    """Wait `delay_s`, then make the next attempt."""

    delay_s: float


class GiveUp(msgspec.Struct, frozen=True):
    """The call has failed for good: `kind` is what it failed of, `why` what forbids another attempt."""

    kind: ErrorKind
    why: Literal["not_retryable", "attempts", "deadline"]


def decide(
    error: ModelError, attempt: int, attempts: int, now_s: float, deadline_s: float, jitter: float
) -> Retry | GiveUp:
    """What follows the failure of attempt `attempt` (from 1) of `attempts`.

    `now_s` and `deadline_s` are on one clock. `jitter` is uniform in [0, 1).
    """
    if error.kind in NEVER_RETRIED:
        return GiveUp(error.kind, "not_retryable")
    if attempt >= attempts:
        return GiveUp(error.kind, "attempts")
    delay_s = max(backoff_s(attempt, jitter), error.retry_after_s or 0.0)
    if now_s + delay_s >= deadline_s:
        return GiveUp(error.kind, "deadline")
    return Retry(delay_s)


def backoff_s(attempt: int, jitter: float) -> float:
    """The back-off after attempt `attempt`: 0.2 s doubling, times 0.5 to 1.5, at most 5 s."""
    doubled = FIRST_DELAY_S * 2 ** min(attempt - 1, 16)
    return float(min(MAX_DELAY_S, doubled * (0.5 + jitter)))
