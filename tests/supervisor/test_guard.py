"""The guard with real processes: exit codes, signals, and nothing left whoever is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from protocol.kinship import children_of, read_stat
from supervisor.signals import ENDING, IGNORED
from tests.supervisor.running import alive, processes_of, tree_entries, wait_until

ROOT = Path(__file__).resolve().parents[2]
ENTRY = Path(__file__).parent / "children" / "entry.py"

RUN_GUARDED = "import sys\nsys.path.insert(0, {root!r})\nfrom supervisor.guard import run_guarded\n{body}\n"

IMPATIENT = '{"cancel_grace_s": 30.0, "term_grace_s": 30.0}'


class Covey:
    """A running `covey` with a fake agent."""

    def __init__(self, home: Path, behaviour: str, *settings: str, **how) -> None:
        self.home = home
        self.run_id = f"g{random.getrandbits(40)}"
        self.guard = subprocess.Popen(
            [sys.executable, str(ENTRY), str(home), self.run_id, behaviour, *settings],
            stdout=subprocess.PIPE,
            **how,
        )

    def wait_for_agent(self) -> int:
        """The agent's pid, once it has started to run its own code."""
        assert wait_until(lambda: "spawn" in self.entries())
        agent: int = self.entries()["spawn"]["pid"]
        assert wait_until(lambda: read_stat(agent) is None or len(os.listdir(f"/proc/{agent}/fd")) > 2)
        return agent

    def wait_for_ready(self) -> int:
        """The agent's pid, once its supervisor sleeps over it: nothing is left to do but to wait."""
        agent = self.wait_for_agent()
        assert wait_until(lambda: _sleeps(agent) and _sleeps(self.supervisor))
        time.sleep(0.1)
        return agent

    def entries(self) -> dict:
        log = self.home / "runs" / self.run_id / "tree.jsonl"
        return tree_entries(self.home, self.run_id) if log.exists() else {}

    @property
    def supervisor(self) -> int:
        [pid] = children_of(self.guard.pid)
        return pid

    def signal(self, number: signal.Signals) -> None:
        self.guard.send_signal(number)

    def end(self, within_s: float = 20.0) -> tuple[int, dict | None]:
        """The exit code and the record that was printed."""
        printed, _ = self.guard.communicate(timeout=within_s)
        return self.guard.returncode, msgspec.json.decode(printed) if printed else None

    def all_gone(self, within_s: float = 3.0) -> bool:
        return wait_until(lambda: not processes_of(self.run_id), within_s)


def _sleeps(pid: int) -> bool:
    stat = read_stat(pid)
    return stat is not None and stat.state == "S"


@pytest.fixture
def start(tmp_path: Path) -> Iterator:
    started: list[Covey] = []

    def start(behaviour: str, *settings: str, **how) -> Covey:
        started.append(Covey(tmp_path, behaviour, *settings, **how))
        return started[-1]

    yield start
    for covey in started:
        covey.guard.kill()
        covey.guard.communicate(timeout=20)
        for pid in processes_of(covey.run_id):
            os.kill(pid, signal.SIGKILL)


def run_guarded(body: str, **how) -> subprocess.CompletedProcess:
    program = RUN_GUARDED.format(root=str(ROOT), body=body)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=False, **how)


def test_the_commands_exit_code_is_the_guards():
    assert run_guarded("sys.exit(run_guarded(lambda: 124))").returncode == 124


def test_what_the_command_prints_comes_out_once():
    ended = run_guarded("print('before'); sys.exit(run_guarded(lambda: print('inside') or 0))")
    assert ended.stdout.decode().split() == ["before", "inside"]


def test_a_command_that_is_killed_by_a_signal_is_told_as_the_shell_would():
    assert run_guarded("import os; run_guarded(lambda: os.kill(os.getpid(), 9))").returncode == 128 + 9


def test_a_command_that_raises_is_a_failure_with_its_traceback():
    ended = run_guarded("run_guarded(lambda: 1 / 0)")
    assert ended.returncode == 1
    assert b"ZeroDivisionError" in ended.stderr


def test_a_reader_of_stdout_sees_its_end_when_the_command_closes_it():
    body = "import os, time\nrun_guarded(lambda: os.close(1) or time.sleep(600))"
    program = RUN_GUARDED.format(root=str(ROOT), body=body)
    guard = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert guard.stdout is not None
        assert guard.stdout.read() == b""
    finally:
        guard.kill()
        guard.communicate(timeout=20)


def test_standard_streams_that_are_closed_never_become_somebody_elses_pipe():
    body = "import os\nsys.exit(run_guarded(lambda: 0 if min(os.pipe()) > 2 else 1))"
    program = RUN_GUARDED.format(root=str(ROOT), body=body)
    ended = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -c "$1" <&- >&-', sys.executable, program], timeout=30, check=False
    )
    assert ended.returncode == 0


@pytest.mark.parametrize(("closed", "code"), [(">&-", 9), ("2>&-", 0), ("<&-", 0), (">&- 2>&-", 9), ("", 0)])
def test_a_closed_stdout_cannot_be_written_and_a_closed_stderr_can(closed, code):
    body = """
import os, errno
def write():
    os.read(0, 1)
    os.write(2, b"x")
    try: os.write(1, b"x")
    except OSError as error: return error.errno
    return 0
sys.exit(run_guarded(write))
"""
    program = RUN_GUARDED.format(root=str(ROOT), body=body)
    command = ["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, program]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    assert ended.returncode == code


def test_whatever_is_orphaned_below_it_is_reaped():
    body = """
import os, time
from protocol.kinship import children_of
def leave_orphans():
    for _ in range(50):
        pid = os.fork()
        if pid == 0:
            if os.fork() == 0: time.sleep(0.05)
            os._exit(0)
        os.waitpid(pid, 0)
    until = time.monotonic() + 15
    while children_of(os.getppid()) != [os.getpid()]:
        if time.monotonic() > until: return 1
        time.sleep(0.01)
    return 0
sys.exit(run_guarded(leave_orphans))
"""
    assert run_guarded(body).returncode == 0


def test_children_from_before_an_exec_are_spared():
    program = RUN_GUARDED.format(root=str(ROOT), body="sys.exit(run_guarded(lambda: 0))")
    ended = subprocess.run(
        ["/bin/sh", "-c", 'sleep 600 >&- 2>&- & echo $!; exec "$0" -c "$1"', sys.executable, program],
        capture_output=True,
        timeout=30,
        check=True,
    )
    stranger = int(ended.stdout)
    assert alive(stranger)
    os.kill(stranger, signal.SIGKILL)


@pytest.mark.skipif(os.geteuid() != 0, reason="a PID namespace without a user namespace needs root")
def test_it_is_a_fit_first_process_of_a_container(tmp_path):
    command = [sys.executable, str(ENTRY), str(tmp_path), "container", "leaves_an_escapee"]
    ended = subprocess.run(["unshare", "-pf", "--mount-proc", *command], capture_output=True, timeout=30, check=False)
    if b"unshare failed" in ended.stderr:
        pytest.skip("no PID namespaces here")
    assert (ended.returncode, msgspec.json.decode(ended.stdout)["status"]) == (0, "completed")


@pytest.mark.skipif(os.geteuid() != 0, reason="a PID namespace without a user namespace needs root")
@pytest.mark.parametrize("behaviour", ["answers", "leaves_an_escapee", "leaves_a_grandchild"])
def test_a_pid_namespace_that_sees_the_proc_of_another_is_swept_and_nobody_else_is(tmp_path, behaviour):
    strangers = [subprocess.Popen(["/bin/sleep", "600"]) for _ in range(3)]
    try:
        shell = '"$@"; code=$?; sleep 0; exit $code'  # a first process that outlives us: the kernel sweeps nothing
        command = ["unshare", "-pf", "/bin/sh", "-c", shell, "sh"]
        command += [sys.executable, str(ENTRY), str(tmp_path), "no-proc", behaviour]
        ended = subprocess.run(command, capture_output=True, timeout=30, check=False)
        if b"unshare failed" in ended.stderr:
            pytest.skip("no PID namespaces here")
        assert (ended.returncode, msgspec.json.decode(ended.stdout)["status"]) == (0, "completed"), ended.stderr
        assert processes_of("no-proc") == []
        assert all(stranger.poll() is None for stranger in strangers)
    finally:
        for stranger in strangers:
            stranger.kill()
            stranger.wait(timeout=20)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_a_well_behaved_agent_in_under_a_second(start, number):
    covey = start("obeys")
    covey.wait_for_ready()
    sent_at = time.monotonic()
    covey.signal(number)
    code, record = covey.end()
    assert time.monotonic() - sent_at < 4.0  # a second is asked for; SIGTERM would follow after five
    assert code == 3
    assert (record["status"], record["detail"], record["partial"]) == ("cancelled", "signal", "so far")
    assert covey.all_gone()


def test_a_signal_to_the_whole_group_counts_once_though_it_comes_twice(start):
    covey = start("obeys", process_group=0)
    covey.wait_for_ready()
    os.killpg(covey.guard.pid, signal.SIGTERM)
    code, record = covey.end()
    assert (code, record["partial"]) == (3, "so far")


def test_a_second_signal_kills_at_once(start):
    covey = start("ignores_everything", IMPATIENT)
    covey.wait_for_ready()
    covey.signal(signal.SIGTERM)
    time.sleep(0.3)  # signals closer than this are the same one
    covey.signal(signal.SIGTERM)
    code, record = covey.end()
    assert (code, record["status"], record["detail"]) == (3, "cancelled", "signal")
    assert covey.all_gone()


def test_a_signal_at_any_moment_of_the_start_ends_the_run_and_leaves_nothing(start):
    for delay_ms in range(0, 400, 25):
        covey = start("obeys")
        time.sleep(delay_ms / 1000)
        covey.signal(signal.SIGTERM)
        code, record = covey.end()
        assert code in (3, -signal.SIGTERM)  # killed: before the guard was there
        assert (code == 3) == (record is not None)
        assert covey.all_gone()


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGRTMIN + 3])
def test_a_signal_without_a_meaning_ends_neither_guard_nor_supervisor(start, number):
    covey = start("obeys")
    agent = covey.wait_for_ready()
    os.kill(covey.supervisor, number)
    covey.signal(number)
    covey.signal(signal.SIGTERM)
    code, record = covey.end()
    assert (code, record["status"], record["detail"]) == (3, "cancelled", "signal")
    assert not alive(agent)


def test_a_child_of_the_run_has_no_signal_ignored_or_held_back(start):
    covey = start("obeys")
    agent = covey.wait_for_agent()
    lines = Path(f"/proc/{agent}/status").read_text().splitlines()
    masks = {line.split()[0]: int(line.split()[1], 16) for line in lines if line.startswith(("SigB", "SigI"))}
    ours = sum(1 << (number - 1) for number in (*ENDING, *IGNORED))
    assert (masks["SigBlk:"], masks["SigIgn:"] & ours) == (0, 0)
    covey.signal(signal.SIGTERM)
    assert covey.end()[0] == 3


def test_what_a_hangup_shall_not_end_is_not_ended_by_it(start):
    covey = start("obeys", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    agent = covey.wait_for_ready()
    covey.signal(signal.SIGHUP)
    covey.signal(signal.SIGCONT)
    time.sleep(0.2)
    assert alive(agent)
    covey.signal(signal.SIGTERM)
    assert covey.end()[0] == 3


def test_a_stop_and_a_continue_of_the_guard_are_those_of_the_supervisor(start):
    covey = start("obeys", process_group=0)
    covey.wait_for_ready()
    supervisor = covey.supervisor
    covey.signal(signal.SIGTSTP)
    assert wait_until(lambda: read_stat(covey.guard.pid).state == read_stat(supervisor).state == "T")
    covey.signal(signal.SIGCONT)
    assert wait_until(lambda: "T" not in (read_stat(covey.guard.pid).state, read_stat(supervisor).state))
    covey.signal(signal.SIGTERM)
    assert covey.end()[0] == 3


@pytest.mark.parametrize("victim", ["guard", "supervisor", "agent", "guard and supervisor"])
def test_whoever_is_killed_at_whatever_moment_nothing_of_the_run_is_left(start, victim):
    moments = random.Random(victim)
    for _ in range(5):
        covey = start("keeps_escapees")
        agent = covey.wait_for_agent()
        time.sleep(moments.uniform(0, 0.15))
        supervisor = covey.supervisor
        pids = {"guard": [covey.guard.pid], "supervisor": [supervisor], "agent": [agent]}
        for pid in pids.get(victim, [covey.guard.pid, supervisor]):
            os.kill(pid, signal.SIGKILL)
        assert all(wait_until(lambda pid=pid: not alive(pid), 3.0) for pid in (supervisor, agent))
        if victim in ("supervisor", "agent"):
            assert covey.all_gone()
            code, record = covey.end()
            assert code == {"supervisor": 128 + 9, "agent": 1}[victim]
            assert (record is not None) == (victim == "agent")
