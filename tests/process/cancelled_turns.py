"""Cancels real agents at random moments of their turns; run by test_cancel.py.

    python cancelled_turns.py BASE_URL FOLDER ROUNDS SEED

This process has everything imported and plays the supervisor; each round is a fork that is the agent, on a
real link, with a real endpoint. Prints one JSON line: the ends that came, and the slowest time from a cancel
to the result in ms.
"""

from __future__ import annotations

import json
import os
import random
import select
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

import msgspec

from protocol.frames import Cancel, Policy, Result, Scope, Spawn, WorkspaceRoot
from protocol.limits import Limits
from protocol.model import ModelSpec
from protocol.session import Role, Session
from protocol.testing import minimal_spawn
from subagent.agent import run_agent
from subagent.cancel import CancelGate
from subagent.control import Control

LONGEST_WAIT_S = 0.12
PATIENCE_S = 10.0


def payload(base_url: str, folder: Path, round_: int) -> Spawn:
    """An agent that would go on for ever: nothing is counted as a repeat."""
    return msgspec.structs.replace(
        minimal_spawn("Go on."),
        model=ModelSpec("scripted", "test", base_url, context_window=0),
        journal=str(folder / f"{round_}.jsonl"),
        scope=Scope((WorkspaceRoot(str(folder), writable=True),)),
        policy=Policy(repeat_cap=10**6, idle_turns=10**6),
        limits=Limits(steps=10**6, tool_calls=10**6, tokens=10**9),
    )


def be_the_agent(read_fd: int, write_fd: int) -> NoReturn:
    control = Control(read_fd, write_fd, CancelGate())
    control.start()
    run_agent(control.wait_for_spawn(), control)
    os._exit(0)


def one_round(spawn: Spawn, wait_s: float) -> tuple[str, float]:
    """The status of one agent that is cancelled after `wait_s`, and how long it took to say so."""
    down, up = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(down[1])
        os.close(up[0])
        be_the_agent(down[0], up[1])
    os.close(down[0])
    os.close(up[1])
    session = Session(Role.SUPERVISOR)
    os.write(down[1], session.send(spawn))
    read_for(session, up[0], wait_s)
    began_s = time.monotonic()
    os.write(down[1], session.send(Cancel("request", 5.0)))
    status = read_for(session, up[0], PATIENCE_S) or "no result"
    took_s = time.monotonic() - began_s
    os.close(down[1])
    os.close(up[0])
    os.waitpid(pid, 0)
    return status, took_s


def read_for(session: Session, fd: int, seconds: float) -> str | None:
    """Take frames for so long, or until the result; its status."""
    end_s = time.monotonic() + seconds
    while (left_s := end_s - time.monotonic()) > 0:
        if select.select([fd], [], [], left_s)[0]:
            chunk = os.read(fd, 65_536)
            for frame in session.receive(chunk):
                if isinstance(frame, Result):
                    return str(frame.outcome.status)
            if not chunk:
                return None
    return None


def main(base_url: str, folder: Path, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    (folder / "notes.txt").write_text("x" * 2_000)
    ends: Counter[str] = Counter()
    slowest_s = 0.0
    for round_ in range(rounds):
        status, took_s = one_round(payload(base_url, folder, round_), chance.uniform(0, LONGEST_WAIT_S))
        ends[status] += 1
        slowest_s = max(slowest_s, took_s)
    print(json.dumps({"ends": ends, "slowest_ms": round(slowest_s * 1000, 1)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
