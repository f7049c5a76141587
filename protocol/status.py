"""How a run ends: the closed set of statuses, their details, and the exit code that follows.

Source: RULINGS "Ends", DESIGN section 2. A code is derived from the typed status alone, never from a text.
"""

from __future__ import annotations

from enum import StrEnum


class TerminalStatus(StrEnum):
    """Why an agent ended. Closed: nothing else is ever recorded."""

    COMPLETED = "completed"
    REFUSED = "refused"
    EXHAUSTED_STEPS = "exhausted_steps"
    EXHAUSTED_TOKENS = "exhausted_tokens"
    DEADLINE = "deadline"
    STALLED = "stalled"
    LOOP_DETECTED = "loop_detected"
    CANCELLED = "cancelled"
    CRASHED = "crashed"


class Abort(StrEnum):
    """What outside the agent was gone. Travels beside status `crashed`."""

    INTELLIGENCE_UNAVAILABLE = "intelligence_unavailable"
    MCP_UNAVAILABLE = "mcp_unavailable"


class Detail(StrEnum):
    """Which limit, which signal, which fault: the typed second word of an end."""

    STEPS = "steps"
    TOOL_CALLS = "tool_calls"
    TOKENS = "tokens"
    COST = "cost"
    CPU = "cpu"
    CONTEXT_WINDOW = "context_window"
    WALL_CLOCK = "wall_clock"
    CONTRACT = "contract"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    PAUSED = "paused"
    NO_PROGRESS = "no_progress"
    REPEATED_CALL = "repeated_call"
    BLOCKED = "blocked"
    REJECTED = "rejected"
    FAILED = "failed"
    PLAN_PARTIAL = "plan_partial"
    DECLINED = "declined"
    SIGNAL = "signal"
    REQUEST = "request"
    PARENT = "parent"
    INTERRUPTED = "interrupted"
    INDETERMINATE = "indeterminate"
    KILLED = "killed"
    OOM = "oom"
    BUG = "bug"
    STUCK = "stuck"
    OUTPUT = "output"
    EXIT = "exit"
    SPAWN = "spawn"
    SETUP = "setup"
    IO = "io"
    AUTH = "auth"
    REJECTED_REQUEST = "rejected_request"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"


SUPERVISOR_MAY_ATTRIBUTE = frozenset({TerminalStatus.CANCELLED, TerminalStatus.CRASHED, TerminalStatus.DEADLINE})
"""Only these may be said of an agent by its supervisor; all others are the agent's own word (DESIGN 2)."""

EXIT_OK = 0
EXIT_CRASHED = 1
EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_INTELLIGENCE = 4
EXIT_REFUSED = 5
EXIT_MCP = 6
EXIT_BUDGET = 7
EXIT_DEADLINE = 124

_ABORT_CODES = {Abort.INTELLIGENCE_UNAVAILABLE: EXIT_INTELLIGENCE, Abort.MCP_UNAVAILABLE: EXIT_MCP}

_CODES: dict[TerminalStatus, tuple[int, int]] = {
    TerminalStatus.COMPLETED: (EXIT_OK, EXIT_OK),
    TerminalStatus.REFUSED: (EXIT_REFUSED, EXIT_REFUSED),
    TerminalStatus.EXHAUSTED_STEPS: (EXIT_PARTIAL, EXIT_BUDGET),
    TerminalStatus.EXHAUSTED_TOKENS: (EXIT_PARTIAL, EXIT_BUDGET),
    TerminalStatus.DEADLINE: (EXIT_PARTIAL, EXIT_DEADLINE),
    TerminalStatus.STALLED: (EXIT_PARTIAL, EXIT_CRASHED),
    TerminalStatus.LOOP_DETECTED: (EXIT_PARTIAL, EXIT_CRASHED),
    TerminalStatus.CANCELLED: (EXIT_PARTIAL, EXIT_PARTIAL),
    TerminalStatus.CRASHED: (EXIT_PARTIAL, EXIT_CRASHED),
}
"""status -> (with a usable partial, without). The table of RULINGS, row by row."""


def exit_code(status: TerminalStatus, abort: Abort | None, usable_partial: bool) -> int:
    """The exit code of an end. `usable_partial`: non-empty text, or for a JSON contract a value that parses."""
    if abort is not None:
        return _ABORT_CODES[abort]
    with_partial, without = _CODES[status]
    return with_partial if usable_partial else without
