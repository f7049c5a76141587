"""Starting a process: what it gets, what it does not get, and what a failure leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from protocol.kinship import read_stat
from supervisor.process import Process
from supervisor.spawn import AGENT_ARGV, SpawnError, child_environment, spawn
from tests.supervisor.running import children, open_fds, wait_until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def spawned() -> Iterator:
    before, fds, processes = children(), open_fds(), []

    def start(script: str, **environment: str) -> Process:
        processes.append(spawn((sys.executable, "-I", "-S", "-c", script), environment))
        return processes[-1]

    yield start
    for process in processes:
        process.signal_group(signal.SIGKILL)
        process.wait(10)
        process.reap()
        for fd in (process.stdin_fd, process.stdout_fd, process.stderr_fd):
            os.close(fd)
        process.close()
    assert children() <= before
    assert open_fds() == fds


def said(fd: int) -> bytes:
    """Everything up to the end of a pipe that does not block."""
    os.set_blocking(fd, True)
    content = b""
    while chunk := os.read(fd, 65536):
        content += chunk
    return content


def test_a_child_leads_a_session_and_a_group_of_its_own(spawned):
    process = spawned("import os, sys; print(os.getsid(0), os.getpgrp(), sys.argv[-2:], flush=True)")
    expected = f"{process.pid} {process.pid} ['--parent', '{os.getpid()}']\n"
    assert said(process.stdout_fd).decode() == expected


def test_a_child_has_three_streams_and_no_other_descriptor(spawned):
    handed_down = os.dup(0)
    os.set_inheritable(handed_down, True)
    try:
        process = spawned("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))), flush=True)")
    finally:
        os.close(handed_down)
    assert said(process.stdout_fd) == b"[0, 1, 2, 3]\n"  # 3 is the listing's own


def test_a_child_has_default_signals_and_an_empty_mask(spawned):
    script = (
        "import re; status = open('/proc/self/status').read()\n"
        "print(*re.findall(r'Sig(?:Blk|Ign):\\s+(\\w+)', status), flush=True)"
    )
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = spawned(script)
    finally:
        signal.signal(signal.SIGHUP, ignored)
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
    blocked, still_ignored = (int(mask, 16) for mask in said(process.stdout_fd).split())
    assert blocked == 0
    assert not still_ignored & (1 << (signal.SIGHUP - 1))


def test_its_environment_is_what_it_is_given_and_nothing_else(spawned):
    process = spawned("import os; print(dict(os.environ), flush=True)", TZ="UTC")
    assert b"'TZ': 'UTC'" in said(process.stdout_fd)


def test_our_ends_of_its_pipes_never_block(spawned):
    process = spawned("import time; time.sleep(60)")
    assert not any(map(os.get_blocking, (process.stdin_fd, process.stdout_fd, process.stderr_fd)))
    with pytest.raises(BlockingIOError):
        os.read(process.stdout_fd, 1)


def test_a_pid_is_known_together_with_its_start(spawned):
    process = spawned("import time; time.sleep(60)")
    assert process.start_ticks == read_stat(process.pid).start_ticks > 0


def test_a_program_that_is_not_there_leaves_no_process_and_no_descriptor():
    before, fds = children(), open_fds()
    with pytest.raises(SpawnError, match="/nonexistent could not be started: No such file"):
        spawn(("/nonexistent",), {})
    assert open_fds() == fds
    assert children() <= before


LIMITED = """
import os, resource, sys
sys.path.insert(0, {root!r})
from supervisor.spawn import SpawnError, spawn
{limit}
before = len(os.listdir("/proc/self/fd"))
try:
    spawn(("/bin/true",), {{}})
except SpawnError as error:
    print(error)
    sys.exit(0 if len(os.listdir("/proc/self/fd")) == before else 5)
"""


@pytest.mark.parametrize(
    ("limit", "word"),
    [
        ("resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)); os.geteuid() or os.setuid(65534)", "temporarily"),
        ("resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))", "Too many open files"),
    ],
)
def test_a_limit_of_the_system_is_one_spawn_that_fails_and_says_so(limit, word):
    program = LIMITED.format(root=str(ROOT), limit=limit)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=20, check=False)
    assert ended.returncode == 0, ended
    assert word in ended.stdout.decode()


def test_the_environment_of_a_child_is_an_allow_list():
    ours = {
        "PATH": "/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "TMPDIR": "/t", "SSL_CERT_FILE": "f",
        "SSL_CERT_DIR": "d", "HTTP_PROXY": "p", "https_proxy": "p", "NO_PROXY": "n", "no_proxy": "n",
    }  # fmt: skip
    others = {"COVEY_API_KEY": "k", "OPENAI_API_KEY": "k", "PYTHONPATH": "x", "LD_PRELOAD": "x", "COVEY_RUN": "old"}
    assert child_environment(ours | others, "r1") == ours | {"COVEY_RUN": "r1"}


def test_an_agent_is_this_interpreter_isolated():
    assert (sys.executable, "-I", "-m", "subagent") == AGENT_ARGV


def test_a_child_that_is_spawned_is_signalled_only_until_it_is_reaped(spawned):
    process = spawned("import time; time.sleep(60)")
    process.signal_group(signal.SIGKILL)
    assert wait_until(lambda: process.exit_seen() is not None)
    process.reap()
    process.signal_group(signal.SIGKILL)
    assert process.reaped
