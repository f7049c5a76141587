"""The closed vocabulary of events: every name that a log line or an `event` frame may carry, with its fields.

Content is never in a field: lengths, counts, digests and typed words only (DESIGN section 8). A name has a
live emitter and a test that sees it (tests/test_vocabulary.py); a name without one is taken out.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from protocol.frames import EventValue

Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")


class EventKind(msgspec.Struct, frozen=True):
    """One name of the vocabulary: its level, its field names, and what it says happened."""

    level: Level
    fields: tuple[str, ...]
    meaning: str


FAMILIES = (
    "run", "agent", "loop", "intel", "tool", "budget", "spawn", "child", "drain", "plan", "route",
    "mcp", "context", "approval", "artifact", "config", "session", "batch", "log",
)  # fmt: skip
"""The first word of every name, closed too. A name joins its family together with its emitter."""

EVENTS: dict[str, EventKind] = {
    "run.start": EventKind("info", ("model", "workspace", "writable"), "a run was accepted and its budget minted"),
    "run.end": EventKind(
        "info",
        ("status", "detail", "abort", "exit_code", "tokens", "steps", "about"),
        "the record was settled; level warning with exit code 3, error with any other but 0",
    ),
    "agent.spawn": EventKind("debug", ("child_pid", "method"), "a child process was started"),
    "agent.ready": EventKind("info", ("features",), "set-up is done in the child"),
    "agent.exit": EventKind("info", ("exit_status", "signal", "cpu_s"), "the child's exit was seen"),
    "child.violation": EventKind("warning", ("code", "about"), "a child broke the protocol; it was answered"),
    "child.unhealthy": EventKind("warning", ("verdict", "silent_s"), "liveness judged a child stuck"),
    "child.ignored": EventKind(
        "debug",
        ("unknown_frames", "unknown_fields", "unknown_events", "late_frames", "violations", "display_dropped"),
        "what a child sent that was counted and skipped, told at its end if there was any",
    ),
    "child.sweep": EventKind("warning", ("count",), "processes left behind by a child were killed"),
    "drain.cancel": EventKind("info", ("reason",), "the kill ladder began: cancel was sent"),
    "drain.terminate": EventKind("warning", (), "the ladder sent SIGTERM to the group"),
    "drain.kill": EventKind("warning", (), "the ladder sent SIGKILL to the group"),
    "loop.start": EventKind("info", ("tools", "context_window"), "the agent's loop began"),
    "loop.step": EventKind("info", ("turn", "calls", "tokens"), "one model turn and its tools are over"),
    "loop.final": EventKind("info", ("status", "detail", "turns"), "the loop ended with this status"),
    "loop.error": EventKind("error", ("kind", "about"), "an error of the runtime itself ended the loop"),
    "loop.correction": EventKind("info", ("attempt", "problems"), "the verify gate sent an answer back"),
    "loop.inject": EventKind("info", ("id", "applied"), "a steering message was taken or dropped"),
    "loop.paused": EventKind("info", (), "the loop waits at a safe point"),
    "loop.resumed": EventKind("info", (), "the loop goes on after a pause"),
    "intel.call": EventKind("info", ("turn", "attempt", "request_bytes", "estimated_tokens"), "a model call begins"),
    "intel.result": EventKind(
        "info",
        ("turn", "tokens_in", "tokens_out", "tokens_cached", "estimated", "stop", "calls", "text_chars", "elapsed_ms"),
        "a model call returned",
    ),
    "intel.retry": EventKind(
        "warning", ("turn", "attempt", "kind", "delay_ms"), "a model call failed and is tried again"
    ),
    "intel.delta": EventKind("debug", ("text",), "text for display only; never logged or journalled"),
    "artifact.stored": EventKind("info", ("size_bytes",), "a value too large for a frame lies behind a reference"),
    "tool.call": EventKind("info", ("call_id", "tool", "args_bytes"), "a tool call begins"),
    "tool.result": EventKind(
        "info", ("call_id", "tool", "outcome", "result_bytes", "elapsed_ms"), "a tool call is over"
    ),
    "log.dropped": EventKind("warning", ("count",), "whoever reads stderr was too slow: lines were dropped"),
    "budget.warn": EventKind("warning", ("dimension", "left"), "80 % of a limit is used; the model was told once"),
}
"""name -> kind. What is not here is refused by `check_event`."""


def check_event(name: str, fields: dict[str, EventValue]) -> str | None:
    """None if the event is in the vocabulary, else what is wrong with it."""
    kind = EVENTS.get(name)
    if kind is None:
        return f"no event {name[:40]!r}"
    strange = [field for field in fields if field not in kind.fields]
    return f"{name} has no field {strange[0][:40]!r}" if strange else None


def is_logged(level: Level, least: Level) -> bool:
    """Whether an event of `level` passes a log whose least level is `least`."""
    return LEVELS.index(level) >= LEVELS.index(least)
