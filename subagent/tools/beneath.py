"""Opens paths inside one folder so that the kernel itself refuses every way out of it.

Every path is resolved by openat2(2) with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS against one descriptor of
the root, opened once: `..`, absolute paths, symbolic links that lead out and renames in the middle of a
resolution are refused by the kernel in the same step that opens the file, so there is no check that a race
could outrun. Symbolic links that stay inside work. Nothing is opened for its content before fstat has said
that it is a regular file or a folder: the first open is O_PATH, which wakes no FIFO and no device.
Without openat2 there are no tools: no weaker check stands in for it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from protocol.errors import CoveyError, SpecError
from subagent.tools.bounded import shown

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08

_RACE_ATTEMPTS = 64
"""The kernel says EAGAIN when a rename ran through a resolution; a workspace that never rests is given up."""

_KERNEL_FILE_SYSTEMS = frozenset({0x9FA0, 0x62656572, 0x64626720, 0x74726163, 0x27E0EB, 0x63677270})
"""proc, sysfs, debugfs, tracefs, cgroup, cgroup2: their files are switches, or other processes' secrets."""

_PROBLEMS = {
    errno.ENOENT: "does not exist",
    errno.ENOTDIR: "has a part that is no folder",
    errno.EISDIR: "is a folder",
    errno.EXDEV: "leads out of the workspace: only paths inside it can be used",
    errno.ELOOP: "goes through a symbolic link that cannot be followed",
    errno.EACCES: "cannot be opened: permission denied",
    errno.EPERM: "cannot be opened: permission denied",
    errno.EROFS: "is on a file system that cannot be written to",
    errno.ENAMETOOLONG: "is too long to be a path",
    errno.EAGAIN: "is being moved or locked by somebody else: try again",
}

_WITHOUT_OPENAT2 = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG})
_NO_OPENAT2 = (
    "the kernel cannot keep paths inside it; the workspace tools need openat2(2): Linux 5.6 or newer, "
    "and no seccomp profile of a container that blocks it"
)

_libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class PathRefused(CoveyError):
    """A path cannot be used. The text names it and says why, for the model."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{shown(path)} {problem}")


class PathMissing(PathRefused):
    """Nothing is there."""


def refusal(path: str, error: OSError) -> PathRefused:
    """What an error of the operating system says about `path`, as a sentence."""
    code = error.errno or 0
    problem = _PROBLEMS.get(code, f"cannot be used: {os.strerror(code)}")
    return (PathMissing if code == errno.ENOENT else PathRefused)(path, problem)


class Root:
    """One folder, held open. Every path given to it is relative to it. Raises PathRefused, never OSError."""

    def __init__(self, path: str) -> None:
        """Open the folder at the absolute `path`, and try openat2 once. Raises OSError."""
        self.path = path
        self._fd = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._fd)
        os.close(_openat2(self._fd, b".", os.O_PATH))

    @contextmanager
    def file(self, path: str) -> Iterator[int]:
        """A descriptor to read the regular file at `path`."""
        with self.located(path) as located:
            if stat.S_ISDIR(os.fstat(located).st_mode):
                raise PathRefused(path, "is a folder, not a file: list_dir shows what is in it")
            with reopened(located, os.O_RDONLY, path) as fd:
                yield fd

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """A descriptor to list the folder at `path`."""
        with self.located(path) as located:
            if not stat.S_ISDIR(os.fstat(located).st_mode):
                raise PathRefused(path, "is a file, not a folder: read_file shows what is in it")
            with reopened(located, os.O_RDONLY | os.O_DIRECTORY, path) as fd:
                yield fd

    @contextmanager
    def parent(self, path: str, *, make: bool) -> Iterator[tuple[int, str]]:
        """The folder that holds `path`, and the last name of the path: what a change of one entry needs.

        The descriptor stays with its folder whatever is renamed around it. `make` makes folders that are missing.
        """
        self._check(path)
        *folders, name = _plain_parts(path)
        fd = self._made_folder(folders) if make else self._locate("/".join(folders) or ".", os.O_DIRECTORY)
        try:
            yield fd, name
        finally:
            os.close(fd)

    @contextmanager
    def located(self, path: str) -> Iterator[int]:
        """An O_PATH descriptor of the regular file or folder at `path`."""
        fd = self._locate(path)
        try:
            yield fd
        finally:
            os.close(fd)

    def is_folder(self, path: str) -> bool:
        """Whether `path` is a folder rather than a file."""
        with self.located(path) as fd:
            return stat.S_ISDIR(os.fstat(fd).st_mode)

    def _locate(self, path: str, flags: int = 0) -> int:
        self._check(path)
        return locate(self._fd, path, path, flags)

    def _made_folder(self, folders: list[str]) -> int:
        """The folder at this path, made part by part. Each part is resolved from the root, so none can lead out."""
        held = self._locate(".")
        for depth, name in enumerate(folders, 1):
            path = "/".join(folders[:depth])
            try:
                try:
                    inner = self._locate(path, os.O_DIRECTORY)
                except PathMissing:
                    _make_folder(held, name, path)
                    inner = self._locate(path, os.O_DIRECTORY)
            finally:
                os.close(held)
            held = inner
        return held

    def _check(self, path: str) -> None:
        if not path:
            raise PathRefused(path, "is empty: give a path relative to the workspace, '.' for the workspace itself")
        if "\0" in path:
            raise PathRefused(path, "holds a NUL character")
        if path == self.path or path.startswith(self.path.rstrip("/") + "/"):
            inside = path[len(self.path) :].strip("/") or "."
            raise PathRefused(path, f"is absolute: give it relative to the workspace, as {shown(inside)}")
        if path.startswith("/"):
            raise PathRefused(path, "is absolute: give a path relative to the workspace")


def open_root(path: str) -> Root:
    """Open a workspace. Raises SpecError if it is no folder, or if this system has no openat2."""
    if not path.startswith("/"):
        raise SpecError("workspace", f"{shown(path)} must be an absolute path")
    try:
        return Root(path)
    except OSError as error:
        why = _NO_OPENAT2 if error.errno in _WITHOUT_OPENAT2 else error.strerror
        raise SpecError("workspace", f"{shown(path)} cannot be opened as a folder: {why}") from error


def locate(folder_fd: int, name: str, path: str, flags: int = 0) -> int:
    """An O_PATH descriptor of `name` beneath an open folder; `path` is what errors call it.

    Regular files and folders only; a symbolic link itself where `flags` has O_NOFOLLOW.
    """
    try:
        fd = _openat2(folder_fd, os.fsencode(name), os.O_PATH | flags)
        try:
            _require_content(fd, path)
        except BaseException:
            os.close(fd)
            raise
    except OSError as error:
        raise refusal(path, error) from error
    except UnicodeEncodeError as error:
        raise PathRefused(path, "has characters that no file name on this system can have") from error
    return fd


@contextmanager
def reopened(located: int, flags: int, path: str) -> Iterator[int]:
    """What an O_PATH descriptor points to, opened for its content: the very file that was looked at, by no path.

    O_NONBLOCK: an open must not wait for the holder of a lease.
    """
    try:
        fd = os.open(f"/proc/self/fd/{located}", flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise refusal(path, error) from error
    try:
        yield fd
    finally:
        os.close(fd)


def _openat2(folder_fd: int, name: bytes, flags: int) -> int:
    how = _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    number = errno.EAGAIN
    for _ in range(_RACE_ATTEMPTS):
        fd = _libc.syscall(
            ctypes.c_long(_SYS_OPENAT2),
            ctypes.c_int(folder_fd),
            ctypes.c_char_p(name),
            ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )
        if fd >= 0:
            return int(fd)
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number))


def _require_content(fd: int, path: str) -> None:
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        raise PathRefused(path, "is a FIFO, a socket or a device: only regular files and folders can be used")
    if _file_system_type(fd) in _KERNEL_FILE_SYSTEMS:
        raise PathRefused(path, "belongs to the kernel (proc, sysfs or the like), not to the workspace")


def _file_system_type(fd: int) -> int:
    """f_type of statfs(2), its first word. Not in os.statvfs."""
    buffer = ctypes.create_string_buffer(256)
    if _libc.fstatfs(ctypes.c_int(fd), buffer) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return ctypes.c_long.from_buffer(buffer).value


def _make_folder(folder_fd: int, name: str, path: str) -> None:
    try:
        os.mkdir(name, dir_fd=folder_fd)
    except FileExistsError:
        pass  # somebody was faster, or it is a link that leads nowhere: resolving it again tells
    except OSError as error:
        raise refusal(path, error) from error


def _plain_parts(path: str) -> list[str]:
    """The names of a path that is to be written: no `..`, and a last name that names an entry."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise PathRefused(path, "has '..' in it: give the plain path of a file to write")
    if not parts or path.endswith(("/", "/.")):
        raise PathRefused(path, "names a folder: give the path of a file")
    return parts
