"""--workspace to a scope. Without it the agent reads the current folder and writes nowhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from protocol.errors import SpecError
from protocol.frames import Scope, WorkspaceRoot
from supervisor.cli.values import parse_utf8

_FLAG = "--workspace"


def read_scope(workspace: str | None, home: Path) -> Scope:
    """One root: `workspace`, writable, or the current folder, read-only. Raises SpecError naming the folder.

    A writable root never holds, and never lies in, Covey's own state: an agent must not reach its journal.
    """
    if workspace is None:
        return Scope(workspace=(WorkspaceRoot(current_folder()),))
    path = _real_folder(workspace)
    state = Path(os.path.realpath(home))
    if path == state or path in state.parents or state in path.parents:
        raise SpecError(_FLAG, f"{str(path)!r} overlaps Covey's own state in {str(state)!r}: choose a folder beside it")
    if not os.access(path, os.R_OK | os.X_OK):
        raise SpecError(_FLAG, f"{str(path)!r} cannot be read: give a folder that you may list and enter")
    if not os.access(path, os.W_OK):
        raise SpecError(
            _FLAG, f"{str(path)!r} is not writable; without {_FLAG} the agent reads the current folder only"
        )
    return Scope(workspace=(WorkspaceRoot(str(path), writable=True),))


def current_folder() -> str:
    """What an agent reads where no workspace is given. Raises SpecError if it cannot be read."""
    try:
        path = parse_utf8("the current folder", os.path.realpath(os.getcwd()))
    except FileNotFoundError as error:
        raise SpecError(_FLAG, f"the current folder is gone: change to another one or give {_FLAG}") from error
    if not os.access(path, os.R_OK | os.X_OK):
        raise SpecError(_FLAG, f"the current folder {path!r} cannot be read: change to another one or give {_FLAG}")
    return path


def check_artifacts(artifacts: Sequence[str], scope: Scope) -> None:
    """Raise SpecError for an artifact that nobody can make: it is not there, and no root is writable."""
    if any(root.writable for root in scope.workspace):
        return
    for artifact in artifacts:
        if not any(os.path.lexists(os.path.join(root.path, artifact)) for root in scope.workspace):
            raise SpecError(_FLAG, f"is missing: the contract asks for {artifact!r}, which the agent has to write")


def _real_folder(workspace: str) -> Path:
    path = os.path.realpath(workspace)
    if not workspace or not os.path.isdir(path):
        raise SpecError(_FLAG, f"{workspace!r} is not a folder: make it first")
    return Path(parse_utf8(_FLAG, path))
