"""`supervise`: one run, from a plan to its terminal record, with nothing left behind.

Order of a start (RULINGS "Start"): folder and lock, log, then the processes, and only then the rest of our
own imports; the payload follows when the endpoint is known.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

from protocol.contract import JsonFormat
from protocol.errors import SpecError
from protocol.events import Level
from protocol.frames import EventValue
from protocol.ids import ROOT_PATH
from protocol.kinship import adopt_orphans
from protocol.record import TerminalRecord
from protocol.status import EXIT_OK, EXIT_PARTIAL, Detail
from supervisor.descriptors import require_descriptors
from supervisor.driver import Driver
from supervisor.machine.machine import Machine
from supervisor.machine.settings import DEFAULT_SETTINGS, SupervisionSettings
from supervisor.machine.settle import RunFacts
from supervisor.member import AgentMember, Member, ServiceMember
from supervisor.observer import Observer
from supervisor.plan import RunPlan, agent_name, check_plan, make_payload
from supervisor.report import Reporter
from supervisor.run_folder import RunFolder, open_run_folder
from supervisor.signals import forget_pending, hold_back
from supervisor.spawn import AGENT_ARGV, SpawnError, child_environment, spawn
from supervisor.stderr_file import StderrFile
from supervisor.treelog import TreeLog

MAX_ABOUT_CHARS = 200


def supervise(
    plan: RunPlan,
    observer: Observer,
    *,
    agent_argv: Sequence[str] = AGENT_ARGV,
    settings: SupervisionSettings = DEFAULT_SETTINGS,
) -> TerminalRecord:
    """Run one agent to its end. Call it on the main thread of a process that has no children of its own.

    Raises SpecError, before a process is started and with nothing left, for a plan that cannot run, a run id that is
    taken, a home that cannot be written or is full, and too few file descriptors. A signal that ends
    (supervisor.signals) cancels the run; a second one kills.
    """
    check_plan(plan)
    require_descriptors()
    with (
        _held_back() as signals,
        closing(open_run_folder(plan.home, plan.run_id)) as folder,
        closing(_open_log(folder)) as log,
    ):
        return _supervise(plan, folder, log, Reporter(plan.run_id, observer), signals, agent_argv, settings)


def _open_log(folder: RunFolder) -> TreeLog:
    try:
        return TreeLog(folder.path)
    except OSError as error:
        folder.discard()
        raise SpecError("COVEY_HOME", f"{folder.path} cannot be written: {error.strerror}") from error


def _supervise(
    plan: RunPlan,
    folder: RunFolder,
    log: TreeLog,
    reporter: Reporter,
    signals: Sequence[signal.Signals],
    agent_argv: Sequence[str],
    settings: SupervisionSettings,
) -> TerminalRecord:
    adopt_orphans()
    journal = str(folder.journal_of(ROOT_PATH))
    facts = _facts(plan, journal, time.monotonic())
    services = () if plan.service is None else (plan.service,)
    machine = Machine(facts, plan.limits.ceiling(), plan.limits.deadline_s, services, settings)
    driver = Driver(
        machine,
        _launcher(plan, folder, agent_argv),
        lambda base_url: make_payload(plan, journal, settings.ping_interval_s, base_url),
        log,
        reporter,
    )
    reporter.emit(ROOT_PATH, "run.start", _start_fields(plan))
    try:
        driver.start()
        driver.run(signals)
    finally:
        driver.close()
    assert machine.record is not None, "the run is over without a record"
    reporter.emit(ROOT_PATH, "run.end", _end_fields(machine.record), _end_level(machine.record))
    return machine.record


@contextmanager
def _held_back() -> Iterator[Sequence[signal.Signals]]:
    """Hold the signals that end a run, before its first trace: the driver lets them through once it can act on them.

    One that comes twice (to our group, and forwarded by the guard) may be left over at the end: it was the run's.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield hold_back()
        forget_pending()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _launcher(plan: RunPlan, folder: RunFolder, agent_argv: Sequence[str]) -> Callable[[str, int], Member]:
    environment: Mapping[str, str] = child_environment(os.environ, plan.run_id)

    def launch(child: str, incarnation: int) -> Member:
        try:
            stderr = StderrFile(folder.stderr_of(child))
        except OSError as error:
            raise SpawnError(f"{child}: its log cannot be written: {error.strerror}", Detail.IO) from error
        service = plan.service if plan.service is not None and plan.service.name == child else None
        try:
            process = spawn(agent_argv if service is None else service.argv, environment)
        except SpawnError:
            stderr.close()
            raise
        stderr.drain_from(process.stderr_fd)
        if service is None:
            return AgentMember(child, incarnation, process, stderr, folder.agent_folder(child))
        return ServiceMember(child, incarnation, process, stderr)

    return launch


def _facts(plan: RunPlan, journal: str, started_at: float) -> RunFacts:
    started_unix_s = time.time()

    def tell_time(instant: float) -> str:
        told = datetime.fromtimestamp(started_unix_s + instant - started_at, UTC)
        return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    return RunFacts(
        run_id=plan.run_id,
        agent=agent_name(plan.run_id, ROOT_PATH),
        path=ROOT_PATH,
        journal=journal,
        json_contract=isinstance(plan.contract.output_format, JsonFormat),
        started_at=started_at,
        tell_time=tell_time,
    )


def _start_fields(plan: RunPlan) -> dict[str, EventValue]:
    roots = plan.scope.workspace
    return {
        "model": f"{plan.model.provider}/{plan.model.name}",
        "workspace": ",".join(root.path for root in roots),
        "writable": any(root.writable for root in roots),
    }


def _end_level(record: TerminalRecord) -> Level:
    """A log that shows errors alone must not be silent about a run that failed."""
    levels: dict[int, Level] = {EXIT_OK: "info", EXIT_PARTIAL: "warning"}
    return levels.get(record.exit_code, "error")


def _end_fields(record: TerminalRecord) -> dict[str, EventValue]:
    return {
        "status": record.status,
        "detail": record.detail,
        "abort": record.abort,
        "exit_code": record.exit_code,
        "tokens": record.usage.tokens,
        "steps": record.usage.steps,
        "about": record.about[:MAX_ABOUT_CHARS],
    }
