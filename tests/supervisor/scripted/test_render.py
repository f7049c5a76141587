from __future__ import annotations

import json
from typing import Any

import pytest

from supervisor.scripted.render import Request, completion, error_body, read_request, stream_events
from supervisor.scripted.replies import Reply, ReplyCall, ReplyUsage
from supervisor.scripted.script import Refusal

ASKED = Request(3, 400, "m", stream=True, include_usage=True)
CALL = ReplyCall("f", {"path": "x"})


def events(reply: Reply, request: Request = ASKED) -> list[Any]:
    data = [event.removeprefix(b"data: ").removesuffix(b"\n\n") for event in stream_events(reply, request)]
    return ["[DONE]" if event == b"[DONE]" else json.loads(event) for event in data]


def deltas(reply: Reply) -> list[Any]:
    return [event["choices"][0]["delta"] for event in events(reply) if event != "[DONE]" and event["choices"]]


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        (b'{"model":"m","stream":true,"stream_options":{"include_usage":true}}', Request(1, 67, "m", True, True)),
        (b'{"stream":false,"stream_options":null}', Request(1, 38, "scripted", False, False)),
        (b"nonsense", Request(1, 8)),
        (b'{"model":5}', Request(1, 11)),
    ],
)
def test_a_request_is_read_for_what_it_asks(body: bytes, request_: Request) -> None:
    assert read_request(1, body) == request_


def test_a_text_is_streamed_in_pieces_then_finish_usage_and_end() -> None:
    streamed = events(Reply(text="abcdef", chunk_chars=4))
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in streamed[:-2]) == "abcdef"
    assert len(streamed) == 6
    assert streamed[-3]["choices"][0]["finish_reason"] == "stop"
    assert streamed[-2]["usage"]["prompt_tokens"] == 101
    assert streamed[-1] == "[DONE]"


def test_a_call_is_streamed_with_its_id_first_and_its_arguments_in_pieces() -> None:
    calls = [delta["tool_calls"][0] for delta in deltas(Reply(calls=(CALL,), chunk_chars=6)) if "tool_calls" in delta]
    assert calls[0] == {"index": 0, "id": "call_3_0", "type": "function", "function": {"name": "f", "arguments": ""}}
    assert "".join(call["function"]["arguments"] for call in calls) == '{"path":"x"}'
    assert events(Reply(calls=(CALL,)))[-3]["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(finish_reason="length"), "length"),
        (Reply(finish_reason=None), None),
        (Reply(calls=(CALL,), finish_reason="stop"), "stop"),
    ],
)
def test_a_finish_reason_that_is_given_is_sent_as_it_is(reply: Reply, reason: str | None) -> None:
    assert events(reply)[-3]["choices"][0]["finish_reason"] == reason


def test_usage_is_sent_only_where_asked_for_and_not_forbidden() -> None:
    assert not any("usage" in event for event in events(Reply(text="a"), Request(1, 1, stream=True))[:-1])
    assert not any("usage" in event for event in events(Reply(text="a", usage=None))[:-1])
    assert events(Reply(usage=ReplyUsage(9, 2, 4)))[-2]["usage"] == {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "total_tokens": 11,
        "prompt_tokens_details": {"cached_tokens": 4},
    }


@pytest.mark.parametrize(
    ("reply", "text", "arguments"),
    [
        (Reply(text="abc", cut="headers"), "", ""),
        (Reply(text="abc", calls=(CALL,), cut="text"), "abc", ""),
        (Reply(text="abc", calls=(CALL,), cut="arguments"), "abc", '{"path'),
    ],
)
def test_a_cut_stream_stops_where_it_says_and_never_finishes(reply: Reply, text: str, arguments: str) -> None:
    assert "".join(delta.get("content", "") for delta in deltas(reply)) == text
    fragments = [delta["tool_calls"][0]["function"]["arguments"] for delta in deltas(reply) if "tool_calls" in delta]
    assert "".join(fragments) == arguments
    assert all(event["choices"][0]["finish_reason"] is None for event in events(reply))


def test_an_end_marker_can_be_left_out() -> None:
    assert events(Reply(text="a", end_marker=False))[-1] != "[DONE]"


def test_raw_lines_are_sent_as_they_stand() -> None:
    assert b"".join(stream_events(Reply(raw=("data: x", "", ": é")), ASKED)) == "data: x\n\n: é\n".encode()


def test_a_reply_can_be_whole_instead_of_streamed() -> None:
    body = json.loads(completion(Reply(text="hi", calls=(CALL,)), ASKED))
    [choice] = body["choices"]
    assert (body["object"], body["model"], choice["finish_reason"]) == ("chat.completion", "m", "tool_calls")
    assert choice["message"]["content"] == "hi"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"path":"x"}'}
    assert body["usage"]["total_tokens"] > 100
    assert "usage" not in json.loads(completion(Reply(usage=None), ASKED))


def test_an_error_has_the_shape_that_providers_use() -> None:
    assert json.loads(error_body(Reply(status=429, error={"code": "x"}))) == {"error": {"code": "x"}}
    assert json.loads(error_body(Reply(status=500))) == {"error": {"message": "scripted 500"}}
    assert json.loads(error_body(Refusal(410, "script_ended", "over"))) == {
        "error": {"code": "script_ended", "message": "over"}
    }
