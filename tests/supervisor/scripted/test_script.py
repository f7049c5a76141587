from __future__ import annotations

import json

import pytest

from supervisor.scripted.replies import Reply
from supervisor.scripted.script import Refusal, Script, searchable

A, B, C = Reply(text="a"), Reply(text="b"), Reply(text="c")


def take_all(script: Script, *bodies: bytes) -> list[str]:
    taken = [script.take(body) for body in bodies]
    return [reply.code if isinstance(reply, Refusal) else reply.text for reply in taken]


def test_replies_go_out_in_order_of_arrival_and_then_end() -> None:
    assert take_all(Script([A, B]), b"1", b"2", b"3", b"4") == ["a", "b", "script_ended", "script_ended"]


def test_a_reply_is_repeated_as_often_as_it_says() -> None:
    assert take_all(Script([Reply(text="a", repeat=2), B]), *[b""] * 4) == ["a", "a", "b", "script_ended"]
    assert take_all(Script([Reply(text="a", repeat="forever"), B]), *[b""] * 5) == ["a"] * 5


def test_a_match_picks_its_requests_and_leaves_the_order_of_the_others() -> None:
    script = Script([Reply(text="for x", match="agent x"), A, Reply(text="for y", match="agent y"), B])
    assert take_all(script, b"agent y", b"agent y", b"agent x", b"agent y", b"z") == [
        "a",
        "for y",
        "for x",
        "b",
        "script_ended",
    ]


def test_a_request_that_no_reply_is_for_is_told_so_and_uses_nothing_up() -> None:
    assert take_all(Script([Reply(text="for x", match="x")]), b"y", b"x", b"x") == [
        "no_reply_matches",
        "for x",
        "script_ended",
    ]


def test_an_unmet_expectation_names_what_is_missing_and_uses_the_reply_up() -> None:
    script = Script([Reply(text="a", expect=("there", "missing one", "other")), B])
    refusal = script.take(b"it is there")
    assert refusal == Refusal(418, "expectation_failed", "request 1 does not hold 'missing one', 'other'")
    assert script.take(b"") == B


@pytest.mark.parametrize("wanted", ['say "hi"', "line\nend", "é 😀", '"role":"user"', "deep"])
def test_strings_are_found_as_they_were_meant_and_as_they_were_sent(wanted: str) -> None:
    content = 'say "hi" line\nend é 😀'
    body = json.dumps({"messages": [{"role": "user", "content": content, "x": [{"y": "deep"}]}]}, separators=(",", ":"))
    assert wanted in searchable(body.encode())


def test_a_body_that_is_no_json_is_searched_as_it_stands() -> None:
    assert searchable(b"plain \xff") == "plain \ufffd"
