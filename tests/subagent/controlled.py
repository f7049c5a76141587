"""Scenes for test_control.py: a process with a real Control, and a main thread of one temper each."""

from __future__ import annotations

import os
import sys
import time

import msgspec

from protocol.frames import Event, Ready
from protocol.record import Outcome
from protocol.status import TerminalStatus
from subagent.cancel import CancelGate, CancelRaised
from subagent.control import Control


def outcome(about: str) -> Outcome:
    return Outcome(TerminalStatus.CANCELLED, about=about)


def busy(control: Control) -> None:
    control.busy_with("tool", 60)
    control.send(Event("loop.paused"))
    while True:
        sum(i for i in range(10_000))


def deaf(control: Control) -> None:
    control.last_words = lambda _cancel: Outcome(TerminalStatus.CANCELLED, partial="last words")
    control.send(Event("loop.paused"))
    while True:
        time.sleep(0.01)


def blocked(control: Control) -> None:
    control.send(Event("loop.paused"))
    try:
        with control.gate.region():
            os.read(os.pipe()[0], 1)
    except CancelRaised:
        control.gate.acknowledge()
        control.end(outcome("interrupted"))


def listening(control: Control) -> None:
    with control.gate.region():
        reply = control.ask("human.ask", msgspec.Raw(b"{}"), 10)
    assert reply is not None
    assert control.grant is not None
    told = [
        control.injects[0].content,
        control.grant.limit.tokens,
        control.paused.is_set(),
        bytes(reply.result or b"").decode(),
    ]
    control.end(outcome(msgspec.json.encode(told).decode()))


def chatty(control: Control) -> None:
    for n in range(500):
        control.send(Event("intel.delta", {"text": f"{n} " + "x" * 2_000}))
    time.sleep(60)


def flooding(control: Control) -> None:
    control.last_words = lambda _cancel: outcome("")
    while True:
        control.send(Event("intel.delta", {"text": "x" * 60_000}))


def pausing(control: Control) -> None:
    while not control.paused.is_set():
        control.wait_for_change(None)
    control.send(Event("loop.paused"))
    while control.paused.is_set():
        control.wait_for_change(None)
    control.end(outcome("resumed"))


def main(scene: str) -> None:
    control = Control(os.dup(0), os.dup(1), CancelGate())
    control.start()
    control.wait_for_spawn()
    control.send(Ready(os.getpid()))
    globals()[scene](control)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
