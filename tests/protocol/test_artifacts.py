"""Artifacts: what was stored comes back, and nothing else that lies in its place is read or waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from protocol.artifacts import FOLDER, MAX_BYTES, read_artifact, write_artifact
from protocol.errors import RemoteProtocolError
from protocol.record import ArtifactRef

CONTENT = b'"large"' + b" " * 70_000


def test_what_was_stored_comes_back_and_is_for_its_owner_alone(tmp_path):
    ref = write_artifact(tmp_path, CONTENT)
    assert read_artifact(tmp_path, ref) == CONTENT
    [stored] = (tmp_path / FOLDER).iterdir()
    assert (stored.stat().st_mode & 0o777, ref.size_bytes) == (0o600, len(CONTENT))


def _fifo(stored: Path) -> None:
    stored.unlink()
    os.mkfifo(stored)


def _link(stored: Path) -> None:
    stored.rename(stored.parent.parent / "elsewhere")
    stored.symlink_to("../elsewhere")


def _device(stored: Path) -> None:
    stored.unlink()
    stored.symlink_to("/dev/zero")


def _folder(stored: Path) -> None:
    stored.unlink()
    stored.mkdir()


def _linked_folder(stored: Path) -> None:
    folder = stored.parent
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")


def _fifo_for_a_folder(stored: Path) -> None:
    stored.unlink()
    stored.parent.rmdir()
    os.mkfifo(stored.parent)


def _huge(stored: Path) -> None:
    os.truncate(stored, 8 << 30)


def _changed(stored: Path) -> None:
    stored.write_bytes(CONTENT.replace(b"large", b"LARGE"))


@pytest.mark.parametrize(
    "put", [_fifo, _link, _device, _folder, _linked_folder, _fifo_for_a_folder, _huge, _changed, Path.unlink]
)
def test_what_an_agent_puts_in_its_place_is_refused_at_once(tmp_path, put: Callable[[Path], None]):
    ref = write_artifact(tmp_path, CONTENT)
    [stored] = (tmp_path / FOLDER).iterdir()
    put(stored)
    open_files = len(os.listdir("/proc/self/fd"))
    with pytest.raises(RemoteProtocolError, match="artifact"):
        read_artifact(tmp_path, ref)
    assert len(os.listdir("/proc/self/fd")) == open_files


def test_an_agents_folder_that_became_a_link_is_not_followed(tmp_path):
    ref = write_artifact(tmp_path, CONTENT)
    (tmp_path / "agent").symlink_to(tmp_path)
    with pytest.raises(RemoteProtocolError, match="cannot be read"):
        read_artifact(tmp_path / "agent", ref)


@pytest.mark.parametrize("size_bytes", [len(CONTENT) - 1, len(CONTENT) + 1, MAX_BYTES + 1, -1])
def test_another_size_than_was_stored_is_refused(tmp_path, size_bytes):
    ref = msgspec.structs.replace(write_artifact(tmp_path, CONTENT), size_bytes=size_bytes)
    with pytest.raises(RemoteProtocolError):
        read_artifact(tmp_path, ref)


@pytest.mark.parametrize("ref", ["", "/etc/passwd", "sha256:../../etc/passwd", "sha256:" + "A" * 64])
def test_what_is_no_reference_leads_nowhere(tmp_path, ref):
    with pytest.raises(RemoteProtocolError, match="malformed"):
        read_artifact(tmp_path, ArtifactRef(ref, 3))
