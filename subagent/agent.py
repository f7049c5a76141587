"""From a spawn payload to an outcome: set up, say ready, loop, end.

A set-up that fails ends as crashed with detail `setup`, before `ready`; nothing was asked of a model by then.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from protocol.errors import CoveyError, SpecError
from protocol.frames import Ready, Secrets, Spawn
from protocol.journal.entries import Ended, Injected, Started
from protocol.journal.log import Journal, open_journal
from protocol.record import Outcome
from protocol.status import Detail
from protocol.status import TerminalStatus as Status
from subagent.answer import AnswerChecker
from subagent.batch import BatchRunner
from subagent.boot import limit_cpu
from subagent.brain.state import End
from subagent.context.conversation import Conversation
from subagent.context.prompt import system_prompt, task_message
from subagent.control import Control
from subagent.loop import Ending, Loop
from subagent.model_call import ModelCaller
from subagent.models.open import open_wire
from subagent.models.types import Message, ToolSchema, Wire
from subagent.outcome import last_words, make_outcome
from subagent.payload import check_spawn
from subagent.reading import Reading
from subagent.run import Run
from subagent.tools.finish import FINISH_SCHEMA
from subagent.tools.registry import Registry
from subagent.tools.workspace import open_workspace_tools, workspace_has

FEATURES = ("cancel", "pause", "inject", "grant")


def run_agent(spawn: Spawn, control: Control) -> None:
    """Run one agent to its end and send its result. Returns once the result is on the wire."""
    try:
        check_spawn(spawn)
        journal = open_journal(Path(spawn.journal))
    except (CoveyError, OSError) as error:
        control.end(_failed(Detail.SETUP, str(error)))
        return
    try:
        if journal.entries:
            control.end(_failed(Detail.SETUP, f"{spawn.journal} has entries already: a run never starts over"))
        else:
            control.end(_run_journalled(spawn, control, journal))
    finally:
        journal.close()


def _run_journalled(spawn: Spawn, control: Control, journal: Journal) -> Outcome:
    try:
        limit_cpu(spawn.limits)
        run, wire, registry = _set_up(spawn, control, journal)
        checker = AnswerChecker(spawn, run.conversation, lambda path: workspace_has(spawn.scope, path))
    except SpecError as error:
        return _failed(Detail.SETUP, str(error))
    except OSError as error:
        return _failed(Detail.IO, f"journal: {error.strerror}")
    loop = Loop(run, ModelCaller(run, wire), BatchRunner(run, registry), Reading(registry), checker)
    control.last_words = lambda cancel: last_words(cancel, run.account, loop.partial)
    try:
        control.send(Ready(os.getpid(), FEATURES))
        run.emit("loop.start", tools=len(registry.specs()), context_window=spawn.model.context_window)
        return _end(run, loop.run())
    except OSError as error:
        run.emit("loop.error", kind="io", about=error.strerror or type(error).__name__)
        ending = Ending(End(Status.CRASHED, Detail.IO), None, loop.partial, f"journal or disk: {error.strerror}")
        return make_outcome(ending, run.account, run.journal.path.parent, ())
    finally:
        wire.close()


def _set_up(spawn: Spawn, control: Control, journal: Journal) -> tuple[Run, Wire, Registry]:
    """Everything that must work before `ready`. Raises SpecError or OSError."""
    registry = Registry(open_workspace_tools(spawn.scope, spawn.policy.tool_result_bytes), spawn.scope.tools)
    specs = registry.specs()
    schemas = [ToolSchema(spec.name, spec.description, msgspec.Raw(spec.parameters)) for spec in specs]
    if spawn.model.tool_style == "native":
        schemas.append(FINISH_SCHEMA)
    wire = open_wire(spawn.model, spawn.secrets or Secrets(), schemas, spawn.contract.schema())
    run = Run(spawn, control, journal, Conversation(wire.encode, wire.request_bytes(())))
    run.write(Started(msgspec.structs.replace(spawn, secrets=None)))
    run.conversation.append(Message(role="system", content=system_prompt(spawn.contract, spawn.scope, specs)))
    run.conversation.append(Message(role="user", content=task_message(spawn.contract, spawn.seed)))
    return run, wire, registry


def _end(run: Run, ending: Ending) -> Outcome:
    dropped = tuple(inject.id for inject in run.control.injects)
    for inject in run.control.injects:
        run.write(Injected(inject.id, inject.content, "dropped"))
        run.emit("loop.inject", id=inject.id, applied=False)
    outcome = make_outcome(ending, run.account, run.journal.path.parent, dropped)
    if outcome.result_ref is not None:
        run.emit("artifact.stored", size_bytes=outcome.result_ref.size_bytes)
    run.write(Ended(outcome))
    run.emit(
        "loop.final",
        status=outcome.status,
        detail=outcome.detail,
        turns=outcome.usage.steps,
    )
    return outcome


def _failed(detail: Detail, about: str) -> Outcome:
    return Outcome(Status.CRASHED, detail, about=about)
