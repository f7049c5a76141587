"""`covey run`: plan, supervise, deliver."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from protocol.errors import SpecError
from protocol.frames import Telemetry
from protocol.record import TerminalRecord
from supervisor.cli.delivery import deliver
from supervisor.cli.planning import RunFlags, View, plan_run
from supervisor.cli.problems import UsageProblems
from supervisor.console import open_console
from supervisor.plan import RunPlan
from supervisor.signals import hold_back


def run_agent(words: Sequence[str], flags: Mapping[str, str | bool | None], problems: Sequence[str]) -> int:
    """Run one agent and return its exit code. Raises UsageProblems before any side effect."""
    if len(words) > 1 and not problems:
        problems = [f"INSTRUCTION: {len(words)} words are given: put the instruction in quotes"]
    typed = msgspec.convert({**flags, "instruction": words[0] if words else None}, RunFlags)
    plan, view = plan_run(typed, os.environ, problems)
    record, for_people = supervise_shown(plan, view)
    return deliver(record, plan.contract, as_json=typed.json, as_text=for_people)


def supervise_shown(plan: RunPlan, view: View) -> tuple[TerminalRecord, bool]:
    """Supervise a run on the console that `view` asks for; and whether that console is for people.

    Raises UsageProblems where the home or the run id cannot be used; nothing was started then. From here on a signal
    interrupts nothing: it is the run's and then, still held back, its delivery's.
    """
    from supervisor.run import supervise  # a command line that is refused does not wait for it

    hold_back()
    console = open_console(view.log_format, view.level, os.environ)
    watched = msgspec.structs.replace(plan, telemetry=Telemetry(level=console.wants))
    try:
        return supervise(watched, console), console.is_text
    except SpecError as error:
        raise UsageProblems([str(error)]) from error
    finally:
        console.close()
