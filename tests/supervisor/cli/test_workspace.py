"""--workspace to a scope."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from protocol.errors import SpecError
from protocol.frames import Scope, WorkspaceRoot
from supervisor.cli.workspace import read_scope
from supervisor.doctor import examine


def test_without_a_workspace_the_current_folder_is_read_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_scope(None, Path("/nowhere")) == Scope((WorkspaceRoot(str(tmp_path)),))


def test_a_workspace_is_writable_and_its_links_are_resolved(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert read_scope(str(tmp_path / "link"), Path("/nowhere")).workspace == (
        WorkspaceRoot(str(tmp_path / "real"), True),
    )


@pytest.mark.parametrize("name", ["none", "file", ""])
def test_what_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="is not a folder"):
        read_scope(str(tmp_path / name) if name else "", Path("/nowhere"))


@pytest.mark.parametrize("home", ["", "state", "state/covey"])
def test_a_workspace_that_holds_coveys_state_is_refused(tmp_path, home):
    with pytest.raises(SpecError, match="overlaps Covey's own state"):
        read_scope(str(tmp_path), tmp_path / home)


def test_a_workspace_inside_coveys_state_is_refused_and_one_beside_it_is_not(tmp_path):
    (tmp_path / "home" / "runs").mkdir(parents=True)
    (tmp_path / "home2").mkdir()
    with pytest.raises(SpecError, match="overlaps"):
        read_scope(str(tmp_path / "home" / "runs"), tmp_path / "home")
    assert read_scope(str(tmp_path / "home2"), tmp_path / "home").workspace[0].writable


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SpecError, match="is not writable"):
        read_scope(str(tmp_path), Path("/nowhere"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anywhere")
@pytest.mark.parametrize("mode", [0o300, 0o600, 0])
def test_a_folder_that_cannot_be_read_is_refused_given_or_current(tmp_path, monkeypatch, mode):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(mode)
    try:
        for given in (str(tmp_path), "."):
            with pytest.raises(SpecError, match="--workspace: '.*' cannot be read"):
                read_scope(given, Path("/nowhere"))
        with pytest.raises(SpecError, match="the current folder '.*' cannot be read: .* give --workspace"):
            read_scope(None, Path("/nowhere"))
        [finding] = [f for f in examine({"COVEY_HOME": "/tmp/covey"}) if f.name == "current folder"]
        assert not finding.ok
        assert "cannot be read" in finding.about
    finally:
        tmp_path.chmod(0o700)


def test_a_current_folder_that_is_gone_is_refused(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SpecError, match="the current folder is gone"):
        read_scope(None, Path("/nowhere"))
