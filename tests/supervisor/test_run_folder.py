"""A run's folder is one process's alone, and never anybody else's again."""

from __future__ import annotations

import os
import stat

import pytest

from protocol.errors import SpecError
from supervisor.run_folder import open_run_folder


def test_a_new_folder_is_private_locked_and_names_its_process(tmp_path):
    folder = open_run_folder(str(tmp_path / "deep" / "home"), "r1")
    try:
        assert folder.path == tmp_path / "deep" / "home" / "runs" / "r1"
        assert folder.journal_of("0") == folder.path / "0" / "journal.jsonl"
        assert folder.stderr_of("scripted") == folder.path / "scripted" / "stderr.log"
        for path in (tmp_path / "deep" / "home", folder.path.parent, folder.path, folder.path / "0"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert (folder.path / "lock").read_text() == f"{os.getpid()}\n"
    finally:
        folder.close()


def test_an_id_that_runs_is_refused_with_its_holder_and_one_that_ran_without(tmp_path):
    folder = open_run_folder(str(tmp_path), "r1")
    with pytest.raises(SpecError, match=rf"--run-id: 'r1' is taken by a run of process {os.getpid()}"):
        open_run_folder(str(tmp_path), "r1")
    folder.close()
    with pytest.raises(SpecError, match="--run-id: 'r1' is taken: give another one"):
        open_run_folder(str(tmp_path), "r1")
    open_run_folder(str(tmp_path), "r2").close()


@pytest.mark.parametrize("blocked", ["home", "home/runs"])
def test_a_file_in_the_way_is_a_home_that_cannot_be_written(tmp_path, blocked):
    (tmp_path / blocked).parent.mkdir(exist_ok=True)
    (tmp_path / blocked).write_text("")
    with pytest.raises(SpecError, match="COVEY_HOME"):
        open_run_folder(str(tmp_path / "home"), "r1")


def test_a_relative_home_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = open_run_folder("home", "r1")
    folder.close()
    assert folder.path == tmp_path / "home" / "runs" / "r1"
