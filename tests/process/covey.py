"""The `covey` command as a user runs it, with what it left behind in a test's hands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from protocol.kinship import read_stat

COVEY = str(Path(sys.executable).with_name("covey"))
READ_NOTES = {"calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}


class Sandbox:
    """A home, a workspace and a script of replies for one `covey run`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "w"
        self.workspace.mkdir()
        (self.workspace / "notes.txt").write_text("Alice owes 42 EUR\n")
        self.environment = {
            **{key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ},
            "COVEY_HOME": str(self.home),
        }
        self._folder = folder

    def script(self, *replies: object) -> str:
        """The name of a model that gives these replies."""
        path = self._folder / f"replies-{len(list(self._folder.glob('replies-*')))}.jsonl"
        path.write_text("\n".join(map(json.dumps, replies)))
        return f"scripted/{path}"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        """`covey ARGUMENTS`, in the workspace, running."""
        return subprocess.Popen(
            [COVEY, *arguments],
            cwd=self.workspace,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
        """`covey ARGUMENTS` to its end."""
        process = self.start(*arguments, **environment)
        stdout, stderr = process.communicate(timeout=40)
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def record(self, *arguments: str, **environment: str) -> dict:
        """The terminal record of `covey run --json ARGUMENTS`."""
        ran = self.run("run", "--json", *arguments, **environment)
        assert ran.stdout.count(b"\n") == 1, ran.stderr.decode()
        record = json.loads(ran.stdout)
        assert record["exit_code"] == ran.returncode
        return record

    def files(self) -> Iterator[Path]:
        """Everything that was written below the home."""
        return (path for path in self.home.rglob("*") if path.is_file())


def wait_until(holds: Callable[[], object], within_s: float, what: str) -> None:
    """Poll for an outcome. Fails with `what` when it does not come."""
    end_s = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end_s, f"not in {within_s} s: {what}"
        time.sleep(0.01)


def descendants(pid: int) -> list[int]:
    """The living processes below `pid`, zombies left out, deepest last."""
    stats = [stat for name in os.listdir("/proc") if name.isdigit() and (stat := read_stat(int(name))) is not None]
    found, below = [], [pid]
    while below:
        parent = below.pop(0)
        children = [stat.pid for stat in stats if stat.parent_pid == parent and stat.state != "Z"]
        found += children
        below += children
    return found


def command_line(pid: int) -> str:
    """What a process was started as; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether this very process still runs. A recycled pid is another process."""
    stat = read_stat(pid)
    return stat is not None and stat.start_ticks == start_ticks and stat.state != "Z"


def identities(pids: Sequence[int]) -> list[tuple[int, int]]:
    """(pid, start ticks) of those that still live."""
    return [(stat.pid, stat.start_ticks) for pid in pids if (stat := read_stat(pid)) is not None]


def kill_hard(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
