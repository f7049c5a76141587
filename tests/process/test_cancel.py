"""A cancel takes at every moment of a turn: model call, stream, journal, tool, and between them. Real agents."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("cancelled_turns.py")
ROOT = Path(__file__).parents[2]
TURN = {
    "text": "thinking aloud " * 8,
    "chunk_chars": 8,
    "calls": [
        {"name": "read_file", "arguments": {"path": "notes.txt"}},
        {"name": "write_file", "arguments": {"path": "out.txt", "content": "y" * 500}},
    ],
    "repeat": "forever",
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_every_cancel_at_a_random_moment_of_a_turn_takes(tmp_path: Path, rounds: int) -> None:
    (tmp_path / "replies.jsonl").write_text(json.dumps(TURN))
    (tmp_path / "w").mkdir()
    command = [sys.executable, "-I", "-m", "supervisor.scripted", str(tmp_path / "replies.jsonl")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as endpoint:
        assert endpoint.stdout is not None
        base_url = json.loads(endpoint.stdout.readline())["base_url"]
        program = [sys.executable, PROGRAM, base_url, tmp_path / "w", str(rounds), "11"]
        ran = subprocess.run(program, capture_output=True, cwd=ROOT, timeout=580, check=True)
        endpoint.kill()
    told = json.loads(ran.stdout)
    assert told["ends"] == {"cancelled": rounds}
    assert told["slowest_ms"] < 5_000  # a second, five times over for a shared machine
