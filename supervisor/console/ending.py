"""The end of a run in words, for people. Pure."""

from __future__ import annotations

from protocol.record import TerminalRecord
from protocol.status import EXIT_OK
from supervisor.console.rendering import clean


def describe_end(record: TerminalRecord) -> list[str]:
    """One or two lines: why it ended, unless it completed, and what it spent."""
    lines = [] if record.exit_code == EXIT_OK else [f"covey: {_reason(record)}"]
    return [*lines, spend_line(record)]


def spend_line(record: TerminalRecord) -> str:
    """What the run used, and where its journal is."""
    usage = record.usage
    parts = [
        _count(usage.steps, "step"),
        f"{usage.tokens:,} tokens ({usage.tokens_in:,} in, {usage.tokens_out:,} out)",
        _count(usage.tool_calls, "tool call"),
    ]
    if usage.tokens_estimated:
        parts.append(f"{usage.tokens_estimated:,} tokens are estimates")
    if usage.cost_microusd is not None:
        parts.append(f"${usage.cost_microusd / 1_000_000:.4f}")
    return f"spent: {', '.join(parts)}; journal: {clean(record.journal)}"


def _reason(record: TerminalRecord) -> str:
    words = [record.abort or record.status, *([record.detail] if record.detail else [])]
    told = f": {clean(record.about)}" if record.about else ""
    return f"{' / '.join(words)} (exit {record.exit_code}){told}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
