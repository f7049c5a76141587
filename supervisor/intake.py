"""What an agent sends, as events of the machine. A translation; nothing is decided here."""

from __future__ import annotations

from pathlib import Path

import msgspec

from protocol.errors import RemoteProtocolError
from protocol.frames import AnyFrame, Event, MeterFrame, Pong, Ready, Request, Result
from protocol.record import Outcome
from protocol.session import Violation
from protocol.status import Detail, TerminalStatus
from supervisor.machine.events import (
    ChildEvent,
    ChildPonged,
    ChildReady,
    EventReported,
    MeterReported,
    PeerViolatedProtocol,
    ProgressSeen,
    RequestMade,
    ResultReported,
)


def event_of(child: str, incarnation: int, found: AnyFrame | Violation, agent_folder: Path) -> ChildEvent:
    """The one event that a frame, or what was sent in its place, is to the machine."""
    match found:
        case Violation(code, about):
            return PeerViolatedProtocol(child, incarnation, code, about)
        case Ready(_, features):
            return ChildReady(child, incarnation, features)
        case Pong(seq, activity):
            return ChildPonged(child, incarnation, seq, activity)
        case Event():
            return EventReported(child, incarnation, found)
        case MeterFrame(spent, held):
            return MeterReported(child, incarnation, spent, held)
        case Request(request_id, method):
            return RequestMade(child, incarnation, request_id, method)
        case Result(outcome):
            return ResultReported(child, incarnation, _with_result(outcome, agent_folder))
    return ProgressSeen(child, incarnation)


def _with_result(outcome: Outcome, agent_folder: Path) -> Outcome:
    """The outcome with the value behind its reference. A reference that leads to no value is the end of the result."""
    if outcome.result_ref is None:
        return outcome
    from protocol.artifacts import read_artifact  # it loads OpenSSL: only a large result pays for that

    try:
        content = read_artifact(agent_folder, outcome.result_ref)
        result = msgspec.json.decode(content, type=msgspec.Raw)
    except RemoteProtocolError as error:
        return _lost(outcome, str(error))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _lost(outcome, "what is stored is not JSON")
    return msgspec.structs.replace(outcome, result=result, result_ref=None)


def _lost(outcome: Outcome, why: str) -> Outcome:
    return Outcome(TerminalStatus.CRASHED, Detail.IO, usage=outcome.usage, about=f"the result is lost: {why}")
