"""What happened: the inputs of the machine. Facts, in the past tense, frozen.

`child` is an agent's path or a service's name. `incarnation` numbers the processes of one child: an event
of an earlier one is late, and changes nothing.
"""

from __future__ import annotations

import msgspec

from protocol.budget import Amounts
from protocol.frames import Activity, Event
from protocol.record import Outcome
from protocol.status import Detail


class RunStarted(msgspec.Struct, frozen=True):
    """The run was accepted. First, once."""


class TimePassed(msgspec.Struct, frozen=True):
    """The deadline that the machine named is here."""


class SignalReceived(msgspec.Struct, frozen=True):
    """A signal that asks the supervisor to end."""


class LogFailed(msgspec.Struct, frozen=True):
    """The tree log could not be written. `about` is the system's word for it."""

    about: str


class ChildEvent(msgspec.Struct, frozen=True):
    """Base of all that happens to one process of one child."""

    child: str
    incarnation: int


class ChildSpawned(ChildEvent, frozen=True):
    """The process exists. `start_ticks` together with `pid` names it for ever."""

    pid: int
    start_ticks: int


class SpawnFailed(ChildEvent, frozen=True):
    """There is no process. `detail`: it could not be spawned, or what it needs on disk could not be made."""

    about: str
    detail: Detail = Detail.SPAWN


class EndpointAnnounced(ChildEvent, frozen=True):
    """A service serves at `base_url`."""

    base_url: str


class ChildReady(ChildEvent, frozen=True):
    """An agent's set-up is done."""

    features: tuple[str, ...]


class ChildPonged(ChildEvent, frozen=True):
    """An agent answered the ping `seq`."""

    seq: int
    activity: Activity


class ProgressSeen(ChildEvent, frozen=True):
    """An agent sent a frame that says nothing to the machine but that it works."""


class EventReported(ChildEvent, frozen=True):
    """An agent told an event."""

    frame: Event


class MeterReported(ChildEvent, frozen=True):
    """An agent's absolute spend and open holds, as it says."""

    spent: Amounts
    held: Amounts


class RequestMade(ChildEvent, frozen=True):
    """An agent asks for something."""

    id: str
    method: str


class ResultReported(ChildEvent, frozen=True):
    """An agent's own word on its end."""

    outcome: Outcome


class PeerViolatedProtocol(ChildEvent, frozen=True):
    """A line that is no frame, or a frame that is not due. `about` quotes nothing of it."""

    code: str
    about: str


class LinkClosed(ChildEvent, frozen=True):
    """A child closed its stdin or its stdout: it is still alive, but one of us is deaf."""


class QueueOverflowed(ChildEvent, frozen=True):
    """A child does not read: what we have to say no longer fits its queue."""


class ChildObserved(ChildEvent, frozen=True):
    """What the kernel says of a process."""

    stopped: bool
    cpu_s: float


class ChildExited(ChildEvent, frozen=True):
    """The exit was seen and the pipes are drained; it is a zombie now. One of `status` and `signal` is set."""

    status: int | None
    signal: str | None
    cpu_s: float


class OrphansSwept(ChildEvent, frozen=True):
    """One pass over what a child left behind: `killed` were alive, `left` are not gone yet."""

    killed: frozenset[int]
    left: int


class ChildReaped(ChildEvent, frozen=True):
    """The process is gone from the kernel's table, and all that we held for it is released."""


PAYLOAD_ANSWERS = (ChildReady, ChildPonged, EventReported, MeterReported, RequestMade, ResultReported)
"""What an agent says once it has its payload, and not before."""

ALWAYS_POSSIBLE = (ProgressSeen, PeerViolatedProtocol, LinkClosed, QueueOverflowed, ChildObserved)
"""What may come of an agent that exists, at any time, and so too late as well."""
