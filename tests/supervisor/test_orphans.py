"""Sweeping what descendants leave. In processes of their own: a sweep takes all children."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PRELUDE = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from protocol.kinship import adopt_orphans, children_of
from supervisor.orphans import children_until_now, sweep_orphans
adopt_orphans()
def child(run):
    pid = os.fork()
    if pid == 0:
        run()
        os._exit(0)
    return pid
def sweep_all(spared):
    killed, until = set(), time.monotonic() + 15
    while (swept := sweep_orphans(spared)).left:
        killed |= swept.killed
        assert time.monotonic() < until
    return killed
sleep = lambda: time.sleep(600)
"""


def run(body: str) -> None:
    ended = subprocess.run([sys.executable, "-c", PRELUDE + body], capture_output=True, timeout=30, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def test_without_children_there_is_nothing_to_do():
    run("assert children_until_now() == frozenset()\nassert sweep_orphans(()) == (frozenset(), 0)")


def test_what_was_there_before_is_spared_and_the_rest_killed_and_reaped():
    run(
        """
old = child(sleep)
before = children_until_now()
assert before == {old}
new = child(sleep)
assert sweep_all(before) == {new}
assert children_of(os.getpid()) == [old]
os.kill(old, 9); os.wait()
"""
    )


def test_grandchildren_that_come_to_us_are_killed_in_their_turn():
    run(
        """
def family():
    child(lambda: (os.setsid(), child(sleep), sleep()))
    child(sleep)
    sleep()
child(family)
until = time.monotonic() + 15
while len(children_of(children_of(os.getpid())[0])) < 2 and time.monotonic() < until: pass
assert len(sweep_all(())) >= 3
assert children_of(os.getpid()) == []
"""
    )


def test_a_child_that_proc_tells_and_the_kernel_does_not_is_left_alone():
    run(
        """
import supervisor.orphans as orphans
stranger = os.getppid()
orphans.own_children = lambda: [stranger, 2**22 - 1]
mine = child(sleep)
assert sweep_orphans(()) == (frozenset(), 0)
os.kill(mine, 9); os.wait()
"""
    )


def test_what_has_ended_by_itself_is_reaped_and_not_counted_as_killed():
    run(
        """
child(lambda: None)
os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
assert sweep_orphans(()) == (frozenset(), 0)
assert children_of(os.getpid()) == []
"""
    )
