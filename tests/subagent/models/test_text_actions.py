from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.text_actions import FinalAction, ToolAction, read_action
from subagent.models.types import CallFault

READ = ToolAction("read_file", '{"path": "a"}', None)
WRITTEN = '{"action": "tool", "tool": "read_file", "args": {"path": "a"}}'


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        '{"tool": "read_file", "args": {"path": "a"}}',
        f"I will look at it.\n{WRITTEN}\nThen I will see.",
        f"```json\n{WRITTEN}\n```",
        f'{{"thought": "first read"}} {WRITTEN}',
        f"use {{ and {{ braces {WRITTEN}",
        f"a {{placeholder}} first: {WRITTEN}",
        '{"action": "tool", "tool": "read_file", "args": {"path": "a"}, "why": "} { \\" }"}',
        f'{WRITTEN} {{"action": "final", "answer": "imagined"}}',
    ],
)
def test_a_tool_action_is_found_alone_and_in_prose(text: str) -> None:
    assert read_action(text) == READ


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"action": "final", "answer": "done"}', "done"),
        ('{"action": "final", "answer": {"a": "é"}}', '{"a": "é"}'),
        ('{"action": "final", "answer": 5}', "5"),
        ('{"action": "final", "answer": null}', "null"),
        ('Here: {"action": "final", "answer": "{x}"} ok', "{x}"),
    ],
)
def test_a_final_answer_is_a_string_or_the_json_of_its_value(text: str, answer: str) -> None:
    assert read_action(text) == FinalAction(answer)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('{"action": "tool", "tool": "f"}', ToolAction("f", "{}", None)),
        ('{"action": "tool", "tool": "f", "args": null}', ToolAction("f", "{}", None)),
        ('{"action": "tool", "tool": "f", "args": [1]}', ToolAction("f", "[1]", CallFault.NOT_AN_OBJECT)),
        ('{"action": "tool", "tool": "f", "args": "{}"}', ToolAction("f", '"{}"', CallFault.NOT_AN_OBJECT)),
        ('{"action": "tool", "args": {}}', ToolAction("", "{}", CallFault.NO_NAME)),
        ('{"action": "tool", "tool": 5}', ToolAction("", "{}", CallFault.NO_NAME)),
        ('{"tool": " "}', ToolAction("", "{}", CallFault.NO_NAME)),
        ('{"tool": "f\\n"}', ToolAction("", "{}", CallFault.BAD_NAME)),
        ('{"tool": "%s"}' % ("f" * 129), ToolAction("", "{}", CallFault.BAD_NAME)),
    ],
)
def test_an_action_that_is_wrong_is_a_call_with_its_fault(text: str, action: ToolAction) -> None:
    assert read_action(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am done.",
        "{}",
        '{"action": "final"}',
        '{"action": "dance", "tool": "f"}',
        '{"answer": "x"}',
        '[{"answer": "x"}]',
        WRITTEN[:-1],
        '{"tool": "f", "args": {"a": 1, "a": 2}}',
        f"{{broken: {WRITTEN}}}",
        f'{{"cut": {WRITTEN}',
        f'{{ "cut": "{WRITTEN}',
        "{" * 100_000,
        "{}" * 10_000,
    ],
)
def test_what_is_no_action_is_none(text: str) -> None:
    assert read_action(text) is None


@given(st.text('{}"\\:, actionlfwer', max_size=60) | st.text())
def test_no_text_raises(text: str) -> None:
    read_action(text)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=4), st.text("abc {}\n", max_size=20))
def test_any_arguments_survive_in_any_prose_behind(arguments: dict[str, object], prose: str) -> None:
    import json

    written = json.dumps({"action": "tool", "tool": "f", "args": arguments})
    action = read_action(written + prose)
    assert isinstance(action, ToolAction)
    assert json.loads(action.arguments) == arguments
