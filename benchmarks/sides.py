"""The two sides that the benchmarks compare, and how one run of either is taken."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.endpoint import Endpoint

HERE = Path(__file__).parent
COVEY = str(Path(sys.executable).with_name("covey"))


class Taken(msgspec.Struct, frozen=True):
    """One run, in ms: spawn to first request, first to last in ms a turn, last reply to exit, spawn to exit."""

    to_request_ms: float
    per_turn_ms: float
    to_exit_ms: float
    total_ms: float


def command(side: str, base_url: str) -> list[str]:
    if side == "bare":
        return [sys.executable, str(HERE / "bare_loop.py"), base_url]
    limits = ["--steps", "2000", "--tool-calls", "2000", "--tokens", "900000000"]
    return [COVEY, "run", "go", "--model", "custom/m", "--base-url", base_url, "--context-window", "0", *limits]


def take(side: str, turns: int) -> Taken:
    """Run one side against a fresh endpoint."""
    with Endpoint(turns) as endpoint, tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "w")
        workspace.mkdir()
        for n in range(turns):
            (workspace / f"f{n}.txt").write_text(f"file {n} " + "x" * 400)
        environment = {**os.environ, "COVEY_HOME": str(Path(folder, "home"))}
        began = time.monotonic()
        subprocess.run(
            command(side, endpoint.base_url),
            cwd=workspace,
            env=environment,
            check=True,
            capture_output=True,
            timeout=120,
        )
        ended = time.monotonic()
    stamps = endpoint.stamps
    gaps = [later[0] - earlier[1] for earlier, later in pairwise(stamps)]
    return Taken(
        (stamps[0][0] - began) * 1000,
        sum(gaps) / len(gaps) * 1000 if gaps else 0.0,
        (ended - stamps[-1][1]) * 1000,
        (ended - began) * 1000,
    )


def medians(taken: list[Taken]) -> Taken:
    """The median of each figure."""
    return Taken(*(median(getattr(one, field) for one in taken) for field in Taken.__struct_fields__))
