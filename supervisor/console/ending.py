"""The end of a run in words, for people. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.record import TerminalRecord, Usage
from protocol.status import EXIT_OK, EXIT_REFUSED
from supervisor.console.rendering import clean


def describe_end(record: TerminalRecord, problems: Sequence[str] = ()) -> list[str]:
    """Why it ended, unless it completed, and what it spent, in that order.

    `problems`: what the contract's check found wrong with the last answer. A refusal comes with the agent's words.
    """
    lines = [] if record.exit_code == EXIT_OK else [f"covey: {_reason(record)}"]
    lines += [f"covey: the last answer was not accepted: {_on_a_line(problem)}" for problem in problems]
    if record.exit_code == EXIT_REFUSED and record.partial:
        lines.append(f"covey: the agent says: {_on_a_line(record.partial)}")
    return [*lines, spend_line(record)]


def spend_line(record: TerminalRecord) -> str:
    """What the run used, and where its journal is."""
    usage = record.usage
    parts = [
        _count(usage.steps, "step"),
        f"{usage.tokens:,} tokens ({', '.join(_kinds_of_tokens(usage))})",
        _count(usage.tool_calls, "tool call"),
    ]
    if usage.tokens_estimated:
        parts.append(f"{usage.tokens_estimated:,} tokens are estimates")
    if usage.cost_microusd is not None:
        parts.append(f"${usage.cost_microusd / 1_000_000:.4f}")
    return f"spent: {', '.join(parts)}; journal: {clean(record.journal)}"


def _kinds_of_tokens(usage: Usage) -> list[str]:
    """They add up to `usage.tokens`: an agent that was killed did not tell all of its spend apart."""
    unknown = usage.charged_unknown
    kinds = [f"{usage.tokens_in:,} in", f"{usage.tokens_out:,} out"]
    if unknown:
        kinds.append(f"{unknown:,} charged for a call whose use is unknown")
    if (untold := usage.tokens - usage.tokens_in - usage.tokens_out - unknown) > 0:
        kinds.append(f"{untold:,} not told apart")
    return kinds


def _reason(record: TerminalRecord) -> str:
    words = [record.abort or record.status, *([record.detail] if record.detail else [])]
    told = f": {clean(record.about)}" if record.about else ""
    return f"{' / '.join(words)} (exit {record.exit_code}){told}"


def _on_a_line(text: str) -> str:
    return clean(" ".join(text.split()))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
