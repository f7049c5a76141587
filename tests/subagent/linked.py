"""A child process at the other end of a real link, and the supervisor's side of it in a test's hands."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence

from protocol.frames import AnyFrame, Result, Spawn
from protocol.record import Outcome
from protocol.session import Role, Session, Violation

AGENT = ("-I", "-B", "-m", "subagent", "--parent")
"""-B: a test may limit what the agent can write, and a cut .pyc would break everybody's next import."""


class LinkedChild:
    """A process and our session with it. `frames` holds what came and was not waited for yet."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.process = subprocess.Popen([sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.session = Session(Role.SUPERVISOR)
        self.frames: list[AnyFrame | Violation] = []

    def send(self, frame: AnyFrame) -> None:
        self.write(self.session.send(frame))

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def wait_for(self, kind: type | tuple[type, ...], named: str = "", within_s: float = 15.0) -> AnyFrame:
        """The next frame of this type (an event of this name); those before it stay in `frames`."""
        end_s = time.monotonic() + within_s
        while True:
            for n, frame in enumerate(self.frames):
                if isinstance(frame, kind) and (not named or getattr(frame, "name", "") == named):
                    return self.frames.pop(n)
            self._read(end_s, f"{kind} {named}")

    def outcome(self, within_s: float = 20.0) -> Outcome:
        """Wait for the result."""
        result = self.wait_for(Result, within_s=within_s)
        assert isinstance(result, Result)
        return result.outcome

    def stop(self) -> None:
        self.process.kill()
        with self.process:
            pass

    def _read(self, end_s: float, wanted: str) -> None:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        assert select.select([fd], [], [], max(0, end_s - time.monotonic()))[0], f"no {wanted} in time: {self.frames}"
        chunk = os.read(fd, 65_536)
        assert chunk, f"EOF before {wanted}: {self.frames}"
        self.frames += self.session.receive(chunk)


def start_agent(spawn: Spawn) -> LinkedChild:
    """A real subagent process that has been given its payload."""
    child = LinkedChild([*AGENT, str(os.getpid())])
    child.send(spawn)
    return child
