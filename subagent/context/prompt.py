"""The shipped base prompt: one text with labelled sections, built once from the spawn payload.

It stays byte-identical from turn to turn, so that providers can cache it. Source: seed 004 section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.contract import Contract
from protocol.frames import Scope, SeedSlice
from subagent.tools.types import ToolSpec

PROMPT_VERSION = 1

_ROLE = """\
You are an agent that does one task with the tools it has, then answers. Nobody reads along: do not ask, decide.
Work in small steps. When you have what the task needs, give the final answer and stop."""

_VERIFY = """\
Before you answer, check the result against the world, not against your memory of it. Prefer, in this order: a tool
that proves it, the state of the files, then reading your own work again."""


def system_prompt(contract: Contract, scope: Scope, tools: Sequence[ToolSpec]) -> str:
    """The system message. Content from the task itself is in the user message."""
    sections = [
        ("role", _ROLE),
        ("tools", _tools_section(contract, scope, tools)),
        ("output", _output_section(contract)),
        ("verify", _VERIFY),
    ]
    return "\n\n".join(f"## {title}\n{text}" for title, text in sections)


def task_message(contract: Contract, seed: Sequence[SeedSlice]) -> str:
    """The user message that opens the conversation: objective, boundaries, and what the parent chose to pass on."""
    parts = [contract.objective]
    if contract.boundaries:
        parts.append("Boundaries:\n" + "\n".join(f"- {line}" for line in contract.boundaries))
    if contract.artifacts:
        parts.append("These files must exist when you are done: " + ", ".join(contract.artifacts))
    parts += [f"Context ({piece.label}):\n{piece.text}" for piece in seed]
    return "\n\n".join(parts)


def _tools_section(contract: Contract, scope: Scope, tools: Sequence[ToolSpec]) -> str:
    lines = ["You have no tools." if not tools else "A failing tool call is not the end: read the error and go on."]
    if tools and scope.workspace:
        can_write = any(root.writable for root in scope.workspace)
        lines.append(
            f"Paths are relative to the workspace, which you may {'read and write' if can_write else 'only read'}."
        )
    if contract.tool_guidance:
        lines.append(contract.tool_guidance)
    return "\n".join(lines)


def _output_section(contract: Contract) -> str:
    schema = contract.schema()
    if schema is None:
        form = "plain text" if contract.output_format == "text" else "Markdown"
        lines = [f"Answer in {form}, with nothing around it."]
    else:
        lines = ["Answer with one JSON value that satisfies this JSON Schema, and nothing else:", schema.decode()]
    if contract.grounded:
        lines.append("Copy every string and number of the answer exactly from a tool result or from the task.")
    return "\n".join(lines)
