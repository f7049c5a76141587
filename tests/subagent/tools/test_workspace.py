"""A scope becomes tools: those that write only where the workspace may be written to."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from protocol.errors import SpecError
from protocol.frames import Scope, WorkspaceRoot
from subagent.tools.workspace import open_workspace_tools, workspace_has

READING = ["read_file", "list_dir", "search"]


def scope(*paths: str | Path, writable: bool = False) -> Scope:
    return Scope(workspace=tuple(WorkspaceRoot(str(path), writable) for path in paths))


def names(scope: Scope) -> list[str]:
    return [tool.spec.name for tool in open_workspace_tools(scope, 1_000)]


def test_a_read_only_workspace_has_no_tool_that_writes(inside: Path) -> None:
    assert names(scope(inside)) == READING


def test_a_writable_workspace_has_all_five(inside: Path) -> None:
    assert names(scope(inside, writable=True)) == [*READING, "write_file", "edit_file"]


def test_no_workspace_means_no_tools() -> None:
    assert names(Scope()) == []
    assert not workspace_has(Scope(), "a.txt")


def test_a_root_that_cannot_be_used_is_a_spec_error(inside: Path, outside: Path) -> None:
    (inside / "a.txt").touch()
    for bad in (inside / "a.txt", inside / "nothing", "relative"):
        with pytest.raises(SpecError, match="workspace: "):
            open_workspace_tools(scope(bad), 1_000)
    with pytest.raises(SpecError, match="2 roots are given, the workspace tools take one"):
        open_workspace_tools(scope(inside, outside), 1_000)


def test_every_parameter_schema_is_one_closed_object_that_a_provider_takes(inside: Path) -> None:
    for tool in open_workspace_tools(scope(inside, writable=True), 1_000):
        schema = msgspec.json.decode(tool.spec.parameters)
        jsonschema_rs.meta.validate(schema)
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert "$ref" not in tool.spec.parameters.decode()
        assert all(about["description"] for about in schema["properties"].values())


def test_what_the_workspace_has_is_a_file_or_folder_inside_it(inside: Path, outside: Path) -> None:
    (inside / "out").mkdir()
    (inside / "out" / "a.txt").touch()
    (inside / "link").symlink_to("../outside/secret.txt")
    present = [
        path
        for path in ("out", "out/a.txt", "link", "../outside/secret.txt", "x")
        if workspace_has(scope(inside), path)
    ]
    assert present == ["out", "out/a.txt"]
