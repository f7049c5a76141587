"""What each signal means: every one that would end a process has a place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from supervisor.signals import ENDING, IGNORED

FAULTS = {"SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS", "SIGSTKFLT", "SIGXCPU"}
PYTHONS_OWN = {"SIGPIPE", "SIGXFSZ"}
HARMLESS = {"SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"}


def test_every_signal_ends_in_order_or_is_ignored_or_is_a_fault():
    placed = {*ENDING, *IGNORED}
    left = {signal.Signals(number).name for number in signal.valid_signals() - placed}
    assert left == FAULTS & left | PYTHONS_OWN | HARMLESS | {"SIGKILL"}
    assert set(ENDING).isdisjoint(IGNORED)


def test_what_waits_is_seen_and_can_be_forgotten_and_what_is_ignored_never_waits():
    program = """
import os, signal
from supervisor.signals import ending_signals, forget_pending, hold_back, told_to_end
signal.signal(signal.SIGHUP, signal.SIG_IGN)
assert signal.SIGHUP not in hold_back() == ending_signals()
os.kill(os.getpid(), signal.SIGHUP)
assert not told_to_end()
os.kill(os.getpid(), signal.SIGTERM)
os.kill(os.getpid(), signal.SIGQUIT)
assert told_to_end()
forget_pending()
assert not told_to_end()
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=30, check=False, cwd=os.getcwd()
    )
    assert ended.returncode == 0, ended.stderr.decode()
