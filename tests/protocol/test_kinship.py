"""With real processes: each test ends by killing what it started, by pid."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from protocol.kinship import ProcessStat, children_of, read_stat

BOUND_S = 10.0

PRELUDE = """
import os, signal, sys, time
from protocol.kinship import adopt_orphans, children_of, die_with_parent, gain_no_privileges, hide_memory
def say(*words):
    print(*words, flush=True)
def sleep():
    while True:
        time.sleep(60)
"""

ARMED_CHILD = """
parent = os.getpid()
pid = os.fork()
if pid == 0:
    armed = die_with_parent(parent)
    say(os.getpid(), armed)
    sleep()
sleep()
"""

LATE_CHILD = """
middle = os.fork()
if middle == 0:
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent:
            time.sleep(0.002)
        say(os.getpid(), die_with_parent(parent))
    os._exit(0)
os.waitpid(middle, 0)
sleep()
"""

SUBREAPER = """
adopt_orphans()
middle = os.fork()
if middle == 0:
    grandchild = os.fork()
    if grandchild == 0:
        os.setsid()
        sleep()
    say(grandchild)
    os._exit(0)
os.waitpid(middle, 0)
say(*children_of(os.getpid()))
sleep()
"""


@pytest.fixture
def run() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts Python processes in groups of their own, and kills the groups at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + script], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=BOUND_S)


def words(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def group_of(pid: int) -> int | None:
    found = read_stat(pid)
    return None if found is None else found.group_id


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + BOUND_S
    while not holds():
        assert time.monotonic() < deadline, f"not within {BOUND_S} s: {what}"
        time.sleep(0.01)


def is_over(pid: int) -> bool:
    found = read_stat(pid)
    return found is None or found.state == "Z"


def test_a_child_dies_when_its_parent_is_killed(run: Callable[[str], subprocess.Popen[str]]) -> None:
    parent = run(ARMED_CHILD)
    pid, armed = words(parent)
    assert armed == "True"
    assert not is_over(int(pid))
    parent.kill()
    wait_until(lambda: is_over(int(pid)), "the child of a killed parent is gone")


def test_a_child_whose_parent_is_gone_already_is_told_so(run: Callable[[str], subprocess.Popen[str]]) -> None:
    _, armed = words(run(LATE_CHILD))
    assert armed == "False"


def test_a_subreaper_adopts_a_grandchild_that_lost_its_parent(run: Callable[[str], subprocess.Popen[str]]) -> None:
    process = run(SUBREAPER)
    (grandchild,) = words(process)
    try:
        assert words(process) == [grandchild]
        wait_until(lambda: group_of(int(grandchild)) == int(grandchild), "it leads a group of its own")
        found = read_stat(int(grandchild))
        assert found is not None
        assert found.parent_pid == process.pid
    finally:
        os.kill(int(grandchild), signal.SIGKILL)


def test_a_process_that_gave_up_privileges_says_so_to_the_kernel(run: Callable[[str], subprocess.Popen[str]]) -> None:
    process = run("gain_no_privileges(); say(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0])")
    assert words(process) == ["1"]


def test_a_process_that_hides_its_memory_cannot_be_dumped(run: Callable[[str], subprocess.Popen[str]]) -> None:
    script = "import ctypes; hide_memory(); say(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    assert words(run(script)) == ["0"]


def test_the_facts_of_a_process_are_those_that_the_kernel_tells(run: Callable[[str], subprocess.Popen[str]]) -> None:
    process = run("say('up'); sleep()")
    words(process)
    found = read_stat(process.pid)
    assert found is not None
    assert (found.pid, found.parent_pid, found.group_id) == (process.pid, os.getpid(), process.pid)
    wait_until(lambda: (read_stat(process.pid) or found).state == "S", "it sleeps")
    again = read_stat(process.pid)
    assert again is not None
    assert again.start_ticks == found.start_ticks
    os.kill(process.pid, signal.SIGSTOP)
    wait_until(lambda: (read_stat(process.pid) or found).state == "T", "it is stopped")


def test_cpu_ticks_of_a_busy_process_advance(run: Callable[[str], subprocess.Popen[str]]) -> None:
    process = run("say('up')\nwhile True: pass")
    words(process)
    first = read_stat(process.pid)
    assert first is not None
    wait_until(lambda: (read_stat(process.pid) or first).cpu_ticks > first.cpu_ticks, "cpu time grows")


@pytest.mark.parametrize("name", ["a b c", "x) R 1 1 (y", ")))", "(", "S 1 2 3", "né\n"])
def test_a_hostile_process_name_does_not_shift_the_fields(
    name: str, run: Callable[[str], subprocess.Popen[str]]
) -> None:
    process = run(f"open('/proc/self/comm', 'w').write({name!r}); say('up'); sleep()")
    words(process)
    found = read_stat(process.pid)
    assert found is not None
    assert (found.parent_pid, found.group_id) == (os.getpid(), process.pid)
    assert found.state in "RS"


def test_a_zombie_still_has_facts_and_a_reaped_process_has_none(run: Callable[[str], subprocess.Popen[str]]) -> None:
    process = run("say('up')")
    words(process)
    wait_until(lambda: (read_stat(process.pid) or _GONE).state == "Z", "it is a zombie")
    assert process.pid in children_of(os.getpid())
    process.wait(BOUND_S)
    assert read_stat(process.pid) is None
    assert process.pid not in children_of(os.getpid())


_GONE = ProcessStat(0, "?", 0, 0, 0, 0)


def test_a_pid_that_nobody_has_gives_none() -> None:
    assert read_stat(2**22 + 1) is None
