"""Values too large for a frame: files named by their content, in the folder of the agent that made them.

A reference is `sha256:HEX`, never a path, so that what a child claims cannot lead anywhere else (DESIGN
section 3: values over 64 KiB travel as references).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from protocol.errors import RemoteProtocolError
from protocol.record import ArtifactRef

FOLDER = "artifacts"
MAX_BYTES = 64 * 1024 * 1024

_REF = re.compile(r"sha256:([0-9a-f]{64})")


def write_artifact(agent_folder: Path, content: bytes) -> ArtifactRef:
    """Store `content` (mode 0600) and return its reference. Raises OSError with nothing stored."""
    name = hashlib.sha256(content).hexdigest()
    folder = agent_folder / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    unfinished = folder / f"{name}.part"
    try:
        fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as opened:
            opened.write(content)
        unfinished.rename(folder / name)
    finally:
        unfinished.unlink(missing_ok=True)
    return ArtifactRef(f"sha256:{name}", len(content))


def read_artifact(agent_folder: Path, ref: ArtifactRef) -> bytes:
    """The content behind a reference, read without a wait: only a plain file is, and no link is followed.

    Raises RemoteProtocolError if it is malformed, missing, no plain file, too large or changed.
    """
    matched = _REF.fullmatch(ref.ref)
    if matched is None or not 0 <= ref.size_bytes <= MAX_BYTES:
        raise RemoteProtocolError("artifact", "malformed reference")
    try:
        content = _read_plain_file(agent_folder, matched[1], ref.size_bytes)
    except OSError as error:
        raise RemoteProtocolError("artifact", f"{ref.ref} cannot be read: {error.strerror}") from error
    if hashlib.sha256(content).hexdigest() != matched[1]:
        raise RemoteProtocolError("artifact", f"{ref.ref} is not what was stored")
    return content


def _read_plain_file(agent_folder: Path, name: str, size_bytes: int) -> bytes:
    """The file's bytes, and nothing of one that has another size. The agent may have put anything in its place."""
    with contextlib.ExitStack() as opened:
        holder: int | None = None
        for folder in (agent_folder, FOLDER):
            holder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=holder)
            opened.callback(os.close, holder)
        file = opened.enter_context(open(name, "rb", opener=_opener_in(holder)))
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        if found.st_size != size_bytes:
            raise OSError(errno.EINVAL, "it has another size")
        return file.read(size_bytes)


def _opener_in(folder: int | None) -> Callable[[str, int], int]:
    """Opens what lies in `folder`. A FIFO would make a plain open wait, and a terminal take us for its own."""
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    return lambda name, mode: os.open(name, mode | flags, dir_fd=folder)
