from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.codec import encode_frame
from protocol.frames import MAX_FRAME_BYTES, Event
from subagent.models.types import CallFault, ErrorKind, Message, ModelError, ReplyFault, TurnUsage
from supervisor.scripted.replies import Reply, ReplyCall, ReplyUsage

from .conftest import KEY, Scripted

CALL = ReplyCall("read_file", {"path": "a"})


def failure(call: Callable[[], Any]) -> ModelError:
    with pytest.raises(ModelError) as raised:
        call()
    return raised.value


def test_a_text_comes_whole_with_its_usage_and_its_deltas(scripted: Scripted) -> None:
    shown: list[str] = []
    endpoint = scripted(Reply(text="héllo 😀 " * 40, usage=ReplyUsage(100, 7, 40)))
    turn = endpoint.call(on_delta=shown.append)
    assert (turn.text, turn.calls, turn.stop, turn.reply_fault) == ("héllo 😀 " * 40, (), "stop", None)
    assert turn.usage == TurnUsage(100, 7, 40)
    assert "".join(shown) == turn.text


def test_calls_come_under_the_names_of_their_tools(scripted: Scripted) -> None:
    turn = scripted(Reply(calls=(CALL, ReplyCall("made_up", "")))).call()
    assert [(call.name, call.arguments) for call in turn.calls] == [("read.file", '{"path":"a"}'), ("made_up", "{}")]
    assert turn.stop == "tool_calls"


def test_the_request_is_what_the_provider_documents_and_the_key_is_in_its_header_alone(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="x"))
    endpoint.call("hi")
    [request] = endpoint.server.requests
    assert request.path == "/v1/chat/completions"
    assert request.bearer_sha256 == hashlib.sha256(KEY.encode()).hexdigest()
    assert KEY.encode() not in bytes(request.body)
    body = endpoint.body()
    assert (body["model"], body["stream"], body["stream_options"]) == ("m", True, {"include_usage": True})
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert body["tools"][0]["function"]["name"] == "read_file"


def test_the_size_of_a_request_is_told_before_it_is_sent(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="x"))
    endpoint.call("hi")
    told = endpoint.wire.request_bytes([endpoint.wire.encode(Message("user", "hi"))])
    assert 0 <= told - len(bytes(endpoint.server.requests[0].body)) <= 16


def test_an_id_of_the_provider_goes_no_further_and_two_calls_never_share_one(scripted: Scripted) -> None:
    endpoint = scripted(*[Reply(calls=(ReplyCall("read_file", {}, id=KEY),))] * 2)
    [first], [second] = endpoint.call().calls, endpoint.call().calls
    assert first.fault is second.fault is None
    assert first.id != second.id
    assert all(re.fullmatch("[a-z0-9]{9}", call.id) for call in (first, second))


def test_a_text_in_one_huge_event_is_shown_in_pieces_that_fit_a_frame(scripted: Scripted) -> None:
    shown: list[str] = []
    text = "\x00é" * 200_000
    turn = scripted(Reply(text=text, chunk_chars=len(text))).call(on_delta=shown.append)
    assert turn.text == text
    assert "".join(shown) == text
    assert all(len(encode_frame(Event("intel.delta", {"text": piece}))) <= MAX_FRAME_BYTES for piece in shown)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(cut="text", text="The answer is"), ErrorKind.CUT_STREAM),
        (Reply(cut="text", text=""), ErrorKind.CUT_STREAM),
        (Reply(cut="headers"), ErrorKind.CUT_STREAM),
        (Reply(cut="arguments", calls=(CALL,)), ErrorKind.CUT_STREAM),
        (Reply(cut="connection"), ErrorKind.TRANSPORT),
        (Reply(raw=('data: {"choices":[{"delta":{"content":"x"}}]}', "", 'data: {"choi')), ErrorKind.CUT_STREAM),
        (Reply(raw=("data: nonsense", "")), ErrorKind.MALFORMED),
        (Reply(raw=('data: {"error": {"code": 503}}', "")), ErrorKind.SERVER),
        (Reply(raw=('data: {"choices":[]}', ""), headers={"content-encoding": "gzip"}), ErrorKind.MALFORMED),
        (Reply(raw=("{}",), headers={"content-type": "application/json"}), ErrorKind.MALFORMED),
        (Reply(status=401, error={"code": "invalid_api_key", "message": f"bad key {KEY}"}), ErrorKind.AUTH),
        (Reply(status=403), ErrorKind.AUTH),
        (Reply(status=404, error="no such model"), ErrorKind.REJECTED_REQUEST),
        (Reply(status=302, headers={"location": "http://127.0.0.1:1/"}), ErrorKind.REJECTED_REQUEST),
        (Reply(status=413), ErrorKind.CONTEXT_LENGTH),
        (Reply(status=400, error={"code": "context_length_exceeded", "message": "odd"}), ErrorKind.CONTEXT_LENGTH),
        (Reply(status=400, error={"message": "max_tokens is too large"}), ErrorKind.REJECTED_REQUEST),
        (Reply(status=500, error="x" * 200_000), ErrorKind.SERVER),
    ],
)
def test_a_failed_call_is_typed_says_what_it_cost_and_quotes_nothing(
    scripted: Scripted, reply: Reply, kind: ErrorKind
) -> None:
    endpoint = scripted(reply, Reply(text="next"))
    error = failure(endpoint.call)
    assert error.kind is kind
    assert error.usage is not None
    assert error.usage.estimated is (reply.status == 200)
    chain = f"{error!r} {error.__cause__!r} {error.about}"
    assert KEY not in chain
    assert "127.0.0.1" not in chain
    assert endpoint.call().text == "next"


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (Reply(text="The ans", finish_reason="length"), ReplyFault.TRUNCATED),
        (Reply(text="x", finish_reason="tool_calls"), ReplyFault.LYING_FINISH),
        (Reply(calls=(CALL,), finish_reason="stop"), ReplyFault.LYING_FINISH),
        (Reply(text="x", finish_reason="eaten"), ReplyFault.LYING_FINISH),
        (Reply(), ReplyFault.EMPTY),
        (Reply(text="  "), ReplyFault.EMPTY),
        (Reply(text="x", finish_reason=None), None),
        (Reply(text="x", end_marker=False), None),
    ],
)
def test_a_reply_that_lies_or_is_empty_has_its_fault(
    scripted: Scripted, reply: Reply, fault: ReplyFault | None
) -> None:
    turn = scripted(reply).call()
    assert turn.reply_fault is fault
    assert turn.calls == ()


def test_a_truncated_call_has_its_fault(scripted: Scripted) -> None:
    [call] = scripted(Reply(calls=(ReplyCall("read_file", '{"path": "a'),), finish_reason="length")).call().calls
    assert call.fault is CallFault.TRUNCATED


def test_a_stream_without_end_marker_that_is_cut_after_its_finish_reason_is_complete(scripted: Scripted) -> None:
    said = 'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}'
    assert scripted(Reply(raw=(said, ""), end_marker=False)).call().text == "x"


def test_an_end_marker_without_a_blank_line_is_one(scripted: Scripted) -> None:
    assert scripted(Reply(raw=('data: {"choices":[{"delta":{"content":"x"}}]}', "", "data: [DONE]"))).call().text == "x"


@pytest.mark.parametrize("usage", [None, ReplyUsage(0, 0)])
def test_usage_that_is_missing_or_zero_is_estimated_high(scripted: Scripted, usage: ReplyUsage | None) -> None:
    endpoint = scripted(Reply(text="word " * 20, usage=usage))
    got = endpoint.call().usage
    assert got == TurnUsage(-(-len(bytes(endpoint.server.requests[0].body)) // 2), 51, 0, estimated=True)


def test_retry_after_is_read_in_seconds_and_as_a_date(scripted: Scripted) -> None:
    date = formatdate(time.time() + 30, usegmt=True)
    endpoint = scripted(
        Reply(status=429, headers={"Retry-After": "3"}),
        Reply(status=429, headers={"Retry-After": date}),
        Reply(status=503),
    )
    waits = [failure(endpoint.call).retry_after_s for _ in range(3)]
    assert waits[0] == 3.0
    assert waits[1] is not None
    assert 20 < waits[1] <= 30
    assert waits[2] is None


def test_silence_is_a_timeout_that_is_billed_by_estimate(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="late", delay_s=30.0), Reply(text="x" * 99, chunk_delay_s=30.0), Reply(text="next"))
    for _ in range(2):
        error = failure(lambda: endpoint.call(timeout_s=0.2))
        assert error.kind is ErrorKind.TIMEOUT
        assert error.usage is not None
        assert error.usage.tokens_in > 10
    assert endpoint.call().text == "next"


def test_a_drip_of_bytes_cannot_outlast_the_deadline(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="x" * 2000, chunk_chars=1, chunk_delay_s=0.05))
    began_s = time.monotonic()
    assert failure(lambda: endpoint.call(timeout_s=10.0, within_s=0.4)).kind is ErrorKind.TIMEOUT
    assert time.monotonic() - began_s < 2.0


def test_a_silence_after_a_drip_cannot_outlast_the_deadline_by_its_own_timeout(scripted: Scripted) -> None:
    endpoint = scripted(Reply(raw=("data: {}", "", "data: {}"), chunk_delay_s=0.3))
    began_s = time.monotonic()
    assert failure(lambda: endpoint.call(timeout_s=30.0, within_s=0.5)).kind is ErrorKind.TIMEOUT
    assert time.monotonic() - began_s < 2.5


def test_a_server_that_keeps_the_stream_open_after_its_end_costs_a_moment_and_no_error(scripted: Scripted) -> None:
    end = ('data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}', "", "data: [DONE]", "")
    endpoint = scripted(Reply(raw=("\n".join(end), *[": still here"] * 99), chunk_delay_s=0.3), Reply(text="next"))
    assert endpoint.call(timeout_s=60.0, within_s=60.0).text == "x"
    assert endpoint.call().text == "next"
    assert endpoint.server.connections == 2


def test_no_endpoint_is_a_transport_error_that_costs_nothing(scripted: Scripted) -> None:
    endpoint = scripted(Reply(text="x"))
    endpoint.server.close()
    error = failure(endpoint.call)
    assert error.kind is ErrorKind.TRANSPORT
    assert error.usage == TurnUsage(0, 0)


def test_many_calls_take_one_connection_whether_they_succeed_or_fail(scripted: Scripted) -> None:
    endpoint = scripted(
        *(Reply(text="x") for _ in range(10)),
        Reply(status=500),
        Reply(status=429),
        Reply(calls=(CALL,)),
        Reply(text="x"),
    )
    for number in range(14):
        if number in (10, 11):
            failure(endpoint.call)
        else:
            endpoint.call()
    assert endpoint.server.connections == 1


LINES = st.sampled_from(
    [
        "", "data: [DONE]", "data: {}", "data: x", ": ping", "event: y", "garbage",
        'data: {"choices":[{"delta":{"content":"hi"}}]}',
        'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}',
        'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}',
        'data: {"choices":[{"finish_reason":"tool_calls"}]}',
        'data: {"choices":[{"finish_reason":"stop"}]}',
        'data: {"usage":{"prompt_tokens":1}}',
    ]
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.lists(LINES, max_size=10), min_size=1, max_size=5))
def test_any_stream_over_real_http_is_a_turn_or_a_typed_error(scripted: Scripted, lines: list[list[str]]) -> None:
    endpoint = scripted(*(Reply(raw=tuple(raw)) for raw in lines))
    for _ in lines:
        try:
            turn = endpoint.call()
        except ModelError:
            continue
        assert all(call.fault is not None or turn.reply_fault is None for call in turn.calls)
    endpoint.wire.close()
    endpoint.server.close()
