from __future__ import annotations

import pytest

from subagent.models.text_wire import read_turn
from subagent.models.types import AssistantTurn, CallFault, Message, ReplyFault, ToolCall, TurnUsage
from supervisor.scripted.replies import Reply, ReplyCall

from .conftest import Scripted

READ = '{"action": "tool", "tool": "read.file", "args": {"path": "a"}}'


def turn(text: str, **fields: object) -> AssistantTurn:
    return AssistantTurn(text, (), "stop", TurnUsage(1, 1), **fields)  # type: ignore[arg-type]


def test_a_written_action_is_the_turn_s_one_call(scripted: Scripted) -> None:
    reply = scripted(Reply(text=f"Sure. {READ}"), tool_style="text").call()
    assert [(call.name, call.arguments, call.fault) for call in reply.calls] == [("read.file", '{"path": "a"}', None)]
    assert (reply.text, reply.reply_fault) == ("", None)


def test_a_written_answer_is_the_turn_s_text(scripted: Scripted) -> None:
    assert scripted(Reply(text='{"action": "final", "answer": "42"}'), tool_style="text").call().text == "42"


def test_prose_is_no_action_and_is_kept_for_the_correction() -> None:
    read = read_turn(turn("I am done."))
    assert (read.text, read.reply_fault) == ("I am done.", ReplyFault.NO_ACTION)


def test_an_empty_answer_is_empty() -> None:
    assert read_turn(turn('{"action": "final", "answer": " "}')).reply_fault is ReplyFault.EMPTY


def test_a_call_that_is_wrong_has_its_fault() -> None:
    [call] = read_turn(turn('{"tool": "f", "args": 5}')).calls
    assert call.fault is CallFault.NOT_AN_OBJECT


@pytest.mark.parametrize("fault", ReplyFault)
def test_a_reply_that_is_no_answer_is_not_read_for_actions(fault: ReplyFault) -> None:
    read = read_turn(turn(READ, reply_fault=fault))
    assert (read.calls, read.reply_fault) == ((), fault)


def test_a_refusal_is_not_read_for_actions() -> None:
    assert read_turn(turn(READ, refused=True)).calls == ()


def test_native_calls_that_nobody_offered_are_not_run(scripted: Scripted) -> None:
    reply = scripted(Reply(calls=(ReplyCall("read_file", {}),)), tool_style="text").call()
    assert (reply.calls, reply.reply_fault) == ((), ReplyFault.NO_ACTION)


def test_two_calls_never_share_an_id(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text=READ, repeat=2), tool_style="text")
    assert endpoint.call().calls[0].id != endpoint.call().calls[0].id


def test_the_conversation_goes_out_as_text(scripted: Scripted) -> None:
    wire = scripted(Reply(text="x"), tool_style="text").wire
    system = wire.encode(Message("system", "You work."))
    assert b"- read.file: Reads a file." in system
    assert (
        wire.encode(Message("tool", "t", call_id="a", tool="read.file"))
        == b'{"role":"user","content":"Result of read.file:\\nt"}'
    )
    assert b"tool_calls" not in wire.encode(Message("assistant", "", (ToolCall("a", "read.file", "{}"),)))


def test_a_free_model_is_sent_neither_tools_nor_a_schema(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="x"), tool_style="text")
    endpoint.call()
    assert not {"tools", "response_format"} & endpoint.body().keys()


def test_a_constrained_model_is_sent_the_schema_of_what_it_may_do(scripted: Scripted) -> None:
    endpoint = scripted(
        Reply(text=READ, repeat=2), tool_style="text", constrained=True, answer_schema=b'{"type":"number"}'
    )
    endpoint.call(may_answer=True)
    endpoint.call(may_answer=False)
    kinds = [
        [
            choice["properties"]["action"]["const"]
            for choice in endpoint.body(n)["response_format"]["json_schema"]["schema"]["oneOf"]
        ]
        for n in (0, 1)
    ]
    assert kinds == [["tool", "final"], ["tool"]]
    assert "tools" not in endpoint.body()
    told = endpoint.wire.request_bytes([endpoint.wire.encode(Message("user", "hello"))])
    assert 0 <= told - len(bytes(endpoint.server.requests[0].body)) <= 16
