"""What is to be done: the outputs of the machine. Orders, frozen. Each says which events may answer it."""

from __future__ import annotations

import msgspec

from protocol.budget import Meter
from protocol.frames import AnyFrame, Event, EventValue
from protocol.journal.entries import Minted, RunEnded, Settled, Spawned
from supervisor.machine.ladder import Rung


class WriteLog(msgspec.Struct, frozen=True):
    """Append to the tree log, before any effect behind it. Answered by LogFailed, or not at all."""

    entry: Minted | Spawned | Settled | RunEnded


class EmitEvent(msgspec.Struct, frozen=True):
    """Tell the observer. Not answered."""

    child: str
    name: str
    fields: dict[str, EventValue]


class ShowMeter(msgspec.Struct, frozen=True):
    """Show the observer an agent's account. Not answered."""

    child: str
    meter: Meter


class EndRun(msgspec.Struct, frozen=True):
    """Everything is gone and the record is made. Last. Not answered."""


class ChildEffect(msgspec.Struct, frozen=True):
    """Base of all that is done to one process of one child."""

    child: str
    incarnation: int


class SpawnChild(ChildEffect, frozen=True):
    """Start the process. Answered at once, by ChildSpawned or SpawnFailed; a spawned one later by ChildExited."""


class SendPayload(ChildEffect, frozen=True):
    """Send the spawn frame. `base_url` is a service's, or None for the plan's own. Answered as SendFrame is."""

    base_url: str | None


class SendFrame(ChildEffect, frozen=True):
    """Queue a frame. May be answered by QueueOverflowed or LinkClosed."""

    frame: AnyFrame


class PassOnEvent(ChildEffect, frozen=True):
    """Show the observer an event that an agent told, if it is in the vocabulary. Not answered."""

    frame: Event


class ObserveChild(ChildEffect, frozen=True):
    """Look at the process. Answered by ChildObserved."""


class CloseInput(ChildEffect, frozen=True):
    """Close a service's stdin: the polite word for its end."""


class SignalGroup(ChildEffect, frozen=True):
    """Signal the group: SIGTERM for Rung.TERMINATE, SIGKILL for Rung.KILL. Not answered."""

    rung: Rung


class SweepOrphans(ChildEffect, frozen=True):
    """Kill children of ours that nobody knows. Answered by OrphansSwept."""


class ReapChild(ChildEffect, frozen=True):
    """Let the zombie go and close all that we hold for it. Answered by ChildReaped."""


Effect = (
    WriteLog | EmitEvent | PassOnEvent | ShowMeter | EndRun | SpawnChild | SendPayload | SendFrame | ObserveChild
    | CloseInput | SignalGroup | SweepOrphans | ReapChild
)  # fmt: skip
