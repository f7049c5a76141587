"""What happens in a run, told to its observer: the supervisor's events, and those that agents send."""

from __future__ import annotations

import os
from collections import Counter

from protocol.budget import Meter
from protocol.events import EVENTS, Level, check_event
from protocol.frames import Event, EventValue
from protocol.journal.log import utc_now
from supervisor.channel import DISPLAY_EVENT
from supervisor.observer import LogEvent, Observer
from supervisor.plan import agent_name


class Reporter:
    """Tells one observer of one run. Only names and fields of the vocabulary get through."""

    def __init__(self, run_id: str, observer: Observer) -> None:
        self._unknown_events: Counter[str] = Counter()
        self._run_id = run_id
        self._observer = observer

    def emit(self, child: str, name: str, fields: dict[str, EventValue], level: Level | None = None) -> None:
        """Tell an event of the supervisor's own. `level`: where it is another than the vocabulary's."""
        self._tell(child, name, fields, os.getpid(), level)

    def pass_on(self, child: str, pid: int, frame: Event) -> None:
        """Tell an agent's event, if it is in the vocabulary. Display text goes its own way and is no event."""
        if check_event(frame.name, frame.fields) is not None:
            self._unknown_events[child] += 1
        elif frame.name == DISPLAY_EVENT:
            self._observer.delta(child, str(frame.fields.get("text", "")))
        else:
            self._tell(child, frame.name, frame.fields, pid)

    def tell_ignored(self, child: str, counts: dict[str, int]) -> None:
        """Tell what a child sent that was skipped, if there was any. `counts` are those of its link."""
        ignored: dict[str, EventValue] = {**counts, "unknown_events": self._unknown_events.pop(child, 0)}
        if any(ignored.values()):
            self.emit(child, "child.ignored", ignored)

    def show_meter(self, child: str, meter: Meter) -> None:
        """Show an agent's account."""
        self._observer.meter(child, meter)

    def tick(self) -> None:
        """Time has passed."""
        self._observer.tick()

    def _tell(self, child: str, name: str, fields: dict[str, EventValue], pid: int, level: Level | None = None) -> None:
        event = LogEvent(
            ts=utc_now(),
            level=level or EVENTS[name].level,
            event=name,
            run=self._run_id,
            agent=agent_name(self._run_id, child),
            path=child,
            pid=pid,
            fields=fields,
        )
        self._observer.event(event)
