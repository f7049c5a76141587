"""The base prompt: labelled sections, stable bytes, and the task in the user message only."""

from __future__ import annotations

import msgspec

from protocol.contract import Contract, JsonFormat
from protocol.frames import Scope, SeedSlice, WorkspaceRoot
from subagent.context.prompt import system_prompt, task_message
from subagent.tools.types import READ_ONLY, ToolSpec

TOOL = ToolSpec("read_file", "reads", b"{}", READ_ONLY)
SCHEMA = b'{"type":"object","required":["name"]}'


def test_the_sections_are_labelled_and_the_text_is_the_same_each_time() -> None:
    contract = Contract("secret task", tool_guidance="Prefer read_file.")
    scope = Scope((WorkspaceRoot("/w"),))
    text = system_prompt(contract, scope, [TOOL])
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## role",
        "## tools",
        "## output",
        "## verify",
    ]
    assert text == system_prompt(contract, scope, [TOOL])
    assert "secret task" not in text
    assert "Prefer read_file." in text
    assert "only read" in text


def test_a_json_contract_shows_its_schema_and_a_grounded_one_asks_for_copies() -> None:
    contract = Contract("x", JsonFormat(msgspec.Raw(SCHEMA)), grounded=True)
    text = system_prompt(contract, Scope(), [])
    assert SCHEMA.decode() in text
    assert "Copy every string and number" in text
    assert "You have no tools." in text


def test_the_task_message_holds_objective_boundaries_artifacts_and_seed() -> None:
    contract = Contract("Do it.", boundaries=("no network",), artifacts=("out.txt",))
    text = task_message(contract, [SeedSlice("notes", "the sky is blue")])
    for part in ("Do it.", "- no network", "out.txt", "Context (notes):\nthe sky is blue"):
        assert part in text
