"""What a run can be told: facts in the past tense. Digests stand for content, so that the state stays small."""

from __future__ import annotations

import msgspec

from protocol.status import Abort, Detail
from protocol.status import TerminalStatus as Status


class AskedCall(msgspec.Struct, frozen=True):
    """One call of a reply. `key` digests its name and arguments.

    `refusal` is set for a call that can never run (broken, unknown, out of scope): the text that answers it.
    """

    id: str
    key: str
    refusal: str | None = None


class Asked(msgspec.Struct, frozen=True, tag=True):
    """A CallModel step was begun."""


class Replied(msgspec.Struct, frozen=True, tag=True):
    """A whole reply came. `unusable` is the detail of a reply that is no answer; `text` is a digest.

    `finish` is True when the model called the finish tool, `declined` when it says that it cannot be done.
    """

    text: str
    calls: tuple[AskedCall, ...] = ()
    unusable: Detail | None = None
    finish: bool = False
    declined: bool = False


class ModelGone(msgspec.Struct, frozen=True, tag=True):
    """The call failed for good. `detail` is the kind of the last failure, `about` words that are safe to log."""

    status: Status
    detail: Detail
    abort: Abort | None = None
    about: str = ""


class CallEnded(msgspec.Struct, frozen=True):
    """One call of the batch was answered: `result` digests the text that the model reads."""

    id: str
    result: str


class BatchEnded(msgspec.Struct, frozen=True, tag=True):
    """Every call of the batch was answered, in the order of the batch."""

    results: tuple[CallEnded, ...]


class BatchRefused(msgspec.Struct, frozen=True, tag=True):
    """No call of the batch was run, for want of `dimension`; each was answered so."""

    dimension: str


class AnswerChecked(msgspec.Struct, frozen=True, tag=True):
    """The verify gate has spoken. No problems: the answer stands."""

    problems: int


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """A cancel was received, with its reason."""

    reason: str
    dimension: str | None = None


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The runtime itself failed: journal, disk, or a bug of ours."""

    detail: Detail


BrainEvent = Asked | Replied | ModelGone | BatchEnded | BatchRefused | AnswerChecked | Cancelled | Failed
