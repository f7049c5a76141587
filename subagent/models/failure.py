"""What a model call that failed for good means for its run: a typed end. Pure."""

from __future__ import annotations

from protocol.status import Abort, Detail
from protocol.status import TerminalStatus as Status
from subagent.brain.events import ModelGone
from subagent.models.types import ErrorKind, ModelError

_DETAILS: dict[ErrorKind, Detail] = {
    ErrorKind.AUTH: Detail.AUTH,
    ErrorKind.REJECTED_REQUEST: Detail.REJECTED_REQUEST,
    ErrorKind.RATE_LIMIT: Detail.RATE_LIMIT,
    ErrorKind.SERVER: Detail.SERVER,
    ErrorKind.TRANSPORT: Detail.TRANSPORT,
    ErrorKind.TIMEOUT: Detail.TIMEOUT,
    ErrorKind.CUT_STREAM: Detail.TRANSPORT,
    ErrorKind.MALFORMED: Detail.MALFORMED,
}


def gone(error: ModelError, *, now_s: float, deadline_s: float) -> ModelGone:
    """The end that `error` leads to. `now_s` and `deadline_s` are on one clock (RULINGS "Ends")."""
    if error.kind is ErrorKind.CONTEXT_LENGTH:
        return ModelGone(Status.EXHAUSTED_TOKENS, Detail.CONTEXT_WINDOW, about=error.about)
    if now_s >= deadline_s:
        return past_deadline(error.about)
    return ModelGone(Status.CRASHED, _DETAILS[error.kind], Abort.INTELLIGENCE_UNAVAILABLE, error.about)


def past_deadline(about: str) -> ModelGone:
    """The clock ended the run while a call was to be made."""
    return ModelGone(Status.DEADLINE, Detail.WALL_CLOCK, about=about)
