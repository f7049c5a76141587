from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.retry import MAX_DELAY_S, GiveUp, Retry, backoff_s, decide
from subagent.models.types import ErrorKind, ModelError

NEVER = {ErrorKind.AUTH, ErrorKind.REJECTED_REQUEST, ErrorKind.CONTEXT_LENGTH}


def ruling(
    kind: ErrorKind, attempt: int = 1, retry_after_s: float | None = None, deadline_s: float = 1000.0
) -> Retry | GiveUp:
    return decide(ModelError(kind, "x", retry_after_s=retry_after_s), attempt, 3, 100.0, deadline_s, 0.5)


@pytest.mark.parametrize("kind", ErrorKind)
def test_each_kind_is_retried_or_never(kind: ErrorKind) -> None:
    assert ruling(kind) == (GiveUp(kind, "not_retryable") if kind in NEVER else Retry(0.2))


def test_the_last_attempt_is_the_last() -> None:
    assert ruling(ErrorKind.SERVER, attempt=2) == Retry(0.4)
    assert ruling(ErrorKind.SERVER, attempt=3) == GiveUp(ErrorKind.SERVER, "attempts")


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMIT, ErrorKind.SERVER])
def test_retry_after_is_waited_for_without_a_back_off_on_top(kind: ErrorKind) -> None:
    assert ruling(kind, retry_after_s=3.0) == Retry(3.0)
    assert ruling(kind, retry_after_s=0.0) == Retry(0.2)


def test_a_wait_past_the_deadline_is_not_begun() -> None:
    assert ruling(ErrorKind.RATE_LIMIT, retry_after_s=3600.0, deadline_s=160.0) == GiveUp(
        ErrorKind.RATE_LIMIT, "deadline"
    )
    assert ruling(ErrorKind.SERVER, deadline_s=100.1) == GiveUp(ErrorKind.SERVER, "deadline")


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_the_back_off_is_jittered_and_capped(attempt: int, jitter: float) -> None:
    assert 0.1 <= backoff_s(attempt, jitter) <= MAX_DELAY_S
    assert backoff_s(1, jitter) == pytest.approx(0.2 * (0.5 + jitter))
