"""Where state lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocol.errors import SpecError
from supervisor.home import find_home


def test_a_chosen_home_is_absolute_and_is_not_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_home({"COVEY_HOME": "state"}) == tmp_path / "state"
    assert not (tmp_path / "state").exists()


def test_a_home_that_nobody_chose_is_the_xdg_state_folder(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere/state")
    assert find_home({"COVEY_HOME": ""}) == Path("/somewhere/state/covey")


def test_a_home_that_is_not_utf8_is_refused():
    with pytest.raises(SpecError, match="COVEY_HOME: is not UTF-8"):
        find_home({"COVEY_HOME": "/x\udcff"})
