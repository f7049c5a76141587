"""`covey run` whole: real processes, a scripted endpoint, exit codes and streams."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from protocol.kinship import children_of
from tests.supervisor.running import wait_until

COVEY = [sys.executable, "-m", "supervisor", "run"]
KEYS = {
    "run", "agent", "path", "status", "detail", "abort", "exit_code", "result", "partial", "usage", "started_at",
    "ended_at", "journal",
}  # fmt: skip
LIST_FOLDER = {"calls": [{"name": "list_dir", "arguments": {"path": "."}}]}


@pytest.fixture
def scripted(tmp_path):
    """Starts `covey run` on the replies; the caller waits for it."""
    (tmp_path / "work").mkdir()

    def start(
        replies: list[dict[str, object]], *args: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE
    ):
        script = tmp_path / "replies.jsonl"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        environ = {"PATH": os.environ["PATH"], "COVEY_HOME": str(tmp_path / "home"), "TERM": "xterm"}
        return subprocess.Popen(
            [*COVEY, *args, "--model", f"scripted/{script}"],
            cwd=tmp_path / "work", env=environ, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
        )  # fmt: skip

    return start


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=30)
    return process.returncode, out.decode(), err.decode()


def test_stdout_is_the_answer_alone_and_stderr_is_json_lines(scripted):
    code, out, err = ended(scripted([LIST_FOLDER, {"text": "hello\n\n"}], "say hello"))
    assert (code, out) == (0, "hello\n")
    events = [json.loads(line) for line in err.splitlines()]
    assert {"run.start", "tool.call", "tool.result", "loop.final", "run.end"} <= {event["event"] for event in events}
    assert all({"ts", "level", "event", "run", "agent", "path", "pid"} <= event.keys() for event in events)


def test_json_prints_one_record_with_exactly_its_keys(scripted):
    code, out, _ = ended(scripted([{"text": "hello"}], "say hello", "--json", "--run-id", "mine"))
    record = json.loads(out)
    assert out.count("\n") == 1
    assert (code, record["exit_code"], record["status"], record["result"], record["run"]) == (
        0,
        0,
        "completed",
        "hello",
        "mine",
    )
    assert record.keys() == KEYS
    assert Path(record["journal"]).is_file()


def test_an_answer_to_a_json_contract_is_one_value(scripted, tmp_path):
    contract = tmp_path / "contract.json"
    contract.write_text(json.dumps({"objective": "give x", "output_format": {"json": {"required": ["x"]}}}))
    code, out, _ = ended(
        scripted([{"text": '{"y": 1}'}, {"text": '```json\n{"x": 1}\n```'}], "--contract", str(contract))
    )
    assert (code, out) == (0, '{"x":1}\n')


def test_a_failure_leaves_stdout_empty_and_says_why_in_words(scripted):
    code, out, err = ended(scripted([{"status": 401, "error": {"message": "no"}}], "x", "--log-format", "text"))
    assert (code, out) == (4, "")
    assert "covey: intelligence_unavailable / auth (exit 4)" in err
    assert "spent: " in err


def test_the_record_of_a_failure_agrees_with_the_exit_code(scripted):
    code, out, _ = ended(scripted([{"status": 401, "error": {"message": "no"}}], "x", "--json"))
    record = json.loads(out)
    assert (code, record["exit_code"], record["status"], record["abort"]) == (
        4,
        4,
        "crashed",
        "intelligence_unavailable",
    )


def test_a_limit_that_is_spent_before_any_result_is_exit_code_7(scripted):
    code, out, _ = ended(scripted([{**LIST_FOLDER, "repeat": "forever"}], "x", "--steps", "1"))
    assert (code, out) == (7, "")


def test_a_run_id_that_is_taken_is_a_usage_error(scripted):
    assert ended(scripted([{"text": "a"}], "x", "--run-id", "one"))[0] == 0
    code, out, err = ended(scripted([{"text": "a"}], "x", "--run-id", "one"))
    assert (code, out) == (2, "")
    assert "'one' is taken" in err


def test_a_reader_that_is_gone_makes_no_traceback(scripted):
    read, write = os.pipe()
    os.close(read)
    process = scripted([{"text": "hello"}], "x", stdout=write)
    os.close(write)
    err = process.communicate(timeout=30)[1]
    assert process.returncode == 0
    assert b"Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_at_any_moment_of_the_start_is_an_exit_with_3(scripted, number):
    for delay_ms in range(40, 260, 40):
        process = scripted([{"text": "late", "delay_s": 30}], "x", "--json")
        assert wait_until(lambda pid=process.pid: children_of(pid))  # the guard has forked
        time.sleep(delay_ms / 1000)
        process.send_signal(number)
        code, out, err = ended(process)
        assert code == 3, (delay_ms, err)
        assert "Traceback" not in err
        if out:
            assert json.loads(out)["status"] == "cancelled"
        else:
            assert err.strip() == "covey: interrupted before the run began"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("args", [(), ("--json",)])
def test_a_signal_ends_the_wait_for_a_reader_that_does_not_read_and_the_code_is_the_records(scripted, number, args):
    process = scripted([{"text": "done " * 40_000}], "x", *args)
    assert wait_until(lambda: fills(process.stdout.fileno()))
    process.send_signal(number)
    process.wait(timeout=20)
    code, out, err = ended(process)
    assert code == 0
    assert 4096 <= len(out) < 200_000
    assert "bytes for stdout were not read; the result is in " in err
    assert "before the run began" not in err


def test_a_signal_takes_nothing_from_a_reader_that_reads(scripted):
    process = scripted([{"text": "done " * 40_000}], "x")
    assert wait_until(lambda: fills(process.stdout.fileno()))
    process.send_signal(signal.SIGTERM)
    code, out, _ = ended(process)
    assert (code, len(out)) == (0, len("done " * 40_000 + "\n"))


def fills(pipe: int) -> bool:
    """Whether so much of an answer waits in the pipe that no more fits."""
    waiting = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return int.from_bytes(waiting, sys.byteorder) > 60_000


def test_a_terminal_shows_steps_and_spend_and_no_json(scripted):
    master, slave = pty.openpty()
    process = scripted([LIST_FOLDER, {"text": "hello"}], "x", stderr=slave)
    os.close(slave)
    seen = b""
    try:
        while piece := os.read(master, 65_536):
            seen += piece
    except OSError:  # the last writer is gone
        pass
    os.close(master)
    assert process.communicate(timeout=30)[0] == b"hello\n"
    assert process.returncode == 0
    shown = seen.decode()
    for part in ("turn 1", "list_dir: ok", "turn 2", "spent: 2 steps", "journal: "):
        assert part in shown
    assert '"event"' not in shown
