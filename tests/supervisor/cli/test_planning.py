"""Flags to a plan, or to everything that is wrong with them, without a side effect."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from protocol.ids import parse_run_id
from protocol.limits import Limits
from supervisor.cli.planning import RunFlags, plan_run
from supervisor.cli.problems import UsageProblems


@pytest.fixture
def environ(tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return {"COVEY_HOME": str(tmp_path / "home"), "COVEY_MODEL": "ollama/m"}


def problems_of(flags: RunFlags, environ: dict[str, str], problems: tuple[str, ...] = ()) -> tuple[str, ...]:
    with pytest.raises(UsageProblems) as caught:
        plan_run(flags, environ, problems)
    return caught.value.problems


def test_an_instruction_alone_gives_a_plan_with_the_defaults(environ, tmp_path):
    plan, view = plan_run(RunFlags(instruction="do it"), environ)
    assert (plan.contract.objective, plan.limits, plan.home) == ("do it", Limits(), str(tmp_path / "home"))
    assert (view.level, view.log_format) == ("info", "auto")
    assert [(root.path, root.writable) for root in plan.scope.workspace] == [(str(tmp_path / "work"), False)]
    assert parse_run_id(plan.run_id)
    assert not (tmp_path / "home").exists()


def test_every_flag_lands_in_the_plan(environ, tmp_path):
    flags = RunFlags(
        instruction="do it", model="custom/m", base_url="http://localhost:1/v1", context_window="8000", workspace=".",
        steps="5", tokens="6000", tool_calls="7", deadline="1m", run_id="mine", log_level="debug", log_format="text",
    )  # fmt: skip
    plan, view = plan_run(flags, environ)
    assert plan.limits == Limits(steps=5, tokens=6_000, tool_calls=7, deadline_s=60.0)
    assert (plan.model.name, plan.model.base_url, plan.model.context_window) == ("m", "http://localhost:1/v1", 8_000)
    assert (plan.run_id, view.level, view.log_format) == ("mine", "debug", "text")
    assert plan.scope.workspace[0].writable


def test_two_plans_have_two_run_ids(environ):
    flags = RunFlags(instruction="x")
    assert plan_run(flags, environ)[0].run_id != plan_run(flags, environ)[0].run_id


def test_all_problems_are_told_in_one_pass(environ):
    flags = RunFlags(
        model="nope/x", context_window="-1", workspace="/nowhere", steps="0", tokens="x", tool_calls="-2", deadline="5",
        run_id="../up", log_level="loud", log_format="xml",
    )  # fmt: skip
    told = "\n".join(problems_of(flags, environ))
    for part in (
        "--model", "--context-window", "--workspace", "--steps", "--tokens", "--tool-calls", "--deadline", "--run-id",
        "--log-level", "--log-format", "INSTRUCTION",
    ):  # fmt: skip
        assert part in told


def test_an_unknown_flag_hides_no_bad_value_and_invents_no_second_instruction(environ):
    assert problems_of(
        RunFlags(instruction="5", file="task.md", steps="0"), environ, ("No such option '--step'.",)
    ) == (
        "No such option '--step'.",
        "--steps: 0 is not a limit: give a whole number above zero, or leave it out for the default",
    )


def test_standard_input_is_not_touched_when_something_else_is_wrong(environ, monkeypatch):
    stdin = io.BytesIO(b"the task")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    problems_of(RunFlags(instruction="-", steps="0"), environ)
    assert stdin.tell() == 0
    assert plan_run(RunFlags(instruction="-"), environ)[0].contract.objective == "the task"


def test_the_key_is_in_the_secrets_and_nowhere_else(environ):
    secret = "sk-very-secret-0123456789"
    plan, _ = plan_run(RunFlags(instruction="x"), {**environ, "COVEY_API_KEY": secret})
    assert plan.secrets.api_key == secret
    assert secret not in repr(plan)


def test_an_artifact_that_nobody_can_make_is_refused_beside_all_else(environ, tmp_path):
    (tmp_path / "contract.json").write_text('{"objective": "write it", "artifacts": ["out/a.md"]}')
    contract = str(tmp_path / "contract.json")
    assert problems_of(RunFlags(contract=contract, steps="0"), environ)[1:] == (
        "--workspace: is missing: the contract asks for 'out/a.md', which the agent has to write",
    )
    assert plan_run(RunFlags(contract=contract, workspace="."), environ)[0].contract.artifacts == ("out/a.md",)
    (tmp_path / "work" / "out").mkdir()
    (tmp_path / "work" / "out" / "a.md").touch()
    assert plan_run(RunFlags(contract=contract), environ)[0].contract.artifacts == ("out/a.md",)
