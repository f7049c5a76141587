"""What this machine and this environment offer, found by trying. It changes nothing.

Each check returns one Finding. `required` ones that are missing make `covey doctor` exit 1; the others
name what is weaker without them. A value never holds a key.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import platform
import re
import select
import signal
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import msgspec

from protocol.errors import SpecError
from protocol.kinship import own_pid_in_proc
from supervisor.cli.workspace import current_folder
from supervisor.home import find_home
from supervisor.local.weights import find_weights, has_engine
from supervisor.providers import MODEL_VARIABLE, ModelFlags, choose_model

OLDEST_KERNEL = (5, 13)
OLDEST_PYTHON = (3, 11)
PACKAGES = ("protocol", "supervisor", "subagent")
_OWN_VENV = "install Covey in a venv of its own"

# One number on every architecture: system calls since 5.0 share a table.
_SYS_OPENAT2 = 437
_SYS_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_CREATE_RULESET_VERSION = 1
_PR_GET_PDEATHSIG = 2
_PR_GET_CHILD_SUBREAPER = 37
_CLONE_NEWUSER = 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


class Finding(msgspec.Struct, frozen=True):
    """One fact. `about` is the value when `ok`, else what is missing and what follows from that."""

    name: str
    ok: bool
    required: bool
    about: str


def examine(environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """Every finding, in the order in which they are shown."""
    return (
        _version(),
        _python(),
        _kernel(),
        _openat2(),
        _pidfd(),
        _process_table(),
        _parent_death(),
        _landlock(),
        _user_namespaces(),
        _cgroup(),
        _state(environ),
        _folder(),
        _model(environ),
        _embedded(),
        _packages(),
    )


def is_fit(findings: tuple[Finding, ...]) -> bool:
    """Whether nothing that is required is missing."""
    return all(finding.ok for finding in findings if finding.required)


def _version() -> Finding:
    return Finding("covey", True, True, metadata.version("covey"))


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    return Finding("python", sys.version_info >= OLDEST_PYTHON, True, found)


def _kernel() -> Finding:
    release = os.uname().release
    numbers = tuple(int(number) for number in re.findall(r"\d+", release)[:2])
    if sys.platform == "linux" and numbers >= OLDEST_KERNEL:
        return Finding("kernel", True, True, release)
    return Finding("kernel", False, True, f"{release}: Covey needs Linux 5.13 or newer")


def _openat2() -> Finding:
    """Called with nothing but bad arguments: a kernel that has it complains of those."""
    _libc.syscall(_SYS_OPENAT2, -1, None, None, 0)
    if ctypes.get_errno() in (errno.EINVAL, errno.EFAULT):
        return Finding("openat2", True, True, "yes")
    return Finding(
        "openat2", False, True, "the kernel or a seccomp filter refuses it: workspace tools cannot be confined"
    )


def _pidfd() -> Finding:
    try:
        fd = os.pidfd_open(os.getpid())
    except OSError as error:
        return Finding("pidfd", False, True, f"{error.strerror}: processes cannot be watched safely")
    try:
        signal.pidfd_send_signal(fd, 0)
        select.select([fd], [], [], 0)
    except OSError as error:
        return Finding("pidfd", False, True, f"{error.strerror}: processes cannot be signalled safely")
    finally:
        os.close(fd)
    return Finding("pidfd", True, True, "yes")


def _process_table() -> Finding:
    shown_as = own_pid_in_proc()
    if shown_as is None:
        return Finding("/proc", False, True, "it does not show this process: mount one of this PID namespace")
    if shown_as != os.getpid():
        about = "of another PID namespace: CPU time is not measured; use `unshare --mount-proc` or mount one"
        return Finding("/proc", False, False, about)
    return Finding("/proc", True, True, "of this PID namespace")


def _parent_death() -> Finding:
    answer = ctypes.c_int()
    options = (_PR_GET_PDEATHSIG, _PR_GET_CHILD_SUBREAPER)
    if any(_libc.prctl(option, ctypes.byref(answer), 0, 0, 0) for option in options):
        return Finding("parent-death signal", False, True, "prctl refuses it: agents could outlive their supervisor")
    return Finding("parent-death signal", True, True, "yes, and subreaper")


def _landlock() -> Finding:
    abi = _libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION)
    if abi > 0:
        return Finding("landlock", True, False, f"ABI {abi}")
    return Finding("landlock", False, False, f"{os.strerror(ctypes.get_errno())}: no file sandbox from the kernel")


def _user_namespaces() -> Finding:
    """Tried in a child: an unshare cannot be taken back."""
    child = os.fork()
    if child == 0:
        os._exit(0 if _libc.unshare(_CLONE_NEWUSER) == 0 else min(ctypes.get_errno(), 255))
    error = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if error == 0:
        return Finding("user namespaces", True, False, "yes")
    reason = os.strerror(error) if error > 0 else f"signal {-error}"
    return Finding("user namespaces", False, False, f"{reason}: no process namespaces without root")


def _cgroup() -> Finding:
    folder = _own_cgroup(_read_or_empty(Path("/proc/self/cgroup")), _read_or_empty(Path("/proc/self/mountinfo")))
    if folder is None:
        return Finding("cgroup v2", False, False, "not mounted: the kernel caps no memory for us")
    if not os.access(folder, os.W_OK):
        return Finding("cgroup v2", False, False, f"{folder} is not writable: the kernel caps no memory for us")
    controllers = _read_or_empty(folder / "cgroup.controllers").split()
    return Finding("cgroup v2", True, False, f"{folder}, controllers: {' '.join(controllers) or 'none'}")


def _own_cgroup(cgroup: str, mountinfo: str) -> Path | None:
    """The folder of this process in the v2 hierarchy, from the texts of /proc/self/cgroup and mountinfo."""
    own = next((line[3:] for line in cgroup.splitlines() if line.startswith("0::")), None)
    mounted = next((line.split()[4] for line in mountinfo.splitlines() if " - cgroup2 " in line), None)
    return Path(mounted, own.lstrip("/")) if own is not None and mounted is not None else None


def _read_or_empty(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _state(environ: Mapping[str, str]) -> Finding:
    try:
        home = find_home(environ)
    except SpecError as error:
        return Finding("state", False, True, str(error))
    nearest = next(folder for folder in (home, *home.parents) if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Finding("state", True, True, str(home))
    return Finding("state", False, True, f"{home} cannot be written: set COVEY_HOME to a folder of yours")


def _folder() -> Finding:
    """Agents read the current folder; one that is given with --workspace does as well."""
    try:
        return Finding("current folder", True, False, current_folder())
    except SpecError as error:
        return Finding("current folder", False, False, error.problem)


def _model(environ: Mapping[str, str]) -> Finding:
    """A model that is not chosen is no fault, one that cannot be used is."""
    if not environ.get(MODEL_VARIABLE):
        return Finding("model", False, False, f"none chosen: set {MODEL_VARIABLE} or give --model")
    try:
        chosen = choose_model(ModelFlags(), environ)
    except SpecError as error:
        return Finding("model", False, True, f"{error.field}: {error.problem}")
    key = "a key was found" if chosen.secrets.api_key else "no key"
    where = chosen.spec.base_url or "served by Covey"
    return Finding("model", True, True, f"{chosen.spec.provider}/{chosen.spec.name} at {where}, {key}")


def _embedded() -> Finding:
    weights = find_weights()
    if not has_engine() or weights is None:
        return Finding("embedded model", False, False, "not installed: `./dev demo` installs it")
    return Finding("embedded model", True, False, str(weights))


def _packages() -> Finding:
    """Our three packages have common names: another distribution may own one, or a folder may hide it."""
    owners = metadata.packages_distributions()
    strangers = {
        f"{owner} ({package})" for package in PACKAGES for owner in owners.get(package, ()) if owner != "covey"
    }
    roots = {str(_folder_of(package)) for package in PACKAGES}
    if strangers:
        return Finding("packages", False, True, f"also owned by {', '.join(sorted(strangers))}: {_OWN_VENV}")
    if len(roots) > 1:
        return Finding("packages", False, True, f"imported from {', '.join(sorted(roots))}: {_OWN_VENV}")
    return Finding("packages", True, True, f"{', '.join(PACKAGES)} are Covey's alone")


def _folder_of(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent.parent if spec is not None and spec.origin is not None else None
