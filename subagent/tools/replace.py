"""Replacing a file in one step, only if it still is what it was when the change was planned.

The new content is written beside the file and renamed over it, inside a descriptor of the folder: a reader
sees the old content or the new one and nothing in between, and no link that is swapped in is ever followed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass

from subagent.tools.beneath import PathMissing, PathRefused, Root, locate, refusal, reopened
from subagent.tools.bounded import shown
from subagent.tools.content import MAX_FILE_BYTES, read_from
from subagent.tools.types import FileImage, ToolFailed


@dataclass(frozen=True)
class Original:
    """A file that is about to be replaced: its whole content, its permission bits and its owner."""

    data: bytes
    mode: int
    owner: tuple[int, int]


def read_original(root: Root, path: str) -> Original | None:
    """The file at `path` as it would be replaced, or None if there is none. Raises PathRefused if it cannot be."""
    try:
        with root.parent(path, make=False) as (folder_fd, name):
            return _original(folder_fd, name, path)
    except PathMissing:
        return None


def image(path: str, before: bytes | None, after: bytes) -> FileImage:
    """The digests of a replacement that is about to happen."""
    return FileImage(path, _digest(before), _digest(after))


@dataclass(frozen=True)
class Replacement:
    """A call that ends in a file with the content `data`. `told` is the result that the model reads."""

    root: Root
    image: FileImage
    data: bytes
    told: str

    def run(self) -> str:
        """Replace the file, if it still is what `image` says; folders that are missing are made.

        What somebody else does to the file between that comparison and the rename, some microseconds, is lost.
        """
        path = self.image.path
        try:
            with self.root.parent(path, make=True) as (folder_fd, name):
                original = _original(folder_fd, name, path)
                if _digest(original.data if original else None) != self.image.before_sha256:
                    raise ToolFailed(f"{shown(path)} was changed by somebody else just now: read it again first")
                _rename_over(folder_fd, name, self.data, original)
        except PathRefused as error:
            raise ToolFailed(str(error)) from error
        except OSError as error:
            raise ToolFailed(str(refusal(path, error))) from error
        return self.told


def _original(folder_fd: int, name: str, path: str) -> Original | None:
    try:
        located = locate(folder_fd, name, path, os.O_NOFOLLOW)
    except PathMissing:
        return None
    try:
        status = os.fstat(located)
        if stat.S_ISLNK(status.st_mode):
            raise PathRefused(path, "is a symbolic link: write to the file that it points to, by that file's own path")
        if stat.S_ISDIR(status.st_mode):
            raise PathRefused(path, "is a folder: give the path of a file")
        # Opened for writing too: a file that its owner made read-only is not replaced behind its back.
        with reopened(located, os.O_RDWR, path) as fd:
            content = read_from(fd, path)
    finally:
        os.close(located)
    if not content.whole:
        raise PathRefused(path, f"has {content.size_bytes} bytes: files over {MAX_FILE_BYTES} cannot be changed")
    return Original(content.data, stat.S_IMODE(status.st_mode) & 0o777, (status.st_uid, status.st_gid))


def _rename_over(folder_fd: int, name: str, data: bytes, original: Original | None) -> None:
    temporary = f".covey-{os.urandom(8).hex()}.tmp"
    try:
        fd = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=folder_fd
        )
        try:
            _write_all(fd, data)
            if original is not None:
                _keep_owner_and_mode(fd, original)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    except BaseException:  # a cancel can arrive here as well, and no temporary file may stay
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder_fd)
        raise


def _keep_owner_and_mode(fd: int, original: Original) -> None:
    status = os.fstat(fd)
    if (status.st_uid, status.st_gid) != original.owner:
        with contextlib.suppress(PermissionError):  # only root can give a file away; the content matters more
            os.fchown(fd, *original.owner)
    os.fchmod(fd, original.mode)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
