"""Stopping a run: soon, with one typed end, and with nothing left behind. Real processes, real signals."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.journal.log import read_journal
from tests.process.covey import COVEY, Sandbox, command_line, descendants, identities, is_alive, kill_hard, wait_until

LATE = {"text": "late", "delay_s": 60, "repeat": "forever"}
GONE_WITHIN_S = 3.0
KILL_ROUNDS = 6


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


@pytest.fixture
def started(sandbox: Sandbox) -> Iterator:
    running: list[subprocess.Popen[bytes]] = []

    def start(*flags: str) -> subprocess.Popen[bytes]:
        running.append(sandbox.start("run", "go", "--json", "--model", sandbox.script(LATE), "--run-id", "r1", *flags))
        return running[-1]

    yield start
    for process in running:
        left = identities(descendants(process.pid))
        process.kill()
        process.communicate()
        for pid, ticks in left:
            if is_alive(pid, ticks):
                kill_hard(pid)


def wait_for_call(sandbox: Sandbox) -> None:
    """Until the agent has its first model call in flight."""
    journal = sandbox.home / "runs" / "r1" / "0" / "journal.jsonl"
    wait_until(lambda: journal.exists() and b'"hold"' in journal.read_bytes(), 20, "the first call")


def tree(process: subprocess.Popen[bytes]) -> dict[str, int]:
    """The processes of a run by their part: guard, supervisor, agent, endpoint."""
    found = {"guard": process.pid}
    for pid in descendants(process.pid):
        line = command_line(pid)
        part = "agent" if "-m subagent" in line else "endpoint" if "supervisor.scripted" in line else "supervisor"
        found[part] = pid
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_during_a_model_call_ends_the_run_as_cancelled(sandbox, started, number: signal.Signals) -> None:
    process = started()
    wait_for_call(sandbox)
    began_s = time.monotonic()
    process.send_signal(number)
    stdout, _ = process.communicate(timeout=20)
    assert time.monotonic() - began_s < 5.0  # under a second, five times over for a shared machine
    record = json.loads(stdout)
    assert (process.returncode, record["status"], record["detail"]) == (3, "cancelled", "signal")
    assert record["usage"]["charged_unknown"] > 0


def test_a_signal_to_the_whole_group_is_one_signal(sandbox: Sandbox) -> None:
    model = sandbox.script(LATE)
    process = subprocess.Popen(
        sandbox_command(model), cwd=sandbox.workspace, env=sandbox.environment, process_group=0,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for_call(sandbox)
        os.killpg(process.pid, signal.SIGTERM)
        stdout, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, json.loads(stdout)["status"]) == (3, "cancelled")


def sandbox_command(model: str) -> list[str]:
    return [COVEY, "run", "go", "--json", "--model", model, "--run-id", "r1"]


@pytest.mark.parametrize("part", ["supervisor", "guard", "agent", "endpoint"])
def test_after_a_sigkill_of_any_part_nothing_of_the_run_is_alive(sandbox, started, part: str) -> None:
    process = started()
    wait_for_call(sandbox)
    parts = tree(process)
    assert set(parts) == {"guard", "supervisor", "agent", "endpoint"}
    family = identities(list(parts.values()))
    kill_hard(parts[part])
    if part == "endpoint":
        process.terminate()
    process.communicate(timeout=20)
    wait_until(lambda: not [i for i in family if is_alive(*i)], 5 * GONE_WITHIN_S, f"all gone after the {part}")


@pytest.mark.timeout(120)
def test_after_a_sigkill_at_a_random_moment_nothing_is_alive(sandbox: Sandbox) -> None:
    chance = random.Random(4711)
    for n in range(KILL_ROUNDS):
        process = sandbox.start("run", "go", "--model", sandbox.script(LATE), "--run-id", f"k{n}")
        time.sleep(chance.uniform(0.0, 0.6))  # the moment itself is what is drawn, nothing is waited for
        pids = [process.pid, *descendants(process.pid)]
        family = identities(pids)
        kill_hard(chance.choice(pids))
        if n % 2:
            process.send_signal(signal.SIGTERM)
        wait_until_dead(process, family)


def wait_until_dead(process: subprocess.Popen[bytes], family: list[tuple[int, int]]) -> None:
    """An agent or endpoint that was killed ends the run; so does the death of those above it."""
    try:
        process.communicate(timeout=15)
    except subprocess.TimeoutExpired:  # the endpoint was killed before it was of use: the run is still asking
        process.terminate()
        process.communicate(timeout=15)
    wait_until(lambda: not [i for i in family if is_alive(*i)], 5 * GONE_WITHIN_S, "all gone")


def test_a_killed_agent_ends_as_crashed_and_its_hold_is_charged(sandbox, started) -> None:
    process = started()
    wait_for_call(sandbox)
    kill_hard(tree(process)["agent"])
    record = json.loads(process.communicate(timeout=20)[0])
    assert (record["status"], record["detail"], record["exit_code"]) == ("crashed", "killed", 1)
    assert record["usage"]["charged_unknown"] > 0


def test_a_run_has_exactly_one_end_in_its_log(sandbox, started) -> None:
    process = started()
    wait_for_call(sandbox)
    process.terminate()
    process.communicate(timeout=20)
    entries = [entry.type for entry in read_journal(sandbox.home / "runs" / "r1" / "tree.jsonl")]
    assert entries == ["mint", "spawn", "settle", "run_end"]


def test_a_deadline_ends_a_call_that_hangs(sandbox, started) -> None:
    process = started("--deadline", "1s")
    record = json.loads(process.communicate(timeout=30)[0])
    assert (record["status"], record["exit_code"]) == ("deadline", 124)
