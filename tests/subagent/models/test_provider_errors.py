from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.provider_errors import error_in_stream, error_of_answer
from subagent.models.types import ErrorKind, TurnUsage

K = ErrorKind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (301, K.REJECTED_REQUEST),
        (400, K.REJECTED_REQUEST),
        (401, K.AUTH),
        (402, K.REJECTED_REQUEST),
        (403, K.AUTH),
        (404, K.REJECTED_REQUEST),
        (408, K.TIMEOUT),
        (409, K.SERVER),
        (410, K.REJECTED_REQUEST),
        (413, K.CONTEXT_LENGTH),
        (418, K.REJECTED_REQUEST),
        (422, K.REJECTED_REQUEST),
        (429, K.RATE_LIMIT),
        (500, K.SERVER),
        (502, K.SERVER),
        (503, K.SERVER),
        (529, K.SERVER),
    ],
)
@pytest.mark.parametrize("body", [b"", b"{}", b"not json", b"\xff\xfe", b"[]", b"[1]", b"null", b'{"error": null}'])
def test_a_status_alone_decides_the_kind(status: int, kind: ErrorKind, body: bytes) -> None:
    error = error_of_answer(status, body, None)
    assert (error.kind, error.status) == (kind, status)
    assert error.usage == TurnUsage(0, 0)


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "oops, odd wording"},
        {"code": "CONTEXT-LENGTH-EXCEEDED"},
        {"type": "exceed_context_size_error", "code": 400},
        {"message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"},
        {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {"message": "The input token count (1) exceeds the maximum number of tokens allowed (2)."},
        {"message": "Input is too long for requested model."},
        {"message": "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
        {"message": "input length and `max_tokens` exceed context limit: 197000 + 8192 > 200000"},
        {"message": "the request exceeds the available context size, try increasing it"},
        {"message": "'max_tokens' is too large: 8192. This model's maximum context length is 8192 tokens"},
        {"message": "Please reduce the length of the messages or completion."},
        "context window exceeded",
    ],
)
@pytest.mark.parametrize("wrap", [lambda e: {"error": e}, lambda e: [{"error": e}]])
def test_an_overflow_is_known_by_code_and_by_wording(error: object, wrap: object) -> None:
    body = json.dumps(wrap(error)).encode()  # type: ignore[operator]
    assert error_of_answer(400, body, None).kind is K.CONTEXT_LENGTH


def test_an_overflow_code_wins_over_any_status() -> None:
    body = b'{"error":{"code":"context_length_exceeded"}}'
    assert [error_of_answer(status, body, None).kind for status in (400, 413, 422, 500)] == [K.CONTEXT_LENGTH] * 4


@pytest.mark.parametrize(
    "error",
    [
        {
            "code": "invalid_value",
            "param": "max_tokens",
            "message": "max_tokens is too large: 50000. This model supports at most 16384 completion tokens",
        },
        {"param": "max_completion_tokens", "message": "too large for the context length"},
        {"message": "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens"},
        {"message": "The requested output limit is too large"},
        {"message": "the request is too large: max_tokens must be at most 4096"},
        {"message": "Unknown parameter: 'stream_options'"},
        {"message": "messages: at least one message is required"},
    ],
)
def test_a_mistake_in_the_request_is_no_overflow(error: object) -> None:
    assert error_of_answer(400, json.dumps({"error": error}).encode(), None).kind is K.REJECTED_REQUEST


@pytest.mark.parametrize(
    "body",
    [b'{"message":"too many tokens","code":400}', b'{"detail":"prompt is too long"}', b"context length exceeded"],
)
def test_other_shapes_of_error_bodies_are_read(body: bytes) -> None:
    assert error_of_answer(400, body, None).kind is K.CONTEXT_LENGTH


def test_an_empty_purse_is_not_retried_though_it_comes_as_429() -> None:
    assert error_of_answer(429, b'{"error":{"code":"insufficient_quota"}}', 1.0).kind is K.REJECTED_REQUEST


def test_a_body_that_nests_too_deep_is_judged_by_its_status() -> None:
    deep = b'{"error":{"message":%s}}' % (b"[" * 900 + b"]" * 900)
    assert error_of_answer(401, deep, None).kind is ErrorKind.AUTH


def test_retry_after_is_carried() -> None:
    assert error_of_answer(429, b"", 3.0).retry_after_s == 3.0


@pytest.mark.parametrize("code", ["sk-proj-SECRET", "Incorrect key sk-1!", "x" * 80, "a\nb", 5, None, {"a": 1}])
def test_only_a_plain_code_is_told_and_never_a_message(code: object) -> None:
    error = error_of_answer(
        401, json.dumps({"error": {"code": code, "message": "Incorrect API key: sk-SECRET"}}).encode(), None
    )
    assert error.about == "the endpoint answered 401"
    assert (
        error_of_answer(401, b'{"error":{"code":"invalid_api_key"}}', None).about
        == "the endpoint answered 401 (invalid_api_key)"
    )


@given(st.integers(201, 599), st.binary())
def test_any_body_is_a_typed_error(status: int, body: bytes) -> None:
    assert error_of_answer(status, body, None).status == status


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_payload_in_a_stream_is_a_typed_error(payload: object) -> None:
    assert error_in_stream(payload).kind in ErrorKind
