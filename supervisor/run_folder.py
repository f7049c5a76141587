"""One run's folder: runs/RUN/{lock, tree.jsonl, 0/journal.jsonl, 0/stderr.log}. Folders 0700, files 0600.

"Running" is never stored: it is the held lock, which ends with the process that holds it, however that dies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from pathlib import Path

from protocol.errors import SpecError
from protocol.ids import ROOT_PATH

LOCK_NAME = "lock"
JOURNAL_NAME = "journal.jsonl"
STDERR_NAME = "stderr.log"


class RunFolder:
    """A folder that is this process's alone until `close`."""

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd

    def agent_folder(self, path: str) -> Path:
        """The folder of the agent at `path`, made if it is missing."""
        folder = self.path / path
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def journal_of(self, path: str) -> Path:
        """Where the agent at `path` writes its journal."""
        return self.agent_folder(path) / JOURNAL_NAME

    def stderr_of(self, child: str) -> Path:
        """Where the stderr of an agent (by path) or of a service (by name) goes."""
        return self.agent_folder(child) / STDERR_NAME

    def discard(self) -> None:
        """Take back a folder in which nothing ran: its id is free again."""
        shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """Release the lock."""
        os.close(self._lock_fd)


def open_run_folder(home: str, run_id: str) -> RunFolder:
    """Make and lock the folder of a new run. Raises SpecError if the id is taken or the home cannot be written.

    An id is taken for ever: its folder holds the record of what it was.
    """
    root = Path(os.path.abspath(home))
    path = root / "runs" / run_id
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if _make_new(path):
            return _furnished(path)
    except OSError as error:
        raise SpecError("COVEY_HOME", f"{home} cannot be written: {error.strerror}; choose another folder") from error
    raise SpecError("--run-id", f"{run_id!r} is taken{_holder(path)}: give another one, or none")


def _make_new(path: Path) -> bool:
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True


def _furnished(path: Path) -> RunFolder:
    """A new folder with its lock and the root's folder in it, or OSError and no folder."""
    folder = None
    try:
        folder = RunFolder(path, _lock(path))
        folder.agent_folder(ROOT_PATH)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
        if folder is not None:
            folder.close()
        raise
    return folder


def _lock(path: Path) -> int:
    fd = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(fd, f"{os.getpid()}\n".encode())
    except BaseException:
        os.close(fd)
        raise
    return fd


def _holder(path: Path) -> str:
    """Who runs it, if it is running."""
    with contextlib.suppress(OSError), open(path / LOCK_NAME, "rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return f" by a run of process {opened.read(20).decode().strip()}"
    return ""
