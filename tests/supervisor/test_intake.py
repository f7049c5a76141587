"""Frames to events of the machine."""

from __future__ import annotations

import msgspec
import pytest

from protocol.artifacts import write_artifact
from protocol.budget import Amounts
from protocol.frames import Activity, Error, Event, MeterFrame, Pong, Ready, Request, Result, Throttled
from protocol.record import ArtifactRef, Outcome, Usage
from protocol.session import Violation
from protocol.status import Detail, TerminalStatus
from supervisor.intake import event_of
from supervisor.machine.events import (
    ChildPonged,
    ChildReady,
    EventReported,
    MeterReported,
    PeerViolatedProtocol,
    ProgressSeen,
    RequestMade,
    ResultReported,
)

ACTIVITY = Activity("tool", 1.0, 2.0)
DONE = Outcome(TerminalStatus.COMPLETED, usage=Usage(tokens=5))


@pytest.mark.parametrize(
    ("found", "event"),
    [
        (Violation("garbage", "a line"), PeerViolatedProtocol("0", 1, "garbage", "a line")),
        (Ready(9, ("pause",)), ChildReady("0", 1, ("pause",))),
        (Pong(3, ACTIVITY), ChildPonged("0", 1, 3, ACTIVITY)),
        (MeterFrame(Amounts(1), Amounts(2)), MeterReported("0", 1, Amounts(1), Amounts(2))),
        (Request("q", "human.ask", msgspec.Raw(b"{}")), RequestMade("0", 1, "q", "human.ask")),
        (Result(DONE), ResultReported("0", 1, DONE)),
        (Event("loop.paused"), EventReported("0", 1, Event("loop.paused"))),
        (Throttled("m", 1.0), ProgressSeen("0", 1)),
        (Error("oversize", "x"), ProgressSeen("0", 1)),
    ],
)
def test_each_frame_is_one_event(tmp_path, found, event):
    assert event_of("0", 1, found, tmp_path) == event


def result_behind(folder, ref: ArtifactRef) -> Outcome:
    event = event_of("0", 1, Result(msgspec.structs.replace(DONE, result_ref=ref)), folder)
    assert isinstance(event, ResultReported)
    return event.outcome


def test_a_result_behind_a_reference_is_taken_in(tmp_path):
    outcome = result_behind(tmp_path, write_artifact(tmp_path, b'{"a":1}'))
    assert (bytes(outcome.result), outcome.result_ref) == (b'{"a":1}', None)


@pytest.mark.parametrize("content", [b"not json", b"\xff", b""])
def test_a_reference_to_what_is_not_json_is_a_lost_result(tmp_path, content):
    outcome = result_behind(tmp_path, write_artifact(tmp_path, content))
    assert (outcome.status, outcome.detail, outcome.usage.tokens) == (TerminalStatus.CRASHED, Detail.IO, 5)


@pytest.mark.parametrize("ref", ["sha256:" + "0" * 64, "../../etc/passwd", ""])
def test_a_reference_that_leads_nowhere_is_a_lost_result(tmp_path, ref):
    assert result_behind(tmp_path, ArtifactRef(ref, 3)).detail is Detail.IO
