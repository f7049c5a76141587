"""A running child as the driver holds it: its process, its pipes, and how what they say becomes events.

Agents and services differ in their link and nowhere else.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from protocol.codec import Fault
from protocol.frames import AnyFrame
from protocol.session import Violation
from supervisor.channel import Channel
from supervisor.intake import event_of
from supervisor.machine.events import ChildEvent, EndpointAnnounced, LinkClosed, PeerViolatedProtocol, QueueOverflowed
from supervisor.process import Process
from supervisor.services import ServiceLink
from supervisor.stderr_file import StderrFile


class Member:
    """One process of the run. Owns its descriptors; `close` it when it is reaped."""

    def __init__(self, name: str, incarnation: int, process: Process, stderr: StderrFile) -> None:
        self.name = name
        self.incarnation = incarnation
        self.process = process
        self.stderr = stderr

    @property
    def output_ended(self) -> bool:
        """Whether its stdout is at its end."""
        raise NotImplementedError

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits for it to read."""
        return False

    @property
    def ignored(self) -> dict[str, int]:
        """How much of what it sent was skipped, by kind."""
        return {}

    def read(self) -> list[ChildEvent]:
        """What it has said, one turn's worth."""
        raise NotImplementedError

    def drain(self) -> list[ChildEvent]:
        """What it left in its pipes. It has exited."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all that we hold for it."""
        self.stderr.close()
        self.process.close()


class AgentMember(Member):
    """An agent: frames both ways."""

    def __init__(self, name: str, incarnation: int, process: Process, stderr: StderrFile, folder: Path) -> None:
        super().__init__(name, incarnation, process, stderr)
        self.channel = Channel(process.stdin_fd, process.stdout_fd)
        self._folder = folder
        self._told: set[type[ChildEvent]] = set()

    @property
    def output_ended(self) -> bool:
        return self.channel.ended

    @property
    def wants_to_write(self) -> bool:
        return self.channel.wants_to_write

    @property
    def ignored(self) -> dict[str, int]:
        return self.channel.ignored

    def read(self) -> list[ChildEvent]:
        return [*self._events_of(self.channel.read(time.monotonic())), *self._troubles()]

    def drain(self) -> list[ChildEvent]:
        self.stderr.drain()
        return self._events_of(self.channel.drain(time.monotonic()))

    def send(self, frame: AnyFrame) -> list[ChildEvent]:
        """Queue a frame; the troubles that come of it."""
        self.channel.send(frame)
        return self._troubles()

    def flush(self) -> list[ChildEvent]:
        """Go on writing; the troubles that come of it."""
        self.channel.flush()
        return self._troubles()

    def close(self) -> None:
        self.channel.close()
        super().close()

    def _events_of(self, found: Iterable[AnyFrame | Violation]) -> list[ChildEvent]:
        return [event_of(self.name, self.incarnation, item, self._folder) for item in found]

    def _troubles(self) -> list[ChildEvent]:
        """What is wrong with the link, each told once."""
        troubles: list[ChildEvent] = []
        if self.channel.ended or self.channel.deaf:
            troubles.append(LinkClosed(self.name, self.incarnation))
        if self.channel.overflowed:
            troubles.append(QueueOverflowed(self.name, self.incarnation))
        new = [trouble for trouble in troubles if type(trouble) not in self._told]
        self._told.update(map(type, new))
        return new


class ServiceMember(Member):
    """A service: one line up, and the end of its stdin down."""

    def __init__(self, name: str, incarnation: int, process: Process, stderr: StderrFile) -> None:
        super().__init__(name, incarnation, process, stderr)
        self.link = ServiceLink(process.stdin_fd, process.stdout_fd)

    @property
    def output_ended(self) -> bool:
        return self.link.ended

    def read(self) -> list[ChildEvent]:
        found = self.link.read()
        events: list[ChildEvent] = []
        if isinstance(found, Fault):
            events.append(PeerViolatedProtocol(self.name, self.incarnation, found.code, found.about))
        elif found is not None:
            events.append(EndpointAnnounced(self.name, self.incarnation, found.base_url))
        if self.link.ended:
            events.append(LinkClosed(self.name, self.incarnation))
        return events

    def drain(self) -> list[ChildEvent]:
        """Nothing: an endpoint that was told last is gone already."""
        self.stderr.drain()
        return []

    def close(self) -> None:
        self.link.close()
        super().close()
