from __future__ import annotations

import re

import msgspec
import pytest

from protocol.errors import SpecError
from supervisor.scripted.replies import Reply, ReplyCall, ReplyUsage, parse_replies


def test_a_file_is_its_replies_in_order_and_blank_lines_are_none() -> None:
    calls = b'{"calls": [{"name": "f", "arguments": {"x": 1}}, {"name": "g", "arguments": "{", "id": ""}]}'
    script = b'\n{"text": "a"}\r\n\n  \n' + calls
    assert parse_replies(script, "f.jsonl") == (
        Reply(text="a"),
        Reply(calls=(ReplyCall("f", {"x": 1}), ReplyCall("g", "{", ""))),
    )


def test_what_is_left_out_is_told_from_null() -> None:
    left_out, null = parse_replies(b'{}\n{"finish_reason": null, "usage": null}', "f")
    assert (left_out.finish_reason, left_out.usage) == (msgspec.UNSET, msgspec.UNSET)
    assert (null.finish_reason, null.usage) == (None, None)
    assert parse_replies(b'{"usage": {}}', "f")[0].usage == ReplyUsage(0, 0, 0)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"txt": "a"}', "unknown field `txt`"),
        (b'{"text": 5}', r"Expected `str`, got `int` - at `\$.text`"),
        (b'{"calls": [{"arguments": {}}]}', "missing required field `name`"),
        (b'{"calls": [{"name": "f", "arguments": 5}]}', "arguments"),
        (b"nonsense", "malformed"),
        (b'{"text": "\xff"}', "line 2"),
        (b'{"cut": "somewhere"}', "somewhere"),
        (b'{"cut": "arguments"}', 'cut "arguments": needs a call'),
        (b'{"status": 500, "text": "a"}', "an error status has none of them"),
        (b'{"status": 100}', "status: must be"),
        (b'{"error": {}}', "error: needs a status"),
        (b'{"raw": ["data: x"], "text": "a"}', "raw: replaces"),
        (b'{"delay_s": -1}', "delay_s, chunk_delay_s: must be"),
        (b'{"chunk_chars": 0}', "chunk_chars: must be"),
        (b'{"repeat": 0}', "repeat: must be"),
        (b'{"repeat": "always"}', "always"),
        (b'{"headers": {"a": "b\\nc"}}', "headers: one line"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_its_problem(line: bytes, problem: str) -> None:
    with pytest.raises(SpecError, match=problem) as raised:
        parse_replies(b'{"text": "fine"}\n' + line, "my.jsonl")
    assert re.match(r"my\.jsonl, line 2: ", str(raised.value))


@pytest.mark.parametrize("script", [b"", b"\n \n"])
def test_a_file_without_replies_is_refused_with_an_example(script: bytes) -> None:
    with pytest.raises(SpecError, match='my.jsonl: holds no reply.*"text": "done"'):
        parse_replies(script, "my.jsonl")
