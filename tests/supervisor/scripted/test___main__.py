"""The scripted endpoint as a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from protocol.kinship import read_stat
from supervisor.scripted.replies import parse_replies

ARGV = [sys.executable, "-I", "-m", "supervisor.scripted"]
GUIDE = Path(__file__).parents[3] / "docs" / "scripted.md"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"text": "hello"}\n')
    return str(path)


def test_it_tells_its_url_serves_and_ends_with_its_stdin(script: str) -> None:
    argv = [*ARGV, script, "--parent", str(os.getpid())]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        base_url = json.loads(process.stdout.readline())["base_url"]
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", base_url)
        answer = httpx.post(f"{base_url}/chat/completions", json={}, trust_env=False, timeout=10)
        assert answer.json()["choices"][0]["message"]["content"] == "hello"
        process.stdin.close()
        assert process.wait(10) == 0


def test_it_does_not_start_for_a_parent_that_is_dead(script: str) -> None:
    result = subprocess.run(
        [*ARGV, script, "--parent", "1"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    assert (result.returncode, result.stdout) == (0, b"")


def test_it_dies_with_its_parent(script: str) -> None:
    """A parent that is killed with the endpoint's stdin held open by someone else."""
    launcher = (
        "import os, subprocess, sys; "
        "process = subprocess.Popen([*sys.argv[1:], '--parent', str(os.getpid())], stdin=0, stdout=subprocess.PIPE); "
        "process.stdout.readline(); print(process.pid, flush=True); process.wait()"
    )
    reader, writer = os.pipe()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", launcher, *ARGV, script], stdin=reader, stdout=subprocess.PIPE
        ) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            watched = os.pidfd_open(pid)
            parent.kill()
            parent.wait(10)
            assert _ends_within(watched, 5.0), read_stat(pid)
    finally:
        os.close(reader)
        os.close(writer)


def _ends_within(pidfd: int, seconds: float) -> bool:
    import select

    try:
        return bool(select.select([pidfd], [], [], seconds)[0])
    finally:
        os.close(pidfd)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "usage:"),
        (["a", "b"], "usage:"),
        (["no/such/file"], "No such file"),
        (["BROKEN"], "line 1: Object contains unknown field `txt`"),
    ],
)
def test_what_cannot_be_served_exits_2_and_says_why(arguments: list[str], told: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"txt": "x"}')
    argv = [*ARGV, *(str(broken) if argument == "BROKEN" else argument for argument in arguments)]
    result = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    assert result.returncode == 2
    assert told in result.stderr
    assert result.stdout == ""


def test_the_example_of_the_guide_is_a_script() -> None:
    examples = re.findall(r"```jsonl\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert examples
    for example in examples:
        parse_replies(example.encode(), str(GUIDE))
