"""The API key is in no log, journal, argv, record or environment, at any level, on any failure path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from supervisor.scripted.replies import parse_replies
from supervisor.scripted.server import ScriptedServer
from tests.process.covey import READ_NOTES, Sandbox, descendants, wait_until

KEY = "sk-4711-this-must-not-show"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def assert_nowhere(sandbox: Sandbox, *texts: bytes) -> None:
    for text in texts:
        assert KEY.encode() not in text
    for path in sandbox.files():
        assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "replies",
    [
        b'{"text": "fine"}',
        b'{"status": 401, "error": {"message": "bad key sk-4711-this-must-not-show"}, "repeat": "forever"}',
        b'{"status": 500, "error": {"message": "echo sk-4711-this-must-not-show"}, "repeat": "forever"}',
        b'{"cut": "headers", "repeat": "forever"}',
        b'{"raw": ["data: sk-4711-this-must-not-show"], "repeat": "forever"}',
        b'{"text": "your key is sk-4711-this-must-not-show"}',
        b'{"calls": [{"name": "search", "arguments": {"text": "sk-4711-this-must-not-show"}}], "repeat": "forever"}',
        b'{"calls": [{"name": "sk-4711-this-must-not-show"}], "finish_reason": "sk-4711-this-must-not-show"}',
        b'{"calls": [{"name": "f", "arguments": "{sk-4711-this-must-not-show", "id": "sk-4711-this-must-not-show"}]}',
    ],
)
def test_no_failure_of_the_endpoint_shows_the_key(sandbox: Sandbox, replies: bytes) -> None:
    with ScriptedServer(parse_replies(replies, "test")) as endpoint:
        arguments = ("--model", "custom/m", "--base-url", endpoint.base_url, "--log-level", "debug", "--json")
        ran = sandbox.run("run", "go", *arguments, COVEY_API_KEY=KEY)
        assert endpoint.requests[0].bearer_sha256 is not None
    assert_nowhere(sandbox, ran.stdout, ran.stderr)


@pytest.mark.parametrize("key", [KEY + "\n", KEY + " x\ty", "é" + KEY])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(sandbox: Sandbox, key: str) -> None:
    arguments = ("--model", "custom/m", "--base-url", "http://127.0.0.1:9/v1")
    ran = sandbox.run("run", "go", *arguments, COVEY_API_KEY=key)
    assert ran.returncode != 0
    assert_nowhere(sandbox, ran.stdout, ran.stderr)


def test_no_process_below_the_supervisor_has_the_key_in_argv_or_environment(sandbox: Sandbox) -> None:
    late = b'{"text": "late", "delay_s": 60}'
    with ScriptedServer(parse_replies(late, "test")) as endpoint:
        process = sandbox.start(
            "run", "go", "--model", "custom/m", "--base-url", endpoint.base_url, COVEY_API_KEY=KEY, OPENAI_API_KEY=KEY
        )
        try:
            wait_until(lambda: endpoint.requests or endpoint.connections, 20, "the first request")
            agents = [pid for pid in descendants(process.pid) if b"subagent" in read(pid, "cmdline")]
            assert agents
            for pid in agents:
                assert KEY.encode() not in read(pid, "environ")
            for pid in [process.pid, *descendants(process.pid)]:
                assert KEY.encode() not in read(pid, "cmdline")
        finally:
            process.terminate()
            stdout, stderr = process.communicate(timeout=20)
    assert_nowhere(sandbox, stdout, stderr)


def test_a_tool_cannot_read_the_key_through_proc(sandbox: Sandbox) -> None:
    probes = [{"calls": [{"name": "read_file", "arguments": {"path": p}}]} for p in ("/proc/self/environ", "proc/1")]
    ran = sandbox.run("run", "go", "--model", sandbox.script(READ_NOTES, *probes, {"text": "x"}), COVEY_API_KEY=KEY)
    assert ran.returncode == 0
    assert_nowhere(sandbox, ran.stdout, ran.stderr)


def read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        assert os.getpid() != pid
        return b""
