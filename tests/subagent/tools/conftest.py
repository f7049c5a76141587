"""A workspace with a folder beside it that no tool may reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from subagent.tools.beneath import Root, open_root


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """The workspace."""
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the workspace, with one file that is nobody's business."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("outside")
    return folder


@pytest.fixture
def root(inside: Path) -> Root:
    return open_root(str(inside))
