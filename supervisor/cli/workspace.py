"""--workspace to a scope. Without it the agent reads the current folder and writes nowhere."""

from __future__ import annotations

import os
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
        return Scope(workspace=(WorkspaceRoot(_current_folder()),))
    path = _real_folder(workspace)
    state = Path(os.path.realpath(home))
    if path == state or path in state.parents or state in path.parents:
        raise SpecError(_FLAG, f"{str(path)!r} overlaps Covey's own state in {str(state)!r}: choose a folder beside it")
    if not os.access(path, os.W_OK | os.X_OK):
        raise SpecError(
            _FLAG, f"{str(path)!r} is not writable; without {_FLAG} the agent reads the current folder only"
        )
    return Scope(workspace=(WorkspaceRoot(str(path), writable=True),))


def _current_folder() -> str:
    try:
        return parse_utf8("the current folder", os.path.realpath(os.getcwd()))
    except FileNotFoundError as error:
        raise SpecError(_FLAG, f"the current folder is gone: change to another one or give {_FLAG}") from error


def _real_folder(workspace: str) -> Path:
    if not os.path.isdir(workspace):
        raise SpecError(_FLAG, f"{workspace!r} is not a folder: make it first")
    return Path(parse_utf8(_FLAG, os.path.realpath(workspace)))
