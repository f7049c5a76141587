"""What `covey doctor` finds, tried for real on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from supervisor import doctor
from supervisor.doctor import Finding, examine, is_fit
from supervisor.local import weights

SECRET = "sk-very-secret-0123456789"


def findings(**environ: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(environ)}


def test_a_machine_that_runs_these_tests_is_fit(tmp_path):
    found = examine({"COVEY_HOME": str(tmp_path / "new" / "home")})
    assert is_fit(found), [finding for finding in found if finding.required and not finding.ok]
    assert list(tmp_path.iterdir()) == []


def test_the_key_is_found_and_its_value_is_nowhere(tmp_path):
    found = findings(COVEY_HOME=str(tmp_path), COVEY_MODEL="openai/gpt", OPENAI_API_KEY=SECRET)
    assert found["model"].ok
    assert "a key was found" in found["model"].about
    assert SECRET not in msgspec.json.encode(tuple(found.values())).decode()


def test_no_model_is_no_fault_but_one_that_cannot_be_used_is(tmp_path):
    assert not findings(COVEY_HOME=str(tmp_path))["model"].required
    broken = findings(COVEY_HOME=str(tmp_path), COVEY_MODEL="opnai/gpt")["model"]
    assert (broken.ok, broken.required) == (False, True)
    assert broken.about == "COVEY_MODEL: no provider 'opnai', did you mean openai?"


def test_a_model_that_is_not_installed_is_told_in_a_whole_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "has_engine", lambda: False)
    found = findings(COVEY_HOME=str(tmp_path), COVEY_MODEL="local/smollm2")["model"]
    assert found.about == "COVEY_MODEL: the embedded model is not installed: `./dev demo` installs it"


def test_the_current_folder_is_found_and_one_that_is_gone_is_told(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    assert findings(COVEY_HOME=str(tmp_path))["current folder"] == Finding(
        "current folder", True, False, str(tmp_path / "gone")
    )
    (tmp_path / "gone").rmdir()
    found = findings(COVEY_HOME=str(tmp_path))["current folder"]
    assert (found.ok, found.required) == (False, False)
    assert found.about == "the current folder is gone: change to another one or give --workspace"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_missing():
    assert not findings(COVEY_HOME="/proc/covey")["state"].ok


def test_a_home_under_a_file_is_missing(tmp_path):
    (tmp_path / "file").touch()
    assert not findings(COVEY_HOME=str(tmp_path / "file" / "home"))["state"].ok


def test_another_owner_of_a_package_is_named(monkeypatch, tmp_path):
    owners = {"supervisor": ["covey", "supervisor-ng"], "protocol": ["covey"], "subagent": ["covey"]}
    monkeypatch.setattr(doctor.metadata, "packages_distributions", lambda: owners)
    packages = findings(COVEY_HOME=str(tmp_path))["packages"]
    assert not packages.ok
    assert "supervisor-ng (supervisor)" in packages.about


def test_the_cgroup_folder_is_read_from_both_texts():
    mounts = "30 1 0:26 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n"
    assert doctor._own_cgroup("1:pids:/x\n0::/user.slice/a\n", mounts) == Path("/sys/fs/cgroup/unified/user.slice/a")
    assert doctor._own_cgroup("0::/\n", mounts) == Path("/sys/fs/cgroup/unified")
    assert doctor._own_cgroup("1:pids:/x\n", mounts) is None
    assert doctor._own_cgroup("0::/\n", "") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="a PID namespace without a user namespace needs root")
def test_the_proc_of_another_pid_namespace_is_told_and_what_follows_from_it():
    command = ["unshare", "-pf", sys.executable, "-m", "supervisor", "doctor"]
    ended = subprocess.run(command, capture_output=True, timeout=30, check=False)
    if b"unshare failed" in ended.stderr:
        pytest.skip("no PID namespaces here")
    [line] = [line.split() for line in ended.stdout.decode().splitlines() if "/proc " in line]
    assert line[:6] == ["without", "/proc", "of", "another", "PID", "namespace:"]
