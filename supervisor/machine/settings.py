"""The times and bounds of supervision (DESIGN section 5). Seconds."""

from __future__ import annotations

import msgspec


class SupervisionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How patient a supervisor is."""

    ping_interval_s: float = 5.0
    missed_pings: int = 3
    progress_s: float = 120.0
    """Liveness B: silence but for pongs, past the declared activity's due time, that makes a child stuck."""
    ready_s: float = 30.0
    """From the payload to `ready`."""
    cancel_grace_s: float = 5.0
    """From the cancel, or from the last thing a child had to say, to SIGTERM."""
    term_grace_s: float = 2.0
    """From SIGTERM to SIGKILL."""
    kill_grace_s: float = 3.0
    """From SIGKILL to giving up on a process that the kernel does not end."""
    service_grace_s: float = 1.0
    """From the end of a service's stdin to SIGTERM."""
    same_signal_s: float = 0.25
    """Signals this close to the first are the first: a group kill and a forward double it."""
    sweep_s: float = 3.0
    """How long orphans are swept before those that are left are given up."""
    sweep_interval_s: float = 0.005
    overslept_s: float = 1.0
    """Woken this long after a deadline, we were stopped ourselves: all clocks are put off by as much."""
    max_violations: int = 1_000
    """Protocol violations that end a child: it speaks something else."""


DEFAULT_SETTINGS = SupervisionSettings()
