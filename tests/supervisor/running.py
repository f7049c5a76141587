"""Runs with fake agents: plans, an observer that remembers, and bounded waits for what should come to pass."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from protocol.budget import Meter
from protocol.contract import Contract
from protocol.frames import Policy, Scope, Secrets, Telemetry
from protocol.journal.log import read_journal
from protocol.kinship import children_of, read_stat
from protocol.limits import Limits
from protocol.model import ModelSpec
from supervisor.machine.settings import SupervisionSettings
from supervisor.observer import LogEvent
from supervisor.plan import RunPlan, ServicePlan

CHILDREN = Path(__file__).parent / "children"

BRISK = SupervisionSettings(
    ping_interval_s=0.1, progress_s=1.0, ready_s=5.0, cancel_grace_s=0.3, term_grace_s=0.3, service_grace_s=0.5
)
"""A supervisor with little patience, so that a test need not have any."""


def fake_agent(behaviour: str) -> tuple[str, ...]:
    return (sys.executable, str(CHILDREN / "agent.py"), behaviour)


def fake_service(behaviour: str, start_timeout_s: float = 10.0) -> ServicePlan:
    argv = (sys.executable, str(CHILDREN / "service.py"), behaviour)
    return ServicePlan("scripted", argv, start_timeout_s)


def make_plan(home: Path, run_id: str = "r1", **changes: Any) -> RunPlan:
    plan = RunPlan(
        run_id=run_id,
        home=str(home),
        contract=Contract("count the stars"),
        model=ModelSpec("openai", "m1", "http://127.0.0.1:9/v1"),
        limits=Limits(),
        scope=Scope(),
        policy=Policy(),
        telemetry=Telemetry(),
        secrets=Secrets("sk-secret"),
        service=None,
    )
    return msgspec.structs.replace(plan, **changes)


class Recorder:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.events: list[LogEvent] = []
        self.meters: list[Meter] = []
        self.text = ""
        self.deltas = 0

    def event(self, event: LogEvent) -> None:
        self.events.append(event)

    def meter(self, path: str, meter: Meter) -> None:
        self.meters.append(meter)

    def delta(self, path: str, text: str) -> None:
        self.deltas += 1

    def tick(self) -> None:
        pass

    def close(self) -> None:
        pass

    def names(self) -> list[str]:
        return [event.event for event in self.events]

    def fields(self, name: str) -> dict[str, Any]:
        return next(event.fields for event in self.events if event.event == name)


def tree_entries(home: Path, run_id: str = "r1") -> dict[str, Any]:
    """The entries of a tree log by type; of each type the last."""
    entries = read_journal(home / "runs" / run_id / "tree.jsonl")
    return {entry.type: msgspec.json.decode(entry.body) for entry in entries}


def alive(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.state != "Z"


def processes_of(run_id: str) -> list[int]:
    """Living processes that carry the marker of a run."""
    mark = f"COVEY_RUN={run_id}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            environment = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            if mark in environment and alive(int(name)):
                found.append(int(name))
    return found


def wait_until(true: Callable[[], object], within_s: float = 10.0) -> bool:
    """Whether something came to pass in time."""
    until = time.monotonic() + within_s
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def children() -> set[int]:
    """Our own. A process that ran `supervise` is a subreaper: orphans of other tests may be among them."""
    return set(children_of(os.getpid()))


def open_fds() -> int:
    return len(os.listdir("/proc/self/fd"))
