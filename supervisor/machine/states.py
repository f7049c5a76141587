"""The states of a supervised process. `desired` is kept apart: what we want is not what is."""

from __future__ import annotations

from enum import StrEnum


class ChildState(StrEnum):
    """Where a process is in its life. STARTING lasts from its spawn until it said that it is ready."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    EXITED = "exited"


class Desired(StrEnum):
    """What we want of a child."""

    UP = "up"
    DOWN = "down"
