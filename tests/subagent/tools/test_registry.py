"""The registry offers what is granted, and says of every other name why not."""

from __future__ import annotations

import pytest

from subagent.tools.beneath import Root
from subagent.tools.list_dir import ListDir
from subagent.tools.read_file import ReadFile
from subagent.tools.registry import Registry
from subagent.tools.types import Tool


@pytest.fixture
def tools(root: Root) -> tuple[Tool, ...]:
    return ReadFile(root, 1_000), ListDir(root, 1_000)


def offered(registry: Registry) -> list[str]:
    return [spec.name for spec in registry.specs()]


def test_none_grants_every_tool_and_an_empty_grant_none(tools: tuple[Tool, ...]) -> None:
    assert offered(Registry(tools, None)) == ["read_file", "list_dir"]
    assert offered(Registry(tools, ())) == []
    assert offered(Registry(tools, ("list_dir", "not_there"))) == ["list_dir"]


def test_a_granted_tool_is_found_by_its_exact_name(tools: tuple[Tool, ...]) -> None:
    assert Registry(tools, None).find("read_file") is tools[0]


@pytest.mark.parametrize(
    ("name", "granted", "told"),
    [
        ("Read_File", None, "there is no tool 'Read_File'. The tools are: read_file, list_dir"),
        ("read_file ", None, "there is no tool 'read_file '. The tools are: read_file, list_dir"),
        ("", None, "there is no tool ''. The tools are: read_file, list_dir"),
        ("read_file", ("list_dir",), "the tool 'read_file' is not granted to this agent. The tools are: list_dir"),
        (
            "read_file",
            (),
            "the tool 'read_file' is not granted to this agent. This agent has no tools: answer without them",
        ),
    ],
)
def test_another_name_is_answered_in_words(
    tools: tuple[Tool, ...], name: str, granted: tuple[str, ...] | None, told: str
) -> None:
    assert Registry(tools, granted).find(name) == told


def test_a_long_name_is_quoted_within_bounds(tools: tuple[Tool, ...]) -> None:
    told = Registry(tools, None).find("x" * 10_000)
    assert isinstance(told, str)
    assert len(told) < 300


def test_two_tools_of_one_name_are_a_bug(tools: tuple[Tool, ...]) -> None:
    with pytest.raises(ValueError, match="same name"):
        Registry((*tools, tools[0]), None)
