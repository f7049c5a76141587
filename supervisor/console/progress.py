"""What the live line says, as a value that events and meters move on. Pure: `now_s` comes in."""

from __future__ import annotations

import msgspec

from protocol.budget import Meter
from protocol.ids import ROOT_PATH
from supervisor.console.rendering import clean, text_line
from supervisor.observer import LogEvent

LONGEST_NAME = 48
"""Columns for a tool's name: it comes from a model or a server."""


class Progress(msgspec.Struct, frozen=True):
    """Where the run is. `turn` counts from 1, `started_s` is the caller's clock, `doing` a phrase."""

    started_s: float
    turn: int = 0
    doing: str = "starting"
    tokens: int = 0


def after_event(progress: Progress, event: LogEvent) -> Progress:
    """The progress once `event` has happened."""
    match event.event:
        case "intel.call":
            is_retry = event.fields.get("attempt", 1) != 1
            return msgspec.structs.replace(progress, turn=progress.turn + (not is_retry), doing="model")
        case "intel.retry":
            return msgspec.structs.replace(progress, doing="waiting to try again")
        case "tool.call":
            return msgspec.structs.replace(progress, doing=_tool(event))
        case "intel.result" | "tool.result" | "loop.resumed" | "agent.ready":
            return msgspec.structs.replace(progress, doing="thinking")
        case "loop.paused":
            return msgspec.structs.replace(progress, doing="paused")
        case "drain.cancel" | "drain.terminate" | "drain.kill":
            return msgspec.structs.replace(progress, doing="stopping")
        case _:
            return progress


def after_meter(progress: Progress, path: str, meter: Meter) -> Progress:
    """The progress once the agent at `path` has reported; the root's meter covers what is below it."""
    return msgspec.structs.replace(progress, tokens=meter.spent.tokens) if path == ROOT_PATH else progress


def live_line(progress: Progress, now_s: float) -> str:
    """The line: turn, tool, tokens, elapsed."""
    elapsed = elapsed_text(now_s - progress.started_s)
    return f"turn {progress.turn} · {progress.doing} · {progress.tokens:,} tokens · {elapsed}"


def elapsed_text(seconds: float) -> str:
    """0:07, 12:34, 1:02:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def finished_line(progress: Progress, event: LogEvent) -> str | None:
    """What stays above the live line once `event` has led to `progress`; None for what the live line alone shows."""
    fields = event.fields
    match event.event:
        case "tool.result":
            return f"  {_tool(event)}: {clean(str(fields.get('outcome')))}, {_ms(event)}"
        case "intel.result":
            tokens = f"{fields.get('tokens_in')} tokens in, {fields.get('tokens_out')} out"
            return f"turn {progress.turn}: {tokens}, {_ms(event)}"
        case "loop.correction":
            return f"  the check sent the answer back, problems: {clean(str(fields.get('problems')))}"
        case "run.end":
            return None  # the end is told in words, below the last line (supervisor.console.ending)
        case _:
            return text_line(event) if event.level in ("warning", "error") else None


def _tool(event: LogEvent) -> str:
    return clean(str(event.fields.get("tool") or "tool"))[:LONGEST_NAME]


def _ms(event: LogEvent) -> str:
    elapsed = event.fields.get("elapsed_ms")
    return f"{elapsed / 1_000:.1f} s" if isinstance(elapsed, int | float) else "- s"
