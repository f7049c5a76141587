"""What one run is to do, whole and checked before anything is started."""

from __future__ import annotations

import msgspec

from protocol.contract import Contract
from protocol.errors import SpecError
from protocol.frames import MAX_FRAME_BYTES, Policy, Scope, Secrets, SeedSlice, Spawn, Telemetry
from protocol.ids import ROOT_PATH
from protocol.limits import Limits
from protocol.model import ModelSpec

_ROOM_FOR_BASE_URL_BYTES = 4_096


class ServicePlan(msgspec.Struct, frozen=True):
    """A process beside the agent that the run needs, and ends with it.

    Called as `argv` + ["--parent", PID]; arms PDEATHSIG with that pid. Prints one JSON line on stdout when it
    serves: {"base_url": "http://127.0.0.1:PORT/v1"}. Watches its stdin: EOF means end.
    """

    name: str
    argv: tuple[str, ...]
    start_timeout_s: float = 30.0


class RunPlan(msgspec.Struct, frozen=True):
    """One run of one agent. `home` is the state folder, absolute. `service`, if any, tells the model's base_url."""

    run_id: str
    home: str
    contract: Contract
    model: ModelSpec
    limits: Limits
    scope: Scope
    policy: Policy
    telemetry: Telemetry
    secrets: Secrets
    service: ServicePlan | None
    seed: tuple[SeedSlice, ...] = ()


def agent_name(run_id: str, path: str) -> str:
    """The name of an agent that is unique on this home: RUN/path."""
    return f"{run_id}/{path}"


def make_payload(plan: RunPlan, journal: str, ping_interval_s: float, base_url: str | None = None) -> Spawn:
    """The spawn payload of the run's root. `base_url` is what a service told; None leaves the plan's."""
    model = plan.model if base_url is None else msgspec.structs.replace(plan.model, base_url=base_url)
    return Spawn(
        run_id=plan.run_id,
        agent=agent_name(plan.run_id, ROOT_PATH),
        path=ROOT_PATH,
        depth=0,
        contract=plan.contract,
        model=model,
        limits=plan.limits,
        journal=journal,
        scope=plan.scope,
        policy=plan.policy,
        seed=plan.seed,
        telemetry=plan.telemetry,
        ping_interval_s=ping_interval_s,
        secrets=plan.secrets,
    )


def check_plan(plan: RunPlan) -> None:
    """Raise SpecError for limits that are none, and for a payload that no frame can carry."""
    plan.limits.validate()
    size = len(msgspec.json.encode(make_payload(plan, plan.home, 0.0)))
    allowed = MAX_FRAME_BYTES - _ROOM_FOR_BASE_URL_BYTES
    if size > allowed:
        raise SpecError(
            "contract",
            f"instruction, schema and context fill {size} bytes, {allowed} fit: put what is long into a workspace file",
        )
