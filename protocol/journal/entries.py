"""The bodies of journal entries. The name of an entry is in ENTRY_TYPES; its fields are its struct's.

An agent's journal, in the order of a turn (RULINGS): hold -> reply (with usage) -> intents -> effects ->
outcomes -> next hold. It holds every input of a decision. A tree's log holds mints and settlements.
Secrets are in none of them: `started` holds the spawn payload without its `secrets`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from protocol.budget import Amounts, Ceiling, Meter
from protocol.frames import Policy, Spawn
from protocol.record import Outcome, TerminalRecord

CallOutcome = Literal["ok", "error", "rejected", "not_executed", "unknown_effect"]


# ---------------------------------------------------------------- an agent's journal


class Started(msgspec.Struct, frozen=True):
    """The spawn payload, without secrets."""

    spawn: Spawn


class Held(msgspec.Struct, frozen=True):
    """A hold, taken before the request of this turn and attempt leaves."""

    turn: int
    attempt: int
    amounts: Amounts


class CallIntent(msgspec.Struct, frozen=True):
    """A tool call as the model asked for it. `arguments` is its JSON object, encoded."""

    call_id: str
    tool: str
    arguments: str


class Replied(msgspec.Struct, frozen=True):
    """A model reply with its usage; closes the hold of its turn. Written before its first tool runs."""

    turn: int
    text: str
    calls: tuple[CallIntent, ...]
    stop: str
    used: Amounts
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    estimated: bool
    wire_faults: tuple[str, ...] = ()


class CallFailed(msgspec.Struct, frozen=True):
    """A model call that failed; closes the hold of its attempt with what it cost."""

    turn: int
    attempt: int
    kind: str
    used: Amounts


class Intent(msgspec.Struct, frozen=True):
    """A call is about to run. For a file tool, digests of the file before and after (hex SHA-256, None: absent)."""

    call_id: str
    tool: str
    mutating: bool
    repeatable: bool
    path: str | None = None
    before_sha256: str | None = None
    after_sha256: str | None = None


class Outcomed(msgspec.Struct, frozen=True):
    """How a call ended, and the text that the model is shown."""

    call_id: str
    outcome: CallOutcome
    content: str


class Corrected(msgspec.Struct, frozen=True):
    """The verify gate sent the answer of a turn back with these problems."""

    turn: int
    problems: tuple[str, ...]


class Injected(msgspec.Struct, frozen=True):
    """A steering message: accepted, then exactly one of applied or dropped."""

    id: str
    content: str
    state: Literal["accepted", "applied", "dropped"]


class Granted(msgspec.Struct, frozen=True):
    """The grant or the policy changed."""

    limit: Ceiling
    granted: Amounts
    epoch: int
    policy: Policy | None = None


class Paused(msgspec.Struct, frozen=True):
    """The run was paused (True) or resumed (False) at a safe point."""

    paused: bool


class CancelSeen(msgspec.Struct, frozen=True):
    """The cancel that this run ended on."""

    reason: str
    dimension: str | None = None


class Ended(msgspec.Struct, frozen=True):
    """The agent's own end."""

    outcome: Outcome


# ---------------------------------------------------------------- a tree's log


class Minted(msgspec.Struct, frozen=True):
    """A grant was minted for the agent at `path`, from the parent's (None: from the run's ceiling)."""

    path: str
    parent: str | None
    limit: Ceiling
    deadline_s: float


class Spawned(msgspec.Struct, frozen=True):
    """The process of an agent. A pid is known only together with its start time (clock ticks since boot)."""

    path: str
    pid: int
    start_ticks: int


class Settled(msgspec.Struct, frozen=True):
    """An agent's account at its end, whatever end it was."""

    path: str
    meter: Meter


class RunEnded(msgspec.Struct, frozen=True):
    """The terminal record of the root: the end of the run."""

    record: TerminalRecord


ENTRY_TYPES: dict[str, type[msgspec.Struct]] = {
    "started": Started,
    "hold": Held,
    "reply": Replied,
    "call_failed": CallFailed,
    "intent": Intent,
    "outcome": Outcomed,
    "corrected": Corrected,
    "inject": Injected,
    "grant": Granted,
    "pause": Paused,
    "cancel": CancelSeen,
    "end": Ended,
    "mint": Minted,
    "spawn": Spawned,
    "settle": Settled,
    "run_end": RunEnded,
}
"""The name of an entry on disk -> its body."""

NAME_OF: dict[type[msgspec.Struct], str] = {body: name for name, body in ENTRY_TYPES.items()}
