from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.deltas import (
    CallDelta,
    Delta,
    EndMarker,
    Finish,
    HiddenDelta,
    RefusalDelta,
    StopMeaning,
    TextDelta,
    UsageReport,
)
from subagent.models.openai_chunks import read_event
from subagent.models.types import ErrorKind, ModelError


def choice(**fields: object) -> bytes:
    return json.dumps({"choices": [{"index": 0, **fields}]}).encode()


def call(**fields: object) -> bytes:
    return choice(delta={"tool_calls": [fields]})


@pytest.mark.parametrize(
    ("data", "deltas"),
    [
        (b"[DONE]", [EndMarker()]),
        (b" [DONE] ", [EndMarker()]),
        (b"{}", []),
        (b'{"choices": null}', []),
        (b'{"choices": []}', []),
        (choice(delta={"role": "assistant", "content": ""}, finish_reason=None), []),
        (choice(delta=None), []),
        (choice(delta={"content": "hi"}, finish_reason=""), [TextDelta("hi")]),
        (
            choice(delta={"content": [{"type": "text", "text": "a"}, {"type": "thinking", "text": "b"}, 5]}),
            [TextDelta("a")],
        ),
        (choice(delta={"content": []}), []),
        (choice(delta={"reasoning_content": "hm"}), [HiddenDelta("hm")]),
        (choice(delta={"reasoning": "hm"}), [HiddenDelta("hm")]),
        (choice(delta={"refusal": "no"}), [RefusalDelta("no")]),
        (choice(delta={}, finish_reason="stop"), [Finish("stop", StopMeaning.END)]),
        (choice(delta={}, finish_reason="length"), [Finish("length", StopMeaning.LENGTH)]),
        (choice(delta={}, finish_reason="function_call"), [Finish("function_call", StopMeaning.CALLS)]),
        (choice(delta={}, finish_reason="error"), [Finish("other", StopMeaning.UNKNOWN)]),
        (choice(delta={}, finish_reason="sk-key-1234"), [Finish("other", StopMeaning.UNKNOWN)]),
        (b'{"choices":[{"finish_reason":"\\ud800"}]}', [Finish("other", StopMeaning.UNKNOWN)]),
        (call(id="I" * 1_000_000), [CallDelta(None, "I" * 4_096)]),
        (b'{"choices": [{"index": 1, "delta": {"content": "other"}}]}', []),
        (b'{"choices": [{"delta": {"content": "no index"}}]}', [TextDelta("no index")]),
        (call(index=0, id="a", function={"name": "f", "arguments": ""}), [CallDelta(0, "a", "f", "")]),
        (call(index=0, function={"arguments": '{"x"'}), [CallDelta(0, "", "", '{"x"')]),
        (call(id=7, function={"name": None, "arguments": None}), [CallDelta(None, "7", "", "")]),
        (call(index=None, id=None), [CallDelta()]),
        (call(id="a", function={"name": "f", "arguments": {"x": 1}}), [CallDelta(None, "a", "f", '{"x": 1}')]),
        (call(id="a", function={"name": "f", "arguments": 5}), [CallDelta(None, "a", "f", "5")]),
        (b'{"choices":[{"delta":{"content":"\\ud83d"}}]}', [TextDelta("\ud83d")]),
        (b'{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}', [UsageReport(9, 2, None)]),
        (b'{"usage":{"prompt_tokens":9.0,"completion_tokens":null}}', [UsageReport(9)]),
        (b'{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}}', [UsageReport(9, None, 4)]),
        (b'{"usage":{"prompt_tokens":"many","completion_tokens":-3,"prompt_tokens_details":[]}}', [UsageReport()]),
        (b'{"usage":[]}', []),
        (b'{"usage":{"prompt_tokens":9007199254740992,"completion_tokens":1e300}}', [UsageReport()]),
        (b'{"usage":{"prompt_tokens":1%s,"completion_tokens":2}}' % (b"0" * 400), [UsageReport(None, 2)]),
    ],
)
def test_an_event_gives_its_deltas_however_a_server_spells_it(data: bytes, deltas: list[Delta]) -> None:
    assert read_event(data) == deltas


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"[",
        b"[]",
        b"5",
        b'{"choices": 5}',
        b'{"choices":[{"delta":{"content":NaN}}]}',
        b"\xff",
        b"[" * 100_000,
        b'{"error":%s}' % (b"[" * 900 + b"]" * 900),
        choice(delta={"tool_calls": [{"function": {"name": "f", "arguments": json.loads("[" * 900 + "]" * 900)}}]}),
    ],
)
def test_what_is_no_chunk_is_malformed(data: bytes) -> None:
    with pytest.raises(ModelError) as raised:
        read_event(data)
    assert raised.value.kind is ErrorKind.MALFORMED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "boom"}, ErrorKind.SERVER),
        ("boom", ErrorKind.SERVER),
        ({"code": 429, "message": "slow down"}, ErrorKind.RATE_LIMIT),
        ({"code": "context_length_exceeded"}, ErrorKind.CONTEXT_LENGTH),
        ({"code": 400, "message": "maximum context length is 8"}, ErrorKind.CONTEXT_LENGTH),
    ],
)
def test_an_error_in_the_stream_is_the_error_that_it_says(error: object, kind: ErrorKind) -> None:
    with pytest.raises(ModelError) as raised:
        read_event(json.dumps({"error": error}).encode())
    assert raised.value.kind is kind
    assert "boom" not in str(raised.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
KEYS = st.sampled_from(
    [
        "choices",
        "delta",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "index",
        "id",
        "name",
        "usage",
        "finish_reason",
        "error",
    ]
)
SHAPED = st.recursive(
    JSON, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@given(st.binary() | st.builds(lambda value: json.dumps(value).encode(), SHAPED))
def test_garbage_never_raises_anything_untyped(data: bytes) -> None:
    try:
        deltas = read_event(data)
    except ModelError:
        return
    assert all(isinstance(delta, msgspec.Struct) for delta in deltas)
