"""The typed end of a model call that failed for good. Pure; the table of RULINGS "Ends"."""

from __future__ import annotations

import pytest

from subagent.models.failure import gone, past_deadline
from subagent.models.types import ErrorKind, ModelError

DETAILS = {
    ErrorKind.AUTH: "auth",
    ErrorKind.REJECTED_REQUEST: "rejected_request",
    ErrorKind.RATE_LIMIT: "rate_limit",
    ErrorKind.SERVER: "server",
    ErrorKind.TRANSPORT: "transport",
    ErrorKind.TIMEOUT: "timeout",
    ErrorKind.CUT_STREAM: "transport",
    ErrorKind.MALFORMED: "malformed",
}


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind is not ErrorKind.CONTEXT_LENGTH])
def test_a_failure_before_the_deadline_is_an_unavailable_endpoint_of_its_kind(kind: ErrorKind) -> None:
    end = gone(ModelError(kind, "why"), now_s=1.0, deadline_s=2.0)
    assert (end.status, end.detail, end.abort, end.about) == (
        "crashed",
        DETAILS[kind],
        "intelligence_unavailable",
        "why",
    )


def test_a_prompt_that_does_not_fit_is_no_fault_of_the_endpoint() -> None:
    end = gone(ModelError(ErrorKind.CONTEXT_LENGTH, "why"), now_s=3.0, deadline_s=2.0)
    assert (end.status, end.detail, end.abort) == ("exhausted_tokens", "context_window", None)


def test_a_failure_at_the_deadline_is_the_deadline() -> None:
    assert gone(ModelError(ErrorKind.TIMEOUT, "why"), now_s=2.0, deadline_s=2.0) == past_deadline("why")
    assert past_deadline("why").detail == "wall_clock"
