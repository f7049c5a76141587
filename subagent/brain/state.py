"""The state of a run between two events, and the steps that it can ask for. Frozen values, serialisable."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from protocol.budget import Meter
from protocol.status import Abort, Detail, TerminalStatus
from subagent.brain.progress import Progress
from subagent.brain.repeats import Repeats


class Phase(StrEnum):
    """Where a run is. READY is the only phase in which limits are looked at."""

    READY = "ready"
    AWAITING_MODEL = "awaiting_model"
    AWAITING_TOOLS = "awaiting_tools"
    AWAITING_CHECK = "awaiting_check"
    TERMINAL = "terminal"


class End(msgspec.Struct, frozen=True):
    """How a run ended. `answered` tells that the last checked answer is its result."""

    status: TerminalStatus
    detail: Detail | None = None
    abort: Abort | None = None
    answered: bool = False


class PlannedCall(msgspec.Struct, frozen=True):
    """One call of the batch in hand. `refusal` is the text that answers it in place of a run; None: it runs."""

    id: str
    key: str
    refusal: str | None = None
    repeated: bool = False


class Stop(msgspec.Struct, frozen=True):
    """A cancel that was received: its reason, and the dimension where a budget is the reason."""

    reason: str
    dimension: str | None = None


class State(msgspec.Struct, frozen=True):
    """A run. `turns` counts accepted replies; `bad_replies` those in a row that were no answer and no call."""

    phase: Phase = Phase.READY
    turns: int = 0
    bad_replies: int = 0
    corrections: int = 0
    batch: tuple[PlannedCall, ...] = ()
    batch_text: str = ""
    finishing: bool = False
    declined: bool = False
    repeats: Repeats = Repeats()
    progress: Progress = Progress()
    stop: Stop | None = None
    end: End | None = None
    story: tuple[str, ...] = ()


class Situation(msgspec.Struct, frozen=True):
    """What the driver measured for this decision. Times are CLOCK_MONOTONIC seconds.

    `prompt_tokens` is the least that the next call must hold, `context_tokens` the likely size of its prompt.
    """

    now_s: float
    deadline_s: float
    meter: Meter
    prompt_tokens: int
    context_tokens: int
    context_window: int


class CallModel(msgspec.Struct, frozen=True):
    """Ask the model; answered by Replied or ModelGone."""

    turn: int


class RunTools(msgspec.Struct, frozen=True):
    """Run or refuse every call of the batch; answered by BatchEnded."""

    calls: tuple[PlannedCall, ...]


class RefuseBatch(msgspec.Struct, frozen=True):
    """The batch does not fit the limit `dimension`: run none of it; answered by BatchRefused."""

    calls: tuple[PlannedCall, ...]
    dimension: str


class CheckAnswer(msgspec.Struct, frozen=True):
    """Hold the answer against the contract; answered by AnswerChecked."""

    declined: bool


class Done(msgspec.Struct, frozen=True):
    """The run is over, for ever."""

    end: End


Step = CallModel | RunTools | RefuseBatch | CheckAnswer | Done
