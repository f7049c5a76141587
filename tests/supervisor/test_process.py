"""One process as the kernel shows it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from supervisor.process import Exit, Process
from supervisor.spawn import spawn
from tests.supervisor.running import wait_until


@contextlib.contextmanager
def running(script: str):
    process = spawn((sys.executable, "-I", "-S", "-c", script), {})
    try:
        yield process
    finally:
        process.signal_group(signal.SIGKILL)
        process.wait(10)
        process.reap()
        for fd in (process.stdin_fd, process.stdout_fd, process.stderr_fd):
            os.close(fd)
        process.close()


def exit_of(process: Process) -> Exit:
    assert wait_until(lambda: process.exit_seen() is not None)
    seen = process.exit_seen()
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("script", "status", "name"),
    [
        ("raise SystemExit(7)", 7, None),
        ("import os; os.kill(os.getpid(), 9)", None, "SIGKILL"),
        ("import os; os.abort()", None, "SIGABRT"),
        ("import os; os.kill(os.getpid(), 40)", None, "SIG40"),
    ],
)
def test_how_it_ended_is_seen_while_it_is_still_a_zombie(script, status, name):
    with running(script) as process:
        seen = exit_of(process)
        assert (seen.status, seen.signal) == (status, name)
        assert exit_of(process) == seen


def test_nothing_is_seen_of_an_exit_while_it_lives():
    with running("import time; time.sleep(60)") as process:
        assert process.exit_seen() is None
        process.reap()
        assert not process.reaped


def test_cpu_time_is_known_while_it_runs_and_after_it_ended():
    with running("while sum(range(10**6)): pass") as process:
        assert wait_until(lambda: process.observe().cpu_s >= 0.05)
        process.signal_group(signal.SIGKILL)
        assert exit_of(process).cpu_s >= 0.05


def test_a_stopped_process_is_seen_to_be():
    with running("import time; time.sleep(60)") as process:
        assert not process.observe().stopped
        process.signal_group(signal.SIGSTOP)
        assert wait_until(lambda: process.observe().stopped)


def test_a_signal_reaches_all_of_the_group():
    script = "import os, time; os.fork(); print('up', flush=True); time.sleep(60)"
    with running(script) as process:
        os.set_blocking(process.stdout_fd, True)
        assert len(os.read(process.stdout_fd, 6) + os.read(process.stdout_fd, 6)) >= 6
        process.signal_group(signal.SIGKILL)
        assert exit_of(process).signal == "SIGKILL"
        while os.read(process.stdout_fd, 100):
            pass  # its end: no member of the group is left that holds it


@pytest.mark.parametrize("pid", [-1, 0, 1, os.getpgrp()])
def test_what_is_no_group_of_a_child_of_ours_is_never_held_to_be_signalled(pid):
    with pytest.raises(ValueError, match="leads no group"):
        Process(pid, 0, 0, 0, 0)


def test_a_reused_pid_is_not_observed():
    with running("pass") as process:
        exit_of(process)
        process.reap()
        assert process.observe().cpu_s == 0.0


def test_it_signals_no_group_but_the_childs():
    """Ours has a bystander in it: it lives on."""
    bystander = subprocess.Popen(["/bin/sleep", "60"])
    try:
        with running("import time; time.sleep(60)") as process:
            process.signal_group(signal.SIGKILL)
            exit_of(process)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
