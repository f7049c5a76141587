"""One run as its parts share it: the spawn payload, the link, the journal, the account and the conversation.

Everything that leaves the agent goes through here: `write` to the journal, `emit` and `report` to the
supervisor. None of it is ever called inside an open cancel region.
"""

from __future__ import annotations

import time

import msgspec

from protocol.errors import SpecError
from protocol.events import EVENTS, is_logged
from protocol.frames import Error, Event, EventValue, MeterFrame, Policy, Spawn
from protocol.journal.entries import NAME_OF, Granted
from protocol.journal.log import Journal
from subagent.account import Account
from subagent.brain.caps import MIN_OUTPUT_TOKENS
from subagent.brain.state import Situation
from subagent.cancel import CancelGate
from subagent.context.conversation import Conversation
from subagent.control import Control
from subagent.payload import check_policy

PINGS_MISSED = 3


class Run:
    """The shared state of one agent run."""

    def __init__(self, spawn: Spawn, control: Control, journal: Journal, conversation: Conversation) -> None:
        self.spawn = spawn
        self.control = control
        self.journal = journal
        self.conversation = conversation
        self.account = Account(spawn.limits)
        self.policy: Policy = spawn.policy
        self.started_s = time.monotonic()
        self.paused_s = 0.0
        self._epoch = 0

    @property
    def gate(self) -> CancelGate:
        return self.control.gate

    @property
    def deadline_s(self) -> float:
        """The end of this run's running time (CLOCK_MONOTONIC); a pause moves it."""
        return self.started_s + self.spawn.limits.deadline_s + self.paused_s

    def situation(self) -> Situation:
        """What a decision needs, measured now."""
        return Situation(
            now_s=time.monotonic(),
            deadline_s=self.deadline_s,
            meter=self.account.meter,
            prompt_tokens=self.conversation.prompt_estimate() + MIN_OUTPUT_TOKENS,
            context_tokens=self.conversation.context_tokens(),
            context_window=self.spawn.model.context_window,
        )

    def write(self, body: msgspec.Struct) -> None:
        """Journal one entry. A failing disk is tried once more (RULINGS "The loop"), then OSError ends the run."""
        name = NAME_OF[type(body)]
        try:
            self.journal.append(name, body)
        except OSError:
            self.journal.append(name, body)

    def emit(self, name: str, **fields: EventValue) -> None:
        """Queue an event of the vocabulary, if the supervisor wants its level. Whoever waits next sends it first."""
        if is_logged(EVENTS[name].level, self.spawn.telemetry.level):
            self.control.queue(Event(name, fields))

    def report(self) -> None:
        """Send the meter, and what waits: absolute, so that loss and repetition are harmless."""
        meter = self.account.meter
        self.control.send(MeterFrame(meter.spent, meter.held))

    def take_grant(self) -> None:
        """Adopt the newest grant and policy, if we have not seen it; one whose policy no run can have is refused."""
        grant = self.control.grant
        if grant is None or grant.epoch <= self._epoch:
            return
        self._epoch = grant.epoch
        if grant.policy is not None:
            try:
                check_policy(grant.policy)
            except SpecError as error:
                self.control.send(Error(code="invalid", about=f"grant: {error}"))
                return
        self.account.adopt(grant)
        self.policy = grant.policy or self.policy
        self.write(Granted(grant.limit, grant.granted, grant.epoch, grant.policy))

    def hears_supervisor(self) -> bool:
        """True at once while pings come, else once one came. False at the deadline: nobody would see what we start.

        Raises CancelRaised.
        """
        patience_s = PINGS_MISSED * self.spawn.ping_interval_s
        if time.monotonic() - self.control.last_ping_s <= patience_s:
            return True
        self.control.flush()
        with self.gate.region():
            self.control.busy_with("wait", patience_s)
            while (left_s := self.deadline_s - time.monotonic()) > 0:
                self.control.wait_for_change(min(patience_s, left_s))
                if time.monotonic() - self.control.last_ping_s <= patience_s:
                    return True
        return False
