"""Whole runs with real processes: whatever the agent does, one typed record, and nothing is left."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from protocol.contract import Contract
from protocol.errors import SpecError
from protocol.frames import Scope, Spawn, WorkspaceRoot
from protocol.limits import Limits
from protocol.record import TerminalRecord
from protocol.status import Abort, Detail, TerminalStatus
from supervisor.machine.settings import DEFAULT_SETTINGS, SupervisionSettings
from supervisor.run import supervise
from tests.supervisor.running import (
    BRISK,
    Recorder,
    children,
    fake_agent,
    fake_service,
    make_plan,
    open_fds,
    processes_of,
    tree_entries,
    wait_until,
)

COMPLETED, CRASHED, CANCELLED = TerminalStatus.COMPLETED, TerminalStatus.CRASHED, TerminalStatus.CANCELLED


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No child, no descriptor and no signal mask of a run outlives it."""
    before, fds, mask = children(), open_fds(), signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    assert children() <= before
    assert open_fds() == fds
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == mask


def run(
    home: Path, behaviour: str, settings: SupervisionSettings = DEFAULT_SETTINGS, **changes
) -> tuple[TerminalRecord, Recorder]:
    seen = Recorder()
    record = supervise(make_plan(home, **changes), seen, agent_argv=fake_agent(behaviour), settings=settings)
    assert processes_of("r1") == []
    return record, seen


def answer_of(record: TerminalRecord) -> str:
    assert record.result is not None
    return msgspec.json.decode(record.result, type=str)


def test_an_answer_is_a_completed_record_logged_and_told(tmp_path):
    record, seen = run(tmp_path, "answers")
    assert (record.status, record.exit_code, answer_of(record)) == (COMPLETED, 0, "fine")
    assert (record.run, record.agent, record.path) == ("r1", "r1/0", "0")
    assert record.usage.tokens == record.usage.tree_tokens == 12
    assert record.usage.cpu_s > 0
    assert record.started_at < record.ended_at
    assert record.journal == str(tmp_path / "runs/r1/0/journal.jsonl")
    assert seen.names() == ["run.start", "agent.spawn", "agent.ready", "agent.exit", "run.end"]
    assert seen.fields("run.end")["status"] == COMPLETED
    assert {event.agent for event in seen.events} == {"r1/0"}


def test_the_tree_log_holds_the_mint_the_process_the_settlement_and_the_record(tmp_path):
    record, _ = run(tmp_path, "answers", limits=Limits(steps=5, deadline_s=60.0))
    entries = tree_entries(tmp_path)
    assert list(entries) == ["mint", "spawn", "settle", "run_end"]
    assert (entries["mint"]["limit"]["steps"], entries["mint"]["deadline_s"]) == (5, 60.0)
    assert entries["spawn"]["start_ticks"] > 0
    assert entries["settle"]["meter"]["spent"]["tokens"] == 12
    assert entries["run_end"]["record"] == msgspec.json.decode(msgspec.json.encode(record))


def test_what_is_written_is_for_its_owner_alone(tmp_path):
    os.umask(0o022)
    run(tmp_path / "home", "answers")
    for path in (tmp_path / "home").rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize(
    ("behaviour", "status", "detail"),
    [
        ("says_two_results", COMPLETED, None),
        ("stays_after_its_result", COMPLETED, None),
        ("leaves_a_grandchild", COMPLETED, None),
        ("leaves_an_escapee", COMPLETED, None),
        ("floods_stderr", COMPLETED, None),
        ("stores_its_answer", COMPLETED, None),
        ("refers_to_nothing", CRASHED, Detail.IO),
        ("refers_to_a_fifo", CRASHED, Detail.IO),
        ("claims_negative_use", CRASHED, Detail.EXIT),
        ("claims_more_use_than_a_count", CRASHED, Detail.EXIT),
        ("contradicts_itself", CRASHED, Detail.OUTPUT),
        ("answers_a_number", CRASHED, Detail.OUTPUT),
        ("exits_at_once", CRASHED, Detail.SPAWN),
        ("exits_silently", CRASHED, Detail.EXIT),
        ("dies_inside_a_frame", CRASHED, Detail.EXIT),
        ("is_killed", CRASHED, Detail.KILLED),
        ("stops_itself", CRASHED, Detail.STUCK),
        ("never_pongs", CRASHED, Detail.STUCK),
        ("closes_stdin", CRASHED, Detail.STUCK),
        ("closes_stdout", CRASHED, Detail.STUCK),
        ("asks_and_closes_stdout", CRASHED, Detail.STUCK),
        ("refuses_to_read", CRASHED, Detail.STUCK),
        ("prints_garbage_for_ever", CRASHED, Detail.OUTPUT),
    ],
)
def test_whatever_the_agent_does_the_run_ends_in_one_typed_record(tmp_path, behaviour, status, detail):
    record, seen = run(tmp_path, behaviour, BRISK)
    assert (record.status, record.detail) == (status, detail)
    assert seen.names()[-1] == "run.end"
    assert tree_entries(tmp_path)["run_end"]["record"]["status"] == status


def test_the_most_that_an_agent_can_claim_is_still_a_count_in_the_record(tmp_path):
    record, _ = run(tmp_path, "claims_the_most_use", BRISK)
    assert (record.status, record.usage.tokens) == (CRASHED, 2**53 - 1)
    assert tree_entries(tmp_path)["settle"]["meter"]["spent"]["cpu_s"] < 60


def test_a_use_that_cannot_be_is_told_as_a_violation(tmp_path):
    _, seen = run(tmp_path, "claims_negative_use")
    assert seen.fields("child.violation")["code"] == "invalid"


def test_an_agent_that_never_becomes_ready_is_stuck(tmp_path):
    record, _ = run(tmp_path, "never_ready", msgspec.structs.replace(BRISK, ready_s=0.5))
    assert (record.status, record.detail) == (CRASHED, Detail.STUCK)


def test_the_ladder_ends_an_agent_that_ignores_everything(tmp_path):
    record, seen = run(tmp_path, "ignores_everything", BRISK, limits=Limits(deadline_s=0.5))
    assert (record.status, record.exit_code) == (TerminalStatus.DEADLINE, 124)
    assert [name for name in seen.names() if name.startswith("drain")] == [
        "drain.cancel",
        "drain.terminate",
        "drain.kill",
    ]
    assert seen.fields("agent.exit")["signal"] == "SIGKILL"


def test_an_agent_that_overspends_is_stopped_by_what_it_reports(tmp_path):
    record, seen = run(tmp_path, "overspends", BRISK, limits=Limits(tokens=5_000))
    assert (record.status, record.detail) == (CRASHED, Detail.KILLED)
    assert seen.fields("drain.cancel") == {"reason": "budget"}
    assert record.usage.tokens > 5_000
    assert tree_entries(tmp_path)["settle"]["meter"]["spent"]["tokens"] == record.usage.tokens


def test_an_agent_that_reports_no_cpu_time_is_held_to_the_kernels_figure(tmp_path):
    record, _ = run(tmp_path, "burns_cpu", BRISK, limits=Limits(cpu_s=0.5))
    assert (record.status, record.detail) == (CRASHED, Detail.CPU)
    assert record.usage.cpu_s > 0.5


def test_a_held_call_that_nobody_saw_the_end_of_is_charged(tmp_path):
    record, seen = run(tmp_path, "is_killed")
    assert (record.usage.tokens, record.usage.charged_unknown) == (150, 50)
    assert seen.meters[-1].held.is_zero()


def test_garbage_is_told_and_strange_events_are_not_passed_on(tmp_path):
    record, seen = run(tmp_path, "prints_garbage")
    assert record.status is COMPLETED
    assert {event.fields["code"] for event in seen.events if event.event == "child.violation"} == {"garbage"}
    assert seen.fields("loop.start") == {"tools": 1, "context_window": 2}
    assert "loop.nonsense" not in seen.names()
    ignored = seen.fields("child.ignored")
    assert (ignored["unknown_frames"], ignored["unknown_events"], ignored["late_frames"]) == (1, 1, 0)
    assert ignored["violations"] > 0


def test_a_second_result_is_late_and_counted(tmp_path):
    record, seen = run(tmp_path, "says_two_results")
    assert answer_of(record) == "first"
    assert seen.fields("child.ignored")["late_frames"] == 1


def test_a_line_that_is_too_long_is_skipped_and_the_next_one_read(tmp_path):
    record, seen = run(tmp_path, "says_a_huge_line")
    assert answer_of(record) == "after the huge line"
    assert seen.fields("child.violation")["code"] == "oversize"


def test_text_for_display_is_shown_up_to_a_rate_and_is_no_event(tmp_path):
    record, seen = run(tmp_path, "floods")
    assert record.status is COMPLETED
    assert 0 < seen.deltas <= 200 * 10
    assert "intel.delta" not in seen.names()


def test_stderr_is_kept_up_to_a_bound(tmp_path):
    run(tmp_path, "floods_stderr")
    size = (tmp_path / "runs/r1/0/stderr.log").stat().st_size
    assert 1024 * 1024 <= size < 1024 * 1024 + 200


def test_a_result_behind_a_reference_is_in_the_record(tmp_path):
    record, _ = run(tmp_path, "stores_its_answer")
    assert answer_of(record) == "long" * 50_000


def test_what_escapees_were_killed_is_told(tmp_path):
    _, seen = run(tmp_path, "leaves_an_escapee")
    assert seen.fields("child.sweep")["count"] == 2


def test_the_payload_is_minted_from_the_plan_and_larger_than_a_pipe(tmp_path):
    scope = Scope((WorkspaceRoot(str(tmp_path), writable=True),))
    contract = Contract("x" * 200_000)
    record, seen = run(tmp_path, "tells_its_payload", BRISK, contract=contract, scope=scope)
    payload = msgspec.json.decode(answer_of(record), type=Spawn)
    assert (payload.run_id, payload.agent, payload.path, payload.depth) == ("r1", "r1/0", "0", 0)
    assert (payload.contract, payload.scope, payload.limits) == (contract, scope, Limits())
    assert payload.secrets is not None
    assert payload.secrets.api_key == "sk-secret"
    assert payload.ping_interval_s == BRISK.ping_interval_s
    assert payload.journal == record.journal
    assert seen.fields("run.start") == {"model": "openai/m1", "workspace": str(tmp_path), "writable": True}


def test_the_agents_environment_is_the_allow_list_and_its_run(tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "COVEY_API_KEY", "LD_PRELOAD_X", "PYTHONPATH"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    record, _ = run(tmp_path, "tells_its_environment")
    environment = msgspec.json.decode(answer_of(record), type=dict[str, str])
    assert "secret" not in environment.values()
    assert environment["COVEY_RUN"] == "r1"
    assert environment["LC_TIME"] == "C.UTF-8"
    assert environment["https_proxy"] == "http://127.0.0.1:1"


def test_a_program_that_is_not_there_is_a_crash_of_the_spawn(tmp_path):
    record = supervise(make_plan(tmp_path), Recorder(), agent_argv=("/nonexistent/python",))
    assert (record.status, record.detail) == (CRASHED, Detail.SPAWN)
    assert "No such file" in record.about


def test_a_run_id_is_taken_for_ever(tmp_path):
    run(tmp_path, "answers")
    with pytest.raises(SpecError, match="'r1' is taken: give another"):
        supervise(make_plan(tmp_path), Recorder())


def test_a_home_that_cannot_be_made_is_told_before_anything_starts(tmp_path):
    (tmp_path / "file").write_text("")
    seen = Recorder()
    with pytest.raises(SpecError, match="COVEY_HOME"):
        supervise(make_plan(tmp_path / "file" / "home"), seen)
    assert seen.events == []


FULL_DISK = """
mount -t tmpfs -o size=64k,nr_inodes=$1 tmpfs "$2" || exit 99
"$3" "$4" "$2/home" full answers
code=$?
test ! -e "$2/home/runs/full" || echo left >&2
exit $code
"""


@pytest.mark.parametrize("free_files", range(2, 10))
def test_a_disk_that_is_full_at_whatever_file_is_told_before_the_start_or_is_a_record(tmp_path, free_files):
    entry = Path(__file__).parent / "children" / "entry.py"
    words = [str(free_files), str(tmp_path), sys.executable, str(entry)]
    command = ["unshare", "-rm", "/bin/sh", "-c", FULL_DISK, "sh", *words]
    ended = subprocess.run(command, capture_output=True, timeout=30, check=False)
    if b"unshare" in ended.stderr or ended.returncode == 99:
        pytest.skip("no file system of one's own here")
    if ended.stdout:
        record = msgspec.json.decode(ended.stdout)
        assert (record["status"], record["detail"]) in {("completed", None), ("crashed", "io")}
    else:
        assert b"SpecError: COVEY_HOME" in ended.stderr
        assert not ended.stderr.endswith(b"left\n")


def test_too_few_descriptors_are_told_before_anything_starts(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_fds() + 10, limits[1]))
    try:
        with pytest.raises(SpecError, match="RLIMIT_NOFILE: .*ulimit -n"):
            supervise(make_plan(tmp_path), Recorder())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"limits": Limits(steps=0)}, "steps"), ({"contract": Contract("x" * 2_000_000)}, "contract")],
)
def test_a_plan_that_cannot_run_is_refused_with_nothing_written(tmp_path, changes, field):
    with pytest.raises(SpecError) as raised:
        supervise(make_plan(tmp_path, **changes), Recorder())
    assert raised.value.field == field
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("service", ["serves", "chatters", "stays"])
def test_a_services_endpoint_reaches_the_agent_and_the_service_ends_with_the_run(tmp_path, service):
    record, _ = run(tmp_path, "tells_its_payload", BRISK, service=fake_service(service))
    payload = msgspec.json.decode(answer_of(record), type=Spawn)
    assert payload.model.base_url == "http://127.0.0.1:4711/v1"


@pytest.mark.parametrize(
    ("service", "word"),
    [
        (fake_service("fails"), "exited with status 3"),
        (fake_service("misspeaks"), "no {base_url}"),
        (fake_service("hangs", 0.3), "within 0.3 s"),
    ],
)
def test_a_service_that_does_not_serve_ends_the_run_as_unavailable(tmp_path, service, word):
    record, _ = run(tmp_path, "answers", BRISK, service=service)
    assert (record.status, record.detail) == (CRASHED, Detail.SETUP)
    assert (record.abort, record.exit_code) == (Abort.INTELLIGENCE_UNAVAILABLE, 4)
    assert word in record.about


def test_a_service_that_cannot_be_started_is_a_fault_of_this_side(tmp_path):
    service = msgspec.structs.replace(fake_service("serves"), argv=("/nonexistent",))
    record, _ = run(tmp_path, "answers", BRISK, service=service)
    assert (record.status, record.detail, record.abort) == (CRASHED, Detail.SPAWN, None)
    assert "No such file" in record.about


def test_what_a_service_prints_on_stderr_is_in_the_run_folder(tmp_path):
    run(tmp_path, "answers", BRISK, service=fake_service("fails"))
    assert (tmp_path / "runs/r1/scripted/stderr.log").read_text() == "cannot bind\n"


def test_children_that_were_there_before_the_run_are_none_of_its_business(tmp_path):
    stranger = subprocess.Popen(["/bin/sleep", "60"])
    try:
        run(tmp_path, "leaves_an_escapee")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


QUICK = """
import os
os.write(1, b'{"type":"ready","pid":1}\\n{"type":"result","outcome":{"status":"completed","result":"fine"}}\\n')
os._exit(0)
"""


def test_a_result_written_before_the_exit_is_always_reported_even_when_every_cpu_is_busy(tmp_path):
    spinners = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(4)]
    try:
        for round_number in range(100):
            plan = make_plan(tmp_path, f"r{round_number}")
            record = supervise(plan, Recorder(), agent_argv=(sys.executable, "-I", "-S", "-c", QUICK))
            assert (record.status, answer_of(record)) == (COMPLETED, "fine")
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def test_descriptors_do_not_pile_up_over_many_runs_of_all_kinds(tmp_path):
    before = open_fds()
    for number, behaviour in enumerate(["answers", "exits_at_once", "is_killed", "leaves_an_escapee"] * 3):
        plan = make_plan(tmp_path, f"r{number}", service=fake_service("serves") if number % 2 else None)
        supervise(plan, Recorder(), agent_argv=fake_agent(behaviour), settings=BRISK)
        assert open_fds() == before


def test_the_loop_serves_while_an_agent_floods_it(tmp_path):
    """The deadline is the loop's own: it is kept though the pipe is never empty."""
    patient = msgspec.structs.replace(BRISK, max_violations=10**9)
    started = time.monotonic()
    record, _ = run(tmp_path, "prints_garbage_for_ever", patient, limits=Limits(deadline_s=0.5))
    assert record.status is TerminalStatus.DEADLINE
    assert time.monotonic() - started < 5 * 1.5


def test_a_run_that_still_runs_is_named_by_its_process(tmp_path):
    entry = Path(__file__).parent / "children" / "entry.py"
    other = subprocess.Popen([sys.executable, str(entry), str(tmp_path), "r1", "obeys"], stdout=subprocess.DEVNULL)
    try:
        assert wait_until((tmp_path / "runs/r1/tree.jsonl").exists)
        with pytest.raises(SpecError, match=r"'r1' is taken by a run of process \d+: give another"):
            supervise(make_plan(tmp_path), Recorder())
    finally:
        other.terminate()
        assert other.wait(20) == 3
