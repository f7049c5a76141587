"""`covey run` from outside: what is on stdout, what is in the record, and which exit code says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.process.covey import COVEY, READ_NOTES, Sandbox

RECORD_KEYS = [
    "run", "agent", "path", "status", "detail", "abort", "exit_code", "result", "partial", "usage", "started_at",
    "ended_at", "journal",
]  # fmt: skip
USAGE_KEYS = [
    "steps", "tokens", "tokens_in", "tokens_out", "tokens_cached", "tokens_estimated", "charged_unknown",
    "tree_tokens", "tool_calls", "cost_microusd", "cpu_s",
]  # fmt: skip


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def test_stdout_is_the_answer_alone(sandbox: Sandbox) -> None:
    ran = sandbox.run("run", "What does Alice owe?", "--model", sandbox.script(READ_NOTES, {"text": "42 EUR"}))
    assert (ran.returncode, ran.stdout) == (0, b"42 EUR\n")
    assert all(json.loads(line)["event"] for line in ran.stderr.splitlines())


def test_the_json_record_has_these_keys_and_the_spend(sandbox: Sandbox) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 60}
    replies = [{**READ_NOTES, "usage": usage}, {"text": "42 EUR", "usage": usage}]
    record = sandbox.record("What does Alice owe?", "--model", sandbox.script(*replies), "--run-id", "r1")
    assert list(record) == RECORD_KEYS
    assert list(record["usage"]) == USAGE_KEYS
    assert (record["run"], record["path"], record["status"], record["result"]) == ("r1", "0", "completed", "42 EUR")
    spent = {key: record["usage"][key] for key in ("steps", "tokens", "tokens_cached", "tree_tokens", "tool_calls")}
    assert spent == {"steps": 2, "tokens": 220, "tokens_cached": 120, "tree_tokens": 220, "tool_calls": 1}
    assert record["usage"]["cpu_s"] > 0
    assert Path(record["journal"]).is_file()


@pytest.mark.parametrize(
    ("replies", "flags", "status", "detail", "code"),
    [
        ([{"text": "ok"}], [], "completed", None, 0),
        ([{**READ_NOTES, "text": "so far", "repeat": "forever"}], ["--steps", "2"], "exhausted_steps", "steps", 3),
        ([{**READ_NOTES, "repeat": "forever"}], ["--steps", "2"], "exhausted_steps", "steps", 7),
        ([{"text": "x"}], ["--tokens", "100"], "exhausted_tokens", "tokens", 7),
        ([{"calls": READ_NOTES["calls"] * 2}], ["--tool-calls", "1"], "exhausted_steps", "tool_calls", 7),
        ([{"text": "late", "delay_s": 30}], ["--deadline", "1s"], "deadline", "wall_clock", 124),
        ([{"text": "", "repeat": "forever"}], [], "stalled", "empty", 1),
        ([{**READ_NOTES, "repeat": "forever"}], [], "loop_detected", "repeated_call", 1),
        ([{"status": 401}], [], "crashed", "auth", 4),
        ([{"calls": [{"name": "finish", "arguments": {"status": "refused"}}]}], [], "refused", "declined", 5),
    ],
)
def test_every_end_has_its_status_and_its_exit_code(sandbox, replies, flags, status, detail, code) -> None:
    record = sandbox.record("go", "--model", sandbox.script(*replies), *flags)
    assert (record["status"], record["detail"], record["exit_code"]) == (status, detail, code)


def test_an_endpoint_that_nobody_serves_exits_4_and_leaves_stdout_empty(sandbox: Sandbox) -> None:
    ran = sandbox.run("run", "go", "--model", "custom/m", "--base-url", "http://127.0.0.1:9/v1")
    assert (ran.returncode, ran.stdout) == (4, b"")


def test_a_contract_gives_checked_json_and_a_wrong_value_is_sent_back(sandbox: Sandbox, tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["eur"], "properties": {"eur": {"type": "number"}}}
    contract = {"objective": "What does Alice owe?", "output_format": {"json": schema}, "grounded": True}
    (tmp_path / "contract.json").write_text(json.dumps(contract))
    replies = [READ_NOTES, {"text": '{"eur": 43}'}, {"text": '{"eur": 42}', "expect": ["43"]}]
    ran = sandbox.run("run", "--contract", str(tmp_path / "contract.json"), "--model", sandbox.script(*replies))
    assert (ran.returncode, json.loads(ran.stdout)) == (0, {"eur": 42})
    assert b"loop.correction" in ran.stderr


def test_a_result_over_64_kib_is_delivered_whole(sandbox: Sandbox) -> None:
    text = "é" * 70_000
    ran = sandbox.run("run", "go", "--model", sandbox.script({"text": text}))
    assert ran.stdout.decode() == text + "\n"
    assert "artifact.stored" in ran.stderr.decode()


def test_the_default_workspace_is_the_current_folder_read_only(sandbox: Sandbox) -> None:
    write = {"calls": [{"name": "write_file", "arguments": {"path": "x", "content": "y"}}]}
    record = sandbox.record("go", "--model", sandbox.script(write, {"text": "done"}))
    assert record["status"] == "completed"
    assert not (sandbox.workspace / "x").exists()


def test_a_given_workspace_is_writable(sandbox: Sandbox) -> None:
    write = {"calls": [{"name": "write_file", "arguments": {"path": "x", "content": "y"}}]}
    sandbox.record("go", "--model", sandbox.script(write, {"text": "done"}), "--workspace", str(sandbox.workspace))
    assert (sandbox.workspace / "x").read_text() == "y"


def test_two_runs_of_one_id_are_refused_before_any_side_effect(sandbox: Sandbox) -> None:
    sandbox.record("go", "--model", sandbox.script({"text": "x"}), "--run-id", "same")
    before = sorted(sandbox.files())
    ran = sandbox.run("run", "go", "--model", sandbox.script({"text": "x"}), "--run-id", "same")
    assert ran.returncode == 2
    assert b"same" in ran.stderr
    assert sorted(sandbox.files()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "go", "--stepz", "3"],
        ["run", "go", "--steps", "0"],
        ["run", "go", "--tokens", "-5"],
        ["run", "go", "--deadline", "10"],
        ["run", "go", "--model", "scripted/nowhere.jsonl"],
        ["run"],
        ["run", "go"],
        ["rnu", "go"],
    ],
)
def test_a_bad_command_line_exits_2_and_makes_nothing(sandbox: Sandbox, arguments: list[str]) -> None:
    ran = sandbox.run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert not sandbox.home.exists()


def test_without_a_model_the_choices_are_told(sandbox: Sandbox) -> None:
    ran = sandbox.run("run", "go")
    assert ran.returncode == 2
    for choice in (b"./dev demo", b"OPENAI_API_KEY", b"--base-url", b"scripted/"):
        assert choice in ran.stderr


def test_what_a_run_writes_is_for_its_owner_only(sandbox: Sandbox) -> None:
    sandbox.record("go", "--model", sandbox.script({"text": "x"}))
    for path in sandbox.home.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_contract_that_is_missed_tells_people_why(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "contract.json").write_text(
        json.dumps({"objective": "x", "output_format": {"json": {"type": "array"}}})
    )
    model = sandbox.script({"text": '{"a": 1}', "repeat": "forever"})
    ran = sandbox.run("run", "--contract", str(tmp_path / "contract.json"), "--model", model, "--log-format", "text")
    told = ran.stderr.decode()
    assert "covey: stalled / contract" in told
    assert 'covey: the last answer was not accepted: $: it is not of type "array"' in told


def test_a_refusal_tells_people_the_agents_words_and_programs_find_them_in_partial(sandbox: Sandbox) -> None:
    finish = {"name": "finish", "arguments": {"status": "refused", "summary": "no receipt\x1b[2J here"}}
    ran = sandbox.run("run", "go", "--model", sandbox.script({"calls": [finish]}), "--log-format", "text")
    assert (ran.returncode, ran.stdout) == (5, b"")
    assert "covey: the agent says: no receipt[2J here\n" in ran.stderr.decode()
    assert sandbox.record("go", "--model", sandbox.script({"calls": [finish]}))["partial"] == "no receipt\x1b[2J here"


@pytest.mark.parametrize(
    ("reply", "flags", "seen"),
    [
        ({"text": "ok"}, [], []),
        ({"status": 401}, [], [("error", 4)]),
        ({**READ_NOTES, "text": "so far", "repeat": "forever"}, ["--steps", "1"], []),
    ],
)
def test_a_log_of_errors_alone_tells_a_run_that_failed(sandbox: Sandbox, reply, flags, seen) -> None:
    ran = sandbox.run("run", "go", "--model", sandbox.script(reply), "--log-level", "error", *flags)
    events = [json.loads(line) for line in ran.stderr.splitlines()]
    assert [(e["level"], e["exit_code"]) for e in events if e["event"] == "run.end"] == seen


def test_a_log_of_warnings_tells_a_partial_result(sandbox: Sandbox) -> None:
    model = sandbox.script({**READ_NOTES, "text": "so far", "repeat": "forever"})
    ran = sandbox.run("run", "go", "--model", model, "--log-level", "warning", "--steps", "1")
    last = json.loads(ran.stderr.splitlines()[-1])
    assert (ran.returncode, last["event"], last["level"]) == (3, "run.end", "warning")


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_an_answer_that_nobody_gets_because_stdout_is_closed_is_a_failure(sandbox: Sandbox, flags) -> None:
    arguments = ["run", "go", "--model", sandbox.script({"text": "ok"}), "--log-format", "text", *flags]
    ran = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", COVEY, *arguments],
        cwd=sandbox.workspace, env=sandbox.environment, capture_output=True, timeout=40, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert b"covey: stdout cannot be written: Bad file descriptor; the result is in " in ran.stderr
