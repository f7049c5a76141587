"""Flags and environment to a plan that can run, or to the list of everything that is wrong. No side effect."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import msgspec

from protocol.contract import Contract
from protocol.errors import SpecError
from protocol.events import LEVELS, Level
from protocol.frames import Policy, Scope, Secrets, Telemetry
from protocol.ids import RunId, make_run_id, parse_run_id
from protocol.limits import Limits
from protocol.model import ModelSpec
from supervisor.cli.problems import Problems
from supervisor.cli.sources import STDIN, TaskFlags, read_task
from supervisor.cli.values import parse_choice, parse_duration, parse_limit, parse_utf8, parse_window
from supervisor.cli.workspace import check_artifacts, read_scope
from supervisor.console import FORMATS, Format
from supervisor.home import find_home
from supervisor.plan import RunPlan
from supervisor.providers import Chosen, ModelFlags, choose_model

T = TypeVar("T")


class RunFlags(msgspec.Struct, frozen=True, kw_only=True):
    """The flags of `covey run` as they were typed. None: not given."""

    instruction: str | None = None
    file: str | None = None
    contract: str | None = None
    model: str | None = None
    base_url: str | None = None
    context_window: str | None = None
    workspace: str | None = None
    steps: str | None = None
    tokens: str | None = None
    tool_calls: str | None = None
    deadline: str | None = None
    run_id: str | None = None
    json: bool = False
    log_level: str = "info"
    log_format: str = "auto"


class View(msgspec.Struct, frozen=True):
    """How the events of a run are shown."""

    level: Level = "info"
    log_format: Format = "auto"


def plan_run(flags: RunFlags, environ: Mapping[str, str], problems: Sequence[str] = ()) -> tuple[RunPlan, View]:
    """The plan of a run and the view of it. Raises UsageProblems with all that is wrong.

    `problems` were found while parsing. Standard input is read last, and only when all else is in order.
    """
    found = Problems(problems)
    view = _view(flags, found)
    limits = _limits(flags, found)
    chosen = _model(flags, environ, found)
    home = found.take(lambda: str(find_home(environ)), "")
    scope = found.take(lambda: read_scope(flags.workspace, find_home(environ)), Scope()) if home else Scope()
    run_id = found.take(lambda: _run_id(flags.run_id), RunId(""))
    # An unknown flag leaves its value behind, which would pass for the instruction.
    contract = _task(flags, found) if not problems else Contract("")
    if scope.workspace:
        found.take(lambda: check_artifacts(contract.artifacts, scope), None)
    found.stop_if_any()
    plan = RunPlan(
        run_id=run_id,
        home=home,
        contract=contract,
        model=chosen.spec,
        limits=limits,
        scope=scope,
        policy=Policy(),
        telemetry=Telemetry(),
        secrets=chosen.secrets,
        service=chosen.service,
    )
    return plan, view


def _view(flags: RunFlags, found: Problems) -> View:
    level = found.take(lambda: parse_choice("--log-level", flags.log_level, LEVELS), "")
    log_format = found.take(lambda: parse_choice("--log-format", flags.log_format, FORMATS), "")
    return View(cast("Level", level), cast("Format", log_format))


def _limits(flags: RunFlags, found: Problems) -> Limits:
    default = Limits()
    return Limits(
        steps=_given(found, "--steps", flags.steps, parse_limit, default.steps),
        tokens=_given(found, "--tokens", flags.tokens, parse_limit, default.tokens),
        tool_calls=_given(found, "--tool-calls", flags.tool_calls, parse_limit, default.tool_calls),
        deadline_s=_given(found, "--deadline", flags.deadline, parse_duration, default.deadline_s),
    )


def _model(flags: RunFlags, environ: Mapping[str, str], found: Problems) -> Chosen:
    model = _given(found, "--model", flags.model, parse_utf8, None)
    window = _given(found, "--context-window", flags.context_window, parse_window, None)
    wanted = ModelFlags(model, flags.base_url, window)
    return found.take(lambda: choose_model(wanted, environ), Chosen(ModelSpec("", "", ""), Secrets()))


def _task(flags: RunFlags, found: Problems) -> Contract:
    if STDIN in (flags.instruction, flags.file):
        found.stop_if_any()
    return found.take(lambda: read_task(TaskFlags(flags.instruction, flags.file, flags.contract)), Contract(""))


def _given(found: Problems, flag: str, text: str | None, parse: Callable[[str, str], T], otherwise: T) -> T:
    """A flag's value, or `otherwise` where it was not given."""
    return otherwise if text is None else found.take(lambda: parse(flag, text), otherwise)


def _run_id(given: str | None) -> RunId:
    if given is None:
        return _new_run_id()
    try:
        return parse_run_id(given)
    except SpecError as error:
        raise SpecError("--run-id", error.problem) from error


def _new_run_id() -> RunId:
    return make_run_id(time.time_ns() // 1_000_000, os.urandom(5))
