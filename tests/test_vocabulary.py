"""Every event of the vocabulary has an emitter in the code and a test that looks for it, with its own fields only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from protocol.events import EVENTS

ROOT = Path(__file__).parent.parent
SOURCES = [path for package in ("supervisor", "subagent") for path in (ROOT / package).rglob("*.py")]
TESTS = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]


@cache
def strings(*paths: Path) -> frozenset[str]:
    found: set[str] = set()
    for path in paths:
        tree = ast.parse(path.read_text())
        found |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return frozenset(found)


def emit_calls() -> Iterator[tuple[str, ast.Call]]:
    """Calls of the agent's `emit(name, field=…)`, whose fields are written out."""
    for path in (ROOT / "subagent").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "emit":
                name = node.args[0]
                assert isinstance(name, ast.Constant), f"{path}:{node.lineno}: an event name must be written out"
                yield str(name.value), node


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_has_an_emitter_and_a_test(name: str) -> None:
    assert name in strings(*SOURCES), "nothing emits it"
    assert any(name in text for text in strings(*TESTS)), "no test looks for it"


def test_the_agent_emits_only_names_and_fields_of_the_vocabulary() -> None:
    for name, call in emit_calls():
        assert name in EVENTS
        given = {keyword.arg for keyword in call.keywords}
        assert given == set(EVENTS[name].fields), name
