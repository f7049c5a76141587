"""The workspace tools of one agent, made from its scope."""

from __future__ import annotations

from protocol.errors import SpecError
from protocol.frames import Scope
from subagent.tools.beneath import PathRefused, Root, open_root
from subagent.tools.edit_file import EditFile
from subagent.tools.list_dir import ListDir
from subagent.tools.read_file import ReadFile
from subagent.tools.search import Search
from subagent.tools.types import Tool
from subagent.tools.write_file import WriteFile


def open_workspace_tools(scope: Scope, result_bytes: int) -> tuple[Tool, ...]:
    """The tools of the workspace; those that write only if it is writable, none at all without a workspace.

    `result_bytes` bounds the text of every result. Raises SpecError for a root that cannot be used.
    """
    root = _open(scope)
    if root is None:
        return ()
    tools: tuple[Tool, ...] = (ReadFile(root, result_bytes), ListDir(root, result_bytes), Search(root, result_bytes))
    return (*tools, WriteFile(root), EditFile(root)) if scope.workspace[0].writable else tools


def workspace_has(scope: Scope, path: str) -> bool:
    """Whether the workspace has a file or a folder at `path` now: a fact for the verify gate."""
    root = _open(scope)
    if root is None:
        return False
    try:
        with root.located(path):
            return True
    except PathRefused:
        return False


def _open(scope: Scope) -> Root | None:
    if len(scope.workspace) > 1:
        raise SpecError("scope.workspace", f"{len(scope.workspace)} roots are given, the workspace tools take one")
    return open_root(scope.workspace[0].path) if scope.workspace else None
