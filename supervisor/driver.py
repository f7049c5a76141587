"""The driver: feeds the machine with what happens, performs what comes out, and decides nothing.

One event loop, no coroutine: readers on the pipes and pidfds of the children, one timer for the machine's next
deadline, the loop's own hook for signals. Nothing in here waits for a child.

asyncio is imported by `run`, not before: `start` spawns the children first, and they boot while we import.
"""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from protocol.frames import Spawn
from supervisor.machine.effects import (
    ChildEffect,
    CloseInput,
    Effect,
    EmitEvent,
    EndRun,
    ObserveChild,
    PassOnEvent,
    ReapChild,
    SendFrame,
    SendPayload,
    ShowMeter,
    SignalGroup,
    SpawnChild,
    SweepOrphans,
    WriteLog,
)
from supervisor.machine.events import (
    ChildExited,
    ChildObserved,
    ChildReaped,
    ChildSpawned,
    LogFailed,
    OrphansSwept,
    RunStarted,
    SignalReceived,
    SpawnFailed,
    TimePassed,
)
from supervisor.machine.ladder import Rung
from supervisor.machine.machine import Event, Machine
from supervisor.member import AgentMember, Member, ServiceMember
from supervisor.orphans import children_until_now, sweep_orphans
from supervisor.report import Reporter
from supervisor.spawn import SpawnError
from supervisor.treelog import TreeLog

if TYPE_CHECKING:
    import asyncio

TICK_S = 0.25
KILLED_WITHIN_S = 2.0
SWEEP_INTERVAL_S = 0.01

_SIGNAL_OF = {Rung.TERMINATE: signal.SIGTERM, Rung.KILL: signal.SIGKILL}

Launch = Callable[[str, int], Member]
"""Starts the process of a child, by name and incarnation. Raises SpawnError."""

MakePayload = Callable[[str | None], Spawn]
"""The spawn frame, given a service's base_url if there is one."""


class Driver:
    """Runs one machine to its end: `start`, `run`, `close`."""

    def __init__(
        self, machine: Machine, launch: Launch, make_payload: MakePayload, log: TreeLog, reporter: Reporter
    ) -> None:
        self._machine = machine
        self._launch = launch
        self._make_payload = make_payload
        self._log = log
        self._reporter = reporter
        self._members: dict[str, Member] = {}
        self._strangers = children_until_now()
        self._events: deque[Event] = deque()
        self._feeding = False
        self._over = False
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._perform_by_type: Mapping[type[Any], Callable[[Any], None]] = {
            SpawnChild: self._spawn_child,
            SendPayload: self._send_payload,
            SendFrame: self._send_frame,
            ObserveChild: self._observe_child,
            CloseInput: self._close_input,
            SignalGroup: self._signal_group,
            SweepOrphans: self._sweep_orphans,
            ReapChild: self._reap_child,
            WriteLog: self._write_log,
            EmitEvent: self._emit_event,
            PassOnEvent: self._pass_on_event,
            ShowMeter: self._show_meter,
            EndRun: self._end_run,
        }

    def start(self) -> None:
        """Spawn what the run begins with."""
        self._feed([RunStarted()])

    def run(self, signals: Iterable[signal.Signals]) -> None:
        """Go on until the run is over. `signals` are blocked by the caller, and let through once they are handled."""
        import asyncio

        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._on_failure)
        for number in signals:
            self._loop.add_signal_handler(number, self._on_signal)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        for member in self._members.values():
            self._attach(member, self._loop)
        self._set_timer()
        self._tick()
        if not self._over:
            self._loop.run_forever()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Let go of the loop. After a failure of our own, processes may be left: they are killed and reaped here."""
        for member in self._members.values():
            member.process.signal_group(signal.SIGKILL)
            member.process.wait(KILLED_WITHIN_S)
            member.process.reap()
            member.close()
        give_up_at = time.monotonic() + KILLED_WITHIN_S
        while sweep_orphans(self._strangers).left and time.monotonic() < give_up_at:
            time.sleep(SWEEP_INTERVAL_S)
        if self._loop is not None:
            self._loop.close()

    # ---------------------------------------------------------------- events in

    def _feed(self, events: Iterable[Event]) -> None:
        """Hand events to the machine, in order, each with its effects performed before the next."""
        self._events.extend(events)
        if self._feeding:
            return
        self._feeding = True
        while self._events:
            for effect in self._machine.handle(self._events.popleft(), time.monotonic()):
                self._perform(effect)
        self._feeding = False
        self._set_timer()

    def _set_timer(self) -> None:
        due = self._machine.next_deadline()
        if self._loop is None or due == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = None if due is None else self._loop.call_at(due, self._on_time)

    def _on_time(self) -> None:
        self._timer_at = None
        self._feed([TimePassed()])

    def _on_signal(self) -> None:
        self._feed([SignalReceived()])

    def _on_output(self, member: Member, loop: asyncio.AbstractEventLoop) -> None:
        events = member.read()
        if member.output_ended:
            loop.remove_reader(member.process.stdout_fd)
        self._watch_writes(member)
        self._feed(events)

    def _on_input_ready(self, member: AgentMember) -> None:
        events = member.flush()
        self._watch_writes(member)
        self._feed(events)

    def _on_stderr(self, member: Member, loop: asyncio.AbstractEventLoop) -> None:
        member.stderr.take()
        if member.stderr.ended:
            loop.remove_reader(member.process.stderr_fd)

    def _on_exit(self, member: Member, loop: asyncio.AbstractEventLoop) -> None:
        seen = member.process.exit_seen()
        if seen is None:
            return
        self._detach(member, loop)
        last = member.drain()
        self._feed([*last, ChildExited(member.name, member.incarnation, seen.status, seen.signal, seen.cpu_s)])

    def _on_failure(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A callback raised: a bug of ours. The run cannot go on."""
        self._failure = context.get("exception") or RuntimeError(context["message"])
        self._end_run(EndRun())

    def _tick(self) -> None:
        self._reporter.tick()
        if self._loop is not None and not self._over:
            self._loop.call_later(TICK_S, self._tick)

    # ---------------------------------------------------------------- watching

    def _attach(self, member: Member, loop: asyncio.AbstractEventLoop) -> None:
        loop.add_reader(member.process.stdout_fd, self._on_output, member, loop)
        loop.add_reader(member.process.stderr_fd, self._on_stderr, member, loop)
        loop.add_reader(member.process.pidfd, self._on_exit, member, loop)
        self._watch_writes(member)

    def _detach(self, member: Member, loop: asyncio.AbstractEventLoop) -> None:
        process = member.process
        for fd in (process.stdout_fd, process.stderr_fd, process.pidfd):
            loop.remove_reader(fd)
        loop.remove_writer(process.stdin_fd)

    def _watch_writes(self, member: Member) -> None:
        if self._loop is None or not isinstance(member, AgentMember):
            return
        if member.wants_to_write:
            self._loop.add_writer(member.process.stdin_fd, self._on_input_ready, member)
        else:
            self._loop.remove_writer(member.process.stdin_fd)

    # ---------------------------------------------------------------- effects out

    def _perform(self, effect: Effect) -> None:
        self._perform_by_type[type(effect)](effect)

    def _spawn_child(self, effect: SpawnChild) -> None:
        try:
            member = self._launch(effect.child, effect.incarnation)
        except SpawnError as error:
            self._feed([SpawnFailed(effect.child, effect.incarnation, str(error), error.detail)])
            return
        self._members[effect.child] = member
        if self._loop is not None:
            self._attach(member, self._loop)
        process = member.process
        self._feed([ChildSpawned(effect.child, effect.incarnation, process.pid, process.start_ticks)])

    def _send_payload(self, effect: SendPayload) -> None:
        self._send_frame(SendFrame(effect.child, effect.incarnation, self._make_payload(effect.base_url)))

    def _send_frame(self, effect: SendFrame) -> None:
        member = self._agent(effect)
        events = member.send(effect.frame)
        self._watch_writes(member)
        self._feed(events)

    def _observe_child(self, effect: ObserveChild) -> None:
        seen = self._members[effect.child].process.observe()
        self._feed([ChildObserved(effect.child, effect.incarnation, seen.stopped, seen.cpu_s)])

    def _close_input(self, effect: CloseInput) -> None:
        member = self._members[effect.child]
        assert isinstance(member, ServiceMember), f"{effect.child} is ended by its stdin, and no service"
        member.link.close_input()

    def _signal_group(self, effect: SignalGroup) -> None:
        self._members[effect.child].process.signal_group(_SIGNAL_OF[effect.rung])

    def _sweep_orphans(self, effect: SweepOrphans) -> None:
        spared = self._strangers | {member.process.pid for member in self._members.values()}
        swept = sweep_orphans(spared)
        self._feed([OrphansSwept(effect.child, effect.incarnation, swept.killed, swept.left)])

    def _reap_child(self, effect: ReapChild) -> None:
        member = self._members.pop(effect.child)
        if self._loop is not None:
            self._detach(member, self._loop)
        self._reporter.tell_ignored(member.name, member.ignored)
        member.process.reap()
        member.close()
        self._feed([ChildReaped(effect.child, effect.incarnation)])

    def _write_log(self, effect: WriteLog) -> None:
        try:
            self._log.append(effect.entry)
        except OSError as error:
            self._feed([LogFailed(error.strerror or type(error).__name__)])

    def _emit_event(self, effect: EmitEvent) -> None:
        self._reporter.emit(effect.child, effect.name, effect.fields)

    def _pass_on_event(self, effect: PassOnEvent) -> None:
        self._reporter.pass_on(effect.child, self._members[effect.child].process.pid, effect.frame)

    def _show_meter(self, effect: ShowMeter) -> None:
        self._reporter.show_meter(effect.child, effect.meter)

    def _end_run(self, _effect: EndRun) -> None:
        self._over = True
        if self._loop is not None:
            self._loop.stop()

    def _agent(self, effect: ChildEffect) -> AgentMember:
        member = self._members[effect.child]
        assert isinstance(member, AgentMember), f"{effect.child} is sent a frame, and is no agent"
        return member
