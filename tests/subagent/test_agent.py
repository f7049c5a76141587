"""A real subagent process against a real HTTP endpoint: the loop, end to end, from payload to result."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from protocol.budget import Amounts, Ceiling
from protocol.contract import Contract, JsonFormat
from protocol.frames import (
    Cancel,
    Error,
    Event,
    Grant,
    Inject,
    MeterFrame,
    Pause,
    Ping,
    Policy,
    Ready,
    Resume,
    Scope,
    Secrets,
    Spawn,
    Telemetry,
    WorkspaceRoot,
)
from protocol.journal.entries import Paused
from protocol.journal.log import open_journal, read_journal
from protocol.limits import Limits
from protocol.model import ModelSpec
from protocol.testing import minimal_spawn
from supervisor.scripted.replies import parse_replies
from supervisor.scripted.server import ScriptedServer
from tests.subagent.linked import start_agent

SECRET = "sk-test-4711-do-not-print"
READ_NOTES = {"calls": [{"name": "read_file", "arguments": {"path": "notes.txt"}}]}


class World:
    """A workspace, an endpoint with these replies, and an agent between them."""

    def __init__(self, stack: ExitStack, folder: Path, replies: Sequence[object], **changes: object) -> None:
        self.workspace = folder / "w"
        self.workspace.mkdir()
        (self.workspace / "notes.txt").write_text("Alice owes 42 EUR\n")
        self.journal = folder / "journal.jsonl"
        script = "\n".join(map(json.dumps, replies)).encode()
        self.endpoint = stack.enter_context(ScriptedServer(parse_replies(script, "test")))
        self.child = start_agent(msgspec.structs.replace(self._payload(), **changes))
        stack.callback(self.child.stop)

    def _payload(self) -> Spawn:
        return msgspec.structs.replace(
            minimal_spawn("What does Alice owe?"),
            model=ModelSpec("scripted", "test", self.endpoint.base_url),
            journal=str(self.journal),
            scope=Scope((WorkspaceRoot(str(self.workspace), writable=True),)),
            secrets=Secrets(SECRET),
            telemetry=Telemetry("debug"),
            limits=Limits(),
        )

    def entries(self) -> list[str]:
        return [entry.type for entry in read_journal(self.journal)]

    def bodies(self, entry_type: str) -> list[dict]:
        return [msgspec.json.decode(e.body) for e in read_journal(self.journal) if e.type == entry_type]

    def asked(self, n: int) -> dict:
        return msgspec.json.decode(self.endpoint.requests[n].body)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    with ExitStack() as stack:
        yield lambda replies, **changes: World(stack, tmp_path, replies, **changes)


def test_a_text_reply_is_the_result_and_the_process_exits_0(world) -> None:
    w = world([{"text": "42 EUR"}])
    assert isinstance(w.child.wait_for(Ready), Ready)
    outcome = w.child.outcome()
    assert (outcome.status, bytes(outcome.result or b"")) == ("completed", b'"42 EUR"')
    assert outcome.usage.steps == 1
    assert w.child.process.wait(10) == 0
    assert w.entries() == ["started", "hold", "reply", "end"]


def test_the_journal_has_intent_before_effect_and_outcome_before_the_next_hold(world) -> None:
    write = {"calls": [{"name": "write_file", "arguments": {"path": "out.txt", "content": "hi"}}]}
    w = world([READ_NOTES, write, {"text": "done"}])
    assert w.child.outcome().status == "completed"
    turn = ["hold", "reply", "intent", "outcome"]
    assert w.entries() == ["started", *turn, *turn, "hold", "reply", "end"]
    intent = w.bodies("intent")[1]
    assert (intent["path"], intent["before_sha256"]) == ("out.txt", None)
    assert len(intent["after_sha256"]) == 64
    assert (w.workspace / "out.txt").read_text() == "hi"


def test_a_tool_result_reaches_the_model_under_its_call_id(world) -> None:
    w = world([READ_NOTES, {"text": "42 EUR", "expect": ["Alice owes 42 EUR"]}])
    assert w.child.outcome().status == "completed"
    call, result = w.asked(1)["messages"][-2:]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]


def test_the_history_is_only_ever_appended_to(world) -> None:
    w = world([READ_NOTES, {"calls": [{"name": "list_dir"}]}, {"text": "done"}])
    w.child.outcome()
    first, second, third = (w.asked(n)["messages"] for n in range(3))
    assert second[: len(first)] == first
    assert third[: len(second)] == second


@pytest.mark.parametrize(
    "call",
    [
        {"name": "write_file", "arguments": '{"path": "bad.txt", "conte'},
        {"name": "write_file", "arguments": "[1]"},
        {"name": "write_file", "arguments": "5"},
        {"name": "write_file", "arguments": {"path": "bad.txt", "content": "x"}, "id": ""},
        {"name": "", "arguments": {"path": "bad.txt", "content": "x"}},
        {"name": "WRITE_FILE", "arguments": {"path": "bad.txt", "content": "x"}},
        {"name": "write_file", "arguments": {"path": "../bad.txt", "content": "x"}},
        {"name": "write_file", "arguments": {"path": "bad.txt"}},
    ],
)
def test_a_broken_call_never_runs_and_is_answered(world, call: dict) -> None:
    w = world([{"calls": [call]}, {"text": "done"}])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.usage.steps, outcome.usage.tool_calls) == ("completed", 2, 0)
    assert [body["outcome"] for body in w.bodies("outcome")] == ["rejected"]
    assert not list(w.workspace.parent.rglob("bad.txt"))


def test_a_truncated_call_never_runs(world) -> None:
    cut = {"calls": [{"name": "write_file", "arguments": {"path": "a", "content": "x"}}], "finish_reason": "length"}
    w = world([cut, {"text": "done"}])
    assert w.child.outcome().status == "completed"
    assert not (w.workspace / "a").exists()


def test_a_finish_reason_that_lies_is_neither_run_nor_an_answer(world) -> None:
    lie = {"calls": [{"name": "write_file", "arguments": {"path": "a", "content": "x"}}], "finish_reason": "stop"}
    w = world([lie, {"finish_reason": "tool_calls", "text": "fooled you"}, {"text": "done"}])
    outcome = w.child.outcome()
    assert bytes(outcome.result or b"") == b'"done"'
    assert not (w.workspace / "a").exists()


def test_a_cut_stream_is_tried_again_and_costs_no_step(world) -> None:
    w = world([{"text": "half an ans", "cut": "text"}, {"text": "whole"}])
    outcome = w.child.outcome()
    assert (bytes(outcome.result or b""), outcome.usage.steps) == (b'"whole"', 1)
    assert outcome.usage.tokens_estimated > 0
    assert w.entries() == ["started", "hold", "call_failed", "hold", "reply", "end"]


def test_three_empty_replies_are_stalled_and_leave_no_empty_message(world) -> None:
    w = world([READ_NOTES, *[{"text": " "}] * 3])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("stalled", "empty")
    assert all(m["content"] or m.get("tool_calls") for m in w.asked(3)["messages"])


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_request_that_is_refused_for_good_is_sent_once(world, status: int) -> None:
    w = world([{"status": status, "error": {"message": "no"}, "repeat": "forever"}])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.abort) == ("crashed", "intelligence_unavailable")
    assert len(w.endpoint.requests) == 1


def test_a_failing_server_is_asked_three_times(world) -> None:
    w = world([{"status": 503, "repeat": "forever"}])
    outcome = w.child.outcome()
    assert (outcome.abort, outcome.detail, outcome.usage.steps) == ("intelligence_unavailable", "server", 0)
    assert len(w.endpoint.requests) == 3


def test_a_wait_that_would_pass_the_deadline_ends_the_run_at_once(world) -> None:
    w = world([{"status": 429, "headers": {"Retry-After": "3600"}}], limits=Limits(deadline_s=60))
    outcome = w.child.outcome(within_s=10)
    assert (outcome.abort, outcome.detail) == ("intelligence_unavailable", "rate_limit")


def test_a_context_overflow_is_its_own_end(world) -> None:
    w = world([{"status": 400, "error": {"code": "context_length_exceeded", "message": "odd"}}])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail, outcome.abort) == ("exhausted_tokens", "context_window", None)


def test_steps_end_the_run_with_the_last_text_as_partial(world) -> None:
    replies = [
        {"text": f"thinking {n}", "calls": [{"name": "search", "arguments": {"text": str(n)}}]} for n in range(3)
    ]
    w = world(replies, limits=Limits(steps=3))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail, outcome.partial) == ("exhausted_steps", "steps", "thinking 2")
    assert len(w.endpoint.requests) == 3


def test_a_batch_over_the_call_limit_runs_none_and_answers_all(world) -> None:
    calls = [{"name": "write_file", "arguments": {"path": f"f{n}", "content": "x"}} for n in range(8)]
    w = world([{"calls": calls}], limits=Limits(tool_calls=3))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("exhausted_steps", "tool_calls")
    assert not list(w.workspace.glob("f*"))
    assert [body["outcome"] for body in w.bodies("outcome")] == ["not_executed"] * 8


def test_tokens_stop_the_run_before_a_call_that_could_pass_the_limit(world) -> None:
    reply = {**READ_NOTES, "usage": {"prompt_tokens": 4_000, "completion_tokens": 100}, "repeat": "forever"}
    w = world([reply], limits=Limits(tokens=6_000))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("exhausted_tokens", "tokens")
    assert "tokens, 1900 are left" in outcome.about
    assert outcome.usage.tokens <= 6_000
    assert len(w.endpoint.requests) == 1


def test_the_output_cap_never_asks_for_more_than_is_left(world) -> None:
    w = world([{"text": "x"}], limits=Limits(tokens=3_000))
    w.child.outcome()
    held = w.bodies("hold")[0]["amounts"]["tokens"]
    assert held <= 3_000
    assert w.asked(0).get("max_tokens", w.asked(0).get("max_completion_tokens")) < 3_000


def test_near_a_limit_the_model_is_told_once(world) -> None:
    replies = [{"calls": [{"name": "search", "arguments": {"text": str(n)}}]} for n in range(5)]
    w = world([*replies], limits=Limits(steps=5))
    w.child.outcome()
    told = [m for m in w.asked(4)["messages"] if "Notice from the runtime" in (m["content"] or "")]
    assert len(told) == 1
    assert "steps, 1 is left" in told[0]["content"]


def test_the_meter_is_reported_before_and_after_a_call_and_holds_are_closed(world) -> None:
    w = world([READ_NOTES, {"text": "done"}])
    w.child.outcome()
    meters = [frame for frame in w.child.frames if isinstance(frame, MeterFrame)]
    assert meters[0].held.steps == 1
    assert meters[-1].held.is_zero()
    assert meters[-1].spent.steps == 2
    assert meters[-1].spent.tool_calls == 1


def test_a_repeated_call_is_refused_after_three_and_ends_the_run_after_six(world) -> None:
    w = world([{**READ_NOTES, "repeat": "forever"}])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("loop_detected", "repeated_call")
    assert [b["outcome"] for b in w.bodies("outcome")] == ["ok"] * 3 + ["rejected"] * 3
    assert outcome.usage.tool_calls == 3


ANSWER = JsonFormat(
    msgspec.Raw(
        b'{"type":"object","required":["name","eur"],"properties":{"name":{"type":"string"},"eur":{"type":"number"}}}'
    )
)


def test_a_wrong_value_is_sent_back_and_the_right_one_is_the_result(world) -> None:
    contract = Contract("Who owes what?", ANSWER, grounded=True)
    wrong, right = {"text": '{"name":"Alice","eur":43}'}, {"text": '{"name":"Alice","eur":42}', "expect": ["43"]}
    w = world([READ_NOTES, wrong, right], contract=contract)
    outcome = w.child.outcome()
    assert msgspec.json.decode(outcome.result or b"") == {"name": "Alice", "eur": 42}
    assert len(w.bodies("corrected")) == 1


ECHOES = [
    {"name": "read_file", "arguments": {"path": "EUR 7777"}},
    {"name": "read_file", "arguments": {"EUR 7777": "1"}},
    {"name": "read_file", "arguments": {"path": "notes.txt", "offset_line": "EUR 7777"}},
    {"name": "EUR 7777", "arguments": {}},
    {"name": "write_file", "arguments": {"path": "EUR 7777", "content": "x"}},
]


@pytest.mark.parametrize("call", ECHOES)
def test_an_answer_is_not_grounded_in_the_models_own_words_that_a_tool_repeats(world, call: dict) -> None:
    schema = JsonFormat(msgspec.Raw(b'{"type":"object","required":["total"]}'))
    contract = Contract("What is the total?", schema, grounded=True)
    w = world([{"calls": [call]}, {"text": '{"total":"EUR 7777"}', "repeat": "forever"}], contract=contract)
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("stalled", "contract")


def test_a_contract_that_is_missed_three_times_is_stalled(world) -> None:
    w = world([{"text": "no json", "repeat": "forever"}], contract=Contract("x", ANSWER))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail, outcome.partial) == ("stalled", "contract", "no json")
    assert outcome.about == "answer 3 did not meet the contract: 1 problems"
    assert len(w.endpoint.requests) == 3


def test_a_missing_artifact_is_sent_back(world) -> None:
    write = {"calls": [{"name": "write_file", "arguments": {"path": "out.txt", "content": "hi"}}]}
    w = world([{"text": "done"}, write, {"text": "done"}], contract=Contract("x", artifacts=("out.txt",)))
    assert w.child.outcome().status == "completed"


def test_a_finish_tool_refuses_with_its_own_status(world) -> None:
    w = world([{"calls": [{"name": "finish", "arguments": {"status": "refused", "summary": "no such file"}}]}])
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail, outcome.partial) == ("refused", "declined", "no such file")


def test_a_cancel_interrupts_a_model_call_and_charges_its_hold(world) -> None:
    w = world([{"text": "late", "delay_s": 60}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Cancel("signal", 5.0))
    outcome = w.child.outcome(within_s=5)
    assert (outcome.status, outcome.detail) == ("cancelled", "signal")
    assert outcome.usage.charged_unknown > 0
    assert w.entries()[-3:] == ["call_failed", "cancel", "end"]


def test_a_cancel_interrupts_a_back_off(world) -> None:
    w = world([{"status": 429, "headers": {"Retry-After": "60"}}])
    w.child.wait_for(Event, "intel.retry")
    w.child.send(Cancel("deadline", 5.0))
    assert w.child.outcome(within_s=5).status == "deadline"


def test_a_pause_holds_the_next_turn_and_cancel_wins_over_it(world) -> None:
    w = world([{"text": "first", "delay_s": 0.5}, {"text": "x"}], contract=Contract("x", ANSWER))
    w.child.wait_for(Event, "intel.call")
    w.child.send(Pause())
    w.child.wait_for(Event, "loop.paused")
    assert len(w.endpoint.requests) == 1
    w.child.send(Cancel("request", 5.0))
    assert w.child.outcome(within_s=5).status == "cancelled"


def test_a_resumed_run_goes_on(world) -> None:
    w = world([{**READ_NOTES, "delay_s": 0.3}, {"text": "done"}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Pause())
    w.child.wait_for(Event, "loop.paused")
    w.child.send(Resume())
    assert w.child.outcome().status == "completed"


def test_an_inject_is_taken_at_a_safe_point_and_one_too_late_is_returned(world) -> None:
    w = world([{**READ_NOTES, "delay_s": 0.3}, {"text": "done", "delay_s": 0.3, "expect": ["be brief"]}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Inject("i1", "be brief"))
    w.child.wait_for(Event, "loop.inject")
    w.child.wait_for(Event, "intel.call")
    w.child.send(Inject("i2", "too late"))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.dropped_injects) == ("completed", ("i2",))
    assert [(b["id"], b["state"]) for b in w.bodies("inject")] == [("i1", "applied"), ("i2", "dropped")]


def test_a_key_is_sent_and_is_nowhere_in_the_journal_or_the_frames(world) -> None:
    w = world([READ_NOTES, {"text": "done"}])
    w.child.outcome()
    assert w.endpoint.requests[0].bearer_sha256 is not None
    assert SECRET not in w.journal.read_text()
    assert SECRET not in repr(w.child.frames)


@pytest.mark.parametrize(
    "changes",
    [
        {"limits": Limits(steps=0)},
        {"limits": Limits(deadline_s=-1.0)},
        {"limits": Limits(cpu_s=1e300)},
        {"ping_interval_s": 0.0},
        {"ping_interval_s": -1.0},
        {"policy": Policy(repeat_cap=0)},
        {"policy": Policy(corrections=-1)},
        {"policy": Policy(call_timeout_s=0.0)},
        {"journal": ""},
        {"journal": "a\0b"},
        {"journal": "/dev/full"},
        {"journal": "/"},
    ],
)
def test_a_payload_that_no_run_can_have_fails_before_ready(world, changes: dict) -> None:
    w = world([{"text": "x"}], **changes)
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("crashed", "setup")
    assert outcome.about
    assert w.endpoint.requests == ()


def test_a_journal_that_is_a_fifo_fails_before_ready(world, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    outcome = world([{"text": "x"}], journal=str(tmp_path / "fifo")).child.outcome()
    assert (outcome.status, outcome.detail) == ("crashed", "setup")


def test_a_journal_that_has_entries_is_never_started_over(world, tmp_path: Path) -> None:
    used = tmp_path / "used.jsonl"
    journal = open_journal(used)
    journal.append("pause", Paused(True))
    journal.close()
    before = used.read_bytes()
    w = world([{"text": "x"}], journal=str(used))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("crashed", "setup")
    assert used.read_bytes() == before


def test_a_tool_that_is_not_offered_is_not_named_in_an_event(world) -> None:
    w = world([{"calls": [{"name": SECRET}]}, {"text": "done"}])
    w.child.outcome()
    assert SECRET not in repr([f for f in w.child.frames if isinstance(f, Event)])


def test_an_interrupted_call_costs_no_step_in_the_meter_that_is_reported(world) -> None:
    w = world([{"text": "late", "delay_s": 60}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Cancel("signal", 5.0))
    outcome = w.child.outcome(within_s=5)
    last = [frame for frame in w.child.frames if isinstance(frame, MeterFrame)][-1]
    assert (last.spent.steps, last.held.is_zero(), outcome.usage.steps) == (0, True, 0)
    assert last.spent.tokens == outcome.usage.charged_unknown


def test_a_workspace_that_is_missing_fails_before_ready(world, tmp_path: Path) -> None:
    w = world([{"text": "x"}], scope=Scope((WorkspaceRoot(str(tmp_path / "nowhere")),)))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("crashed", "setup")
    assert not any(isinstance(frame, Ready) for frame in w.child.frames)


def test_a_journal_that_cannot_grow_ends_as_crashed_by_io(world) -> None:
    w = world([{"text": "x", "delay_s": 0.5}])
    w.child.wait_for(Event, "intel.call")
    resource.prlimit(w.child.process.pid, resource.RLIMIT_FSIZE, (1, 1))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("crashed", "io")


def test_without_a_ping_for_three_intervals_nothing_new_is_begun_until_one_comes(world) -> None:
    w = world([{**READ_NOTES, "delay_s": 1.5}, {"text": "done"}], ping_interval_s=0.3)
    w.child.wait_for(Ready)
    w.child.send(Ping(1))
    w.child.wait_for(Event, "intel.result")
    with pytest.raises(AssertionError, match="in time"):
        w.child.wait_for(Event, "tool.call", within_s=0.5)
    w.child.send(Ping(2))
    w.child.wait_for(Event, "tool.call")


def write(name: str) -> dict:
    return {"name": "write_file", "arguments": {"path": name, "content": "x"}}


def test_a_cancel_that_comes_before_an_effect_leaves_every_call_its_one_outcome(world) -> None:
    w = world([{"calls": [write("a"), write("b")], "delay_s": 1.5}], ping_interval_s=0.3)
    w.child.wait_for(Ready)
    w.child.send(Ping(1))
    w.child.wait_for(Event, "intel.result")
    w.child.send(Cancel("request", 5.0))
    assert w.child.outcome().status == "cancelled"
    assert [body["outcome"] for body in w.bodies("outcome")] == ["not_executed"] * 2
    assert not list(w.workspace.glob("[ab]"))


def test_a_supervisor_that_is_not_heard_of_until_the_deadline_sees_no_effect_begin(world) -> None:
    w = world([{"calls": [write("a")], "delay_s": 1.5}], ping_interval_s=0.3, limits=Limits(deadline_s=3.0))
    w.child.wait_for(Ready)
    w.child.send(Ping(1))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("deadline", "wall_clock")
    assert [body["outcome"] for body in w.bodies("outcome")] == ["not_executed"]
    assert not (w.workspace / "a").exists()


def test_a_granted_policy_that_no_run_can_have_is_refused_and_the_run_goes_on(world) -> None:
    w = world([{**READ_NOTES, "delay_s": 0.5}, {"text": "done"}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Grant(Ceiling(tokens=1), Amounts(), epoch=1, policy=Policy(repeat_cap=0)))
    error = w.child.wait_for(Error)
    assert isinstance(error, Error)
    assert (error.code, "repeat_cap" in error.about) == ("invalid", True)
    assert w.child.outcome().status == "completed"


def test_a_granted_limit_rules_the_next_call(world) -> None:
    w = world([{**READ_NOTES, "delay_s": 0.5}, {"text": "done"}])
    w.child.wait_for(Event, "intel.call")
    w.child.send(Grant(Ceiling(tokens=1), Amounts(), epoch=1))
    outcome = w.child.outcome()
    assert (outcome.status, outcome.detail) == ("exhausted_tokens", "tokens")
    assert w.entries().count("grant") == 1


def test_a_policy_of_one_attempt_makes_one_attempt(world) -> None:
    w = world([{"status": 503, "repeat": "forever"}], policy=Policy(model_attempts=1))
    w.child.outcome()
    assert len(w.endpoint.requests) == 1


def test_a_stopped_supervisor_end_of_the_link_ends_the_agent(world) -> None:
    w = world([{"text": "late", "delay_s": 60}])
    w.child.wait_for(Event, "intel.call")
    assert w.child.process.stdin is not None
    w.child.process.stdin.close()
    assert w.child.process.wait(10) == 0
