"""A script is read from a plain file of bounded size, and from nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from protocol.errors import SpecError
from supervisor.scripted.script_file import MAX_SCRIPT_BYTES, read_script


def test_a_plain_file_is_read_up_to_the_bound(tmp_path):
    path = tmp_path / "script.jsonl"
    path.write_bytes(b"x" * MAX_SCRIPT_BYTES)
    assert len(read_script(str(path), "--model")) == MAX_SCRIPT_BYTES
    with path.open("ab") as opened:
        opened.write(b"x")
    with pytest.raises(SpecError, match="--model: .* is longer than 16777216 bytes"):
        read_script(str(path), "--model")


def test_what_would_never_end_or_never_begin_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/zero", "/dev/null", str(tmp_path / "fifo")):
        with pytest.raises(SpecError, match="is no plain file"):
            read_script(path, "--model")


def test_a_folder_and_a_missing_file_are_what_they_are(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_script(str(tmp_path), "--model")
    with pytest.raises(FileNotFoundError):
        read_script(str(tmp_path / "none"), "--model")


def test_the_endpoint_refuses_it_too():
    command = [sys.executable, "-m", "supervisor.scripted", "/dev/zero"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"is no plain file" in ended.stderr
