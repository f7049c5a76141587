"""The one terminal record of an agent: from its own word where it has given one, else from the facts.

A result that came before the death wins, unless it contradicts itself (machine.claims): then the agent crashed,
by its output. Without one, the supervisor says only `cancelled`, `crashed` or
`deadline` (RULINGS "The supervisor may attribute"): the first cause that it acted on, else how the process
ended. Exit codes follow from the typed status, in protocol.status. `cpu_s` is the kernel's figure.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from protocol.budget import MAX_COUNT, Amounts, Meter
from protocol.frames import CancelReason
from protocol.record import Outcome, TerminalRecord, Usage
from protocol.status import SUPERVISOR_MAY_ATTRIBUTE, Abort, Detail, TerminalStatus, exit_code
from supervisor.machine.claims import contradiction


class Attribution(msgspec.Struct, frozen=True):
    """What the supervisor says of an end."""

    status: TerminalStatus
    detail: Detail
    abort: Abort | None = None
    about: str = ""

    def __post_init__(self) -> None:
        assert self.status in SUPERVISOR_MAY_ATTRIBUTE, f"{self.status} is the agent's own word"


class RunFacts(msgspec.Struct, frozen=True):
    """What a record says of its run. `tell_time` makes RFC 3339 of monotonic seconds."""

    run_id: str
    agent: str
    path: str
    journal: str
    json_contract: bool
    started_at: float
    tell_time: Callable[[float], str]


class Death(msgspec.Struct, frozen=True):
    """How a process ended. `was_ready`: it had said so before."""

    status: int | None
    signal: str | None
    was_ready: bool


_CANCELLED = {
    "signal": Attribution(TerminalStatus.CANCELLED, Detail.SIGNAL),
    "request": Attribution(TerminalStatus.CANCELLED, Detail.REQUEST),
    "parent": Attribution(TerminalStatus.CANCELLED, Detail.PARENT),
    "deadline": Attribution(TerminalStatus.DEADLINE, Detail.WALL_CLOCK),
    "stuck": Attribution(TerminalStatus.CRASHED, Detail.STUCK),
}


def attribute_cancel(reason: CancelReason, dimension: str | None = None, about: str = "") -> Attribution:
    """What is said of an agent that was cancelled for `reason` and died without a result."""
    if reason == "budget":
        detail = Detail.CPU if dimension == "cpu_s" else Detail.KILLED
        return Attribution(TerminalStatus.CRASHED, detail, about=f"over its grant of {dimension}, and did not stop")
    return msgspec.structs.replace(_CANCELLED[reason], about=about)


def attribute_unborn(about: str, detail: Detail) -> Attribution:
    """What is said where the agent, or a service that it needs, could not be started: a fault of this side."""
    return Attribution(TerminalStatus.CRASHED, detail, about=about)


def attribute_no_service(about: str) -> Attribution:
    """What is said where a service was started and does not serve: the model endpoint is gone."""
    return Attribution(TerminalStatus.CRASHED, Detail.SETUP, Abort.INTELLIGENCE_UNAVAILABLE, about)


def attribute_death(death: Death, over: str | None) -> Attribution:
    """What is said of an agent that died by itself without a result. `over`: the dimension it had overspent."""
    if death.signal is not None:
        by_cpu_limit = death.signal == "SIGXCPU" or (death.signal == "SIGKILL" and over == "cpu_s")
        detail = Detail.CPU if by_cpu_limit else Detail.KILLED
        return Attribution(TerminalStatus.CRASHED, detail, about=f"the agent was killed by {death.signal}")
    if not death.was_ready:
        about = f"the agent exited with status {death.status} before it was ready"
        return Attribution(TerminalStatus.CRASHED, Detail.SPAWN, about=about)
    return Attribution(
        TerminalStatus.CRASHED, Detail.EXIT, about=f"the agent exited with status {death.status}, without a result"
    )


def settle(facts: RunFacts, end: Outcome | Attribution, meter: Meter, cpu_s: float, now: float) -> TerminalRecord:
    """The record of an end. `meter` is the settled account, `now` monotonic s."""
    outcome = _outcome(end, facts.json_contract)
    return TerminalRecord(
        run=facts.run_id,
        agent=facts.agent,
        path=facts.path,
        status=outcome.status,
        detail=outcome.detail,
        abort=outcome.abort,
        exit_code=exit_code(outcome.status, outcome.abort, _is_usable(outcome, facts.json_contract)),
        result=outcome.result,
        partial=outcome.partial,
        usage=_usage(outcome.usage, meter, cpu_s),
        started_at=facts.tell_time(facts.started_at),
        ended_at=facts.tell_time(now),
        journal=facts.journal,
        about=outcome.about,
        dropped_injects=outcome.dropped_injects,
    )


def _outcome(end: Outcome | Attribution, json_contract: bool) -> Outcome:
    """The end that the record tells. Of a word that contradicts itself, all but the end and the result is kept."""
    if isinstance(end, Attribution):
        return Outcome(end.status, end.detail, end.abort, about=end.about)
    problem = contradiction(end, json_contract)
    if problem is None:
        return end
    about = f"the agent's word on its end contradicts itself: {problem}"
    return msgspec.structs.replace(
        end, status=TerminalStatus.CRASHED, detail=Detail.OUTPUT, abort=None, result=None, about=about
    )


def amounts_of(usage: Usage) -> Amounts:
    """An agent's last word on its spend. Its CPU time is not its to say."""
    return Amounts(usage.steps, usage.tokens, usage.tool_calls, usage.cost_microusd or 0)


def _usage(said: Usage, meter: Meter, cpu_s: float) -> Usage:
    spent = meter.spent
    return msgspec.structs.replace(
        said,
        steps=spent.steps,
        tokens=spent.tokens,
        tool_calls=spent.tool_calls,
        cost_microusd=spent.cost_microusd or said.cost_microusd,
        charged_unknown=min(said.charged_unknown + meter.charged_unknown.tokens, MAX_COUNT),
        tree_tokens=spent.tokens,
        cpu_s=cpu_s,
    )


def _is_usable(outcome: Outcome, json_contract: bool) -> bool:
    """Non-empty text, or for a JSON contract a value that parses (RULINGS "Ends")."""
    if outcome.result is not None:
        return True
    text = (outcome.partial or "").strip()
    return _parses(text) if json_contract else bool(text)


def _parses(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
