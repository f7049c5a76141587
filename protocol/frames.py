"""Every frame of the control protocol, version 1 (DESIGN section 3).

Down frames travel from the supervisor to the child's stdin, up frames from its stdout back. All are JSON
objects tagged by `type`; unknown types and fields are counted and skipped by the receiver. Durations end in
`_s` (seconds). Instants (`until_s`) are CLOCK_MONOTONIC seconds, which both ends read on the same machine.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from protocol import PROTOCOL_VERSION
from protocol.budget import Amounts, Ceiling, Count, Seconds
from protocol.contract import Contract
from protocol.limits import Limits
from protocol.model import ModelSpec
from protocol.raw_json import RawOrNone, null_is_none
from protocol.record import Outcome

MAX_FRAME_BYTES = 1024 * 1024
"""The longest line, LF included. A longer one is skipped to its LF and answered with `error`."""

MAX_INLINE_BYTES = 64 * 1024
"""The largest value inside a frame; anything larger travels as an artifact reference."""

EventValue = str | int | float | bool | None


class Frame(msgspec.Struct, frozen=True, tag_field="type"):
    """Base of all frames. The tag of a frame is its name on the wire."""


# ---------------------------------------------------------------- parts of the spawn payload


class SeedSlice(msgspec.Struct, frozen=True):
    """A labelled piece of context that the parent chose. Never a transcript."""

    label: str
    text: str


class WorkspaceRoot(msgspec.Struct, frozen=True):
    """A folder that tools may look into (absolute path), and write to only if `writable`."""

    path: str
    writable: bool = False


class Scope(msgspec.Struct, frozen=True):
    """What an agent may touch. `tools` of None grants every tool that the roots allow; () grants none."""

    workspace: tuple[WorkspaceRoot, ...] = ()
    tools: tuple[str, ...] | None = None


class Policy(msgspec.Struct, frozen=True):
    """The numbers that rule a run (DESIGN section 6, RULINGS "The loop"). Passed afresh at every step, never stored.

    `repeat_cap` identical calls with an identical result run, as many again are refused, then the run ends.
    `idle_turns` unchanged turns in a row are a stall. `corrections` answers are sent back by the verify gate.
    `reply_retries` empty or truncated replies in a row are asked again. `model_attempts` tries of one model call.
    `call_timeout_s` bounds one model call without a byte; `tool_result_bytes` what one result puts in context.
    """

    repeat_cap: int = 3
    idle_turns: int = 3
    corrections: int = 2
    reply_retries: int = 2
    model_attempts: int = 3
    call_timeout_s: float = 120.0
    tool_result_bytes: int = 32 * 1024


class Telemetry(msgspec.Struct, frozen=True):
    """How the child is to report: the least level of its `event` frames, and whether text deltas are wanted."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    deltas: bool = False


class Secrets(msgspec.Struct, frozen=True):
    """What must never be journalled, logged or given to a tool. Its repr shows nothing."""

    api_key: str | None = None

    def __repr__(self) -> str:
        return "Secrets(***)"


# ---------------------------------------------------------------- down: supervisor to child


class Spawn(Frame, frozen=True, tag="spawn"):
    """First, once. Identity, depth and limits are minted by the supervisor.

    `journal` is the path to write; one that has entries already is refused, for a run never starts over. A child
    that had no ping for three intervals starts no new model call and no new effect.
    """

    run_id: str
    agent: str
    path: str
    depth: Count
    contract: Contract
    model: ModelSpec
    limits: Limits
    journal: str
    scope: Scope = Scope()
    policy: Policy = Policy()
    seed: tuple[SeedSlice, ...] = ()
    telemetry: Telemetry = Telemetry()
    ping_interval_s: float = 5.0
    secrets: Secrets | None = None
    protocol: int = PROTOCOL_VERSION


class Ping(Frame, frozen=True, tag="ping"):
    """Answered at once by the child's reader thread with a `pong` of the same `seq`."""

    seq: Count


CancelReason = Literal["signal", "request", "parent", "deadline", "budget", "stuck"]


class Cancel(Frame, frozen=True, tag="cancel"):
    """Stop now: interrupts a blocking model call or tool. SIGTERM follows after `grace_s`.

    `dimension` names the limit when the reason is budget.
    """

    reason: CancelReason
    grace_s: Seconds
    dimension: str | None = None


class Throttle(Frame, frozen=True, tag="throttle"):
    """The shared rate gate: no call to `model` before `until_s`."""

    model: str
    until_s: float


class Endpoint(msgspec.Struct, frozen=True):
    """One endpoint and the state of its breaker, which outlives one agent."""

    base_url: str
    breaker: Literal["closed", "open", "half_open"] = "closed"


class Endpoints(Frame, frozen=True, tag="endpoints"):
    """The endpoints in order of preference; a child uses the first whose breaker is not open."""

    endpoints: tuple[Endpoint, ...]


class Pause(Frame, frozen=True, tag="pause"):
    """Wait at the next safe point. Cancel wins over pause."""


class Resume(Frame, frozen=True, tag="resume"):
    """Go on after a pause."""


class Inject(Frame, frozen=True, tag="inject"):
    """A steering message, taken in order at a safe point, acknowledged by the event `loop.inject`."""

    id: str
    content: str


class Grant(Frame, frozen=True, tag="grant"):
    """The grant or the policy changed. Absolute and idempotent: only a higher `epoch` counts."""

    limit: Ceiling
    granted: Amounts
    epoch: Count
    policy: Policy | None = None


class ReplyError(msgspec.Struct, frozen=True):
    """Why a request was refused, in words that a model can read."""

    code: str
    message: str


class Reply(Frame, frozen=True, tag="reply"):
    """Answers the `request` of the same id: refused if `error` is there, else with `result`, which may be null."""

    id: str
    result: RawOrNone = None
    error: ReplyError | None = None

    def __post_init__(self) -> None:
        null_is_none(self, "result")


class Error(Frame, frozen=True, tag="error"):
    """Both ways: answers an oversize or illegal frame. `about` never quotes the frame's content."""

    code: str
    about: str


# ---------------------------------------------------------------- up: child to supervisor


class Ready(Frame, frozen=True, tag="ready"):
    """Set-up is done: the first request could go out. The endpoint is judged by the first call."""

    pid: int
    features: tuple[str, ...] = ()
    protocol: int = PROTOCOL_VERSION


ActivityKind = Literal["model", "tool", "wait", "think", "idle"]


class Activity(msgspec.Struct, frozen=True):
    """What the main thread does, since when, and until when that is no reason to worry (CLOCK_MONOTONIC s)."""

    kind: ActivityKind
    since_s: float
    due_s: float


class Pong(Frame, frozen=True, tag="pong"):
    """Answers a ping."""

    seq: Count
    activity: Activity


class MeterFrame(Frame, frozen=True, tag="meter"):
    """Absolute spend and open holds: loss and repetition are harmless."""

    spent: Amounts
    held: Amounts


class Event(Frame, frozen=True, tag="event"):
    """Something happened. `name` and the keys of `fields` are in the vocabulary of protocol.events."""

    name: str
    fields: dict[str, EventValue] = {}


RequestMethod = Literal[
    "subagent.spawn",
    "subagent.send",
    "subagent.cancel",
    "subagent.status",
    "subagent.await",
    "subagent.list",
    "budget.ask",
    "human.ask",
    "model.slot",
]


class Request(Frame, frozen=True, tag="request"):
    """Asks the supervisor for something; answered by the `reply` of the same id."""

    id: str
    method: RequestMethod
    params: msgspec.Raw


class Throttled(Frame, frozen=True, tag="throttled"):
    """A 429 that the others should know of."""

    model: str
    retry_after_s: Seconds


class Result(Frame, frozen=True, tag="result"):
    """The end, in the agent's own words. Exactly once, and last."""

    outcome: Outcome


DownFrame = Spawn | Ping | Cancel | Throttle | Endpoints | Pause | Resume | Inject | Grant | Reply | Error
UpFrame = Ready | Pong | MeterFrame | Event | Request | Throttled | Error | Result
AnyFrame = DownFrame | UpFrame

DOWN_TYPES: tuple[type[Frame], ...] = (
    Spawn, Ping, Cancel, Throttle, Endpoints, Pause, Resume, Inject, Grant, Reply, Error,
)  # fmt: skip
UP_TYPES: tuple[type[Frame], ...] = (Ready, Pong, MeterFrame, Event, Request, Throttled, Error, Result)


def tag_of(frame: type[Frame] | Frame) -> str:
    """The name of a frame on the wire."""
    return str(frame.__struct_config__.tag)
