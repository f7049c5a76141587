"""When we ourselves go wrong: a bug is loud, a full disk is an end, and neither leaves a process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from protocol.errors import LocalProtocolError
from supervisor.machine.events import ChildReady
from supervisor.machine.machine import Machine
from supervisor.run import supervise
from tests.supervisor.running import Recorder, children, fake_agent, make_plan, open_fds, processes_of

ENTRY = Path(__file__).parent / "children" / "entry.py"


def test_a_bug_of_ours_ends_the_run_loudly_and_leaves_nothing(tmp_path, monkeypatch):
    handle = Machine.handle

    def buggy(self: Machine, event, now):
        if isinstance(event, ChildReady):
            raise LocalProtocolError("ready", "a bug")
        return handle(self, event, now)

    monkeypatch.setattr(Machine, "handle", buggy)
    before, fds = children(), open_fds()
    with pytest.raises(LocalProtocolError, match="a bug is illegal"):
        supervise(make_plan(tmp_path), Recorder(), agent_argv=fake_agent("keeps_escapees"))
    assert open_fds() == fds
    assert children() <= before
    assert processes_of("r1") == []


def test_a_tree_log_that_cannot_be_written_ends_the_run_as_our_fault(tmp_path):
    ended = subprocess.run(
        [sys.executable, str(ENTRY), str(tmp_path), "r1", "never_pongs", '{"cancel_grace_s":0.2,"term_grace_s":0.2}'],
        stdout=subprocess.PIPE,
        timeout=20,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # a cut .pyc would break everybody's next import
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
    )
    record = msgspec.json.decode(ended.stdout)
    assert (record["status"], record["detail"], ended.returncode) == ("crashed", "io", 1)
    assert "tree log" in record["about"]
    assert processes_of("r1") == []
