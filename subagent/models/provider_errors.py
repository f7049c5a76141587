"""What a provider's error answer means: status, code and wording to one typed ModelError. Pure.

The code decides before the status, the status before the wording; wording is read only for "the input is too
long", which many servers say in words alone (field report U-31). A limit on the *output* that is too large is
not that: it is a mistake in the request. No error text quotes the body, which may echo the key or the prompt: at
most it names one of KNOWN_CODES.
"""

from __future__ import annotations

import re

import msgspec

from protocol.nesting import is_too_deep
from subagent.models.estimate import NOTHING_USED
from subagent.models.types import ErrorKind, ModelError

CONTEXT_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "context_limit_exceeded",
        "exceed_context_size_error",
        "max_context_length_exceeded",
        "model_context_window_exceeded",
        "input_too_long",
        "prompt_too_long",
        "request_too_large",
        "string_above_max_length",
    }
)
"""Codes (or types) that say that the input is too long, whatever the status."""

QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
"""Sent as 429, but waiting does not help."""

KNOWN_CODES = (
    CONTEXT_CODES
    | QUOTA_CODES
    | {
        "api_error",
        "authentication_error",
        "expectation_failed",
        "insufficient_permissions",
        "internal_error",
        "invalid_api_key",
        "invalid_request_error",
        "invalid_value",
        "missing_required_parameter",
        "model_not_found",
        "no_reply_matches",
        "not_found",
        "not_found_error",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "script_ended",
        "server_error",
        "tokens_exceeded",
        "unknown_parameter",
        "unsupported_parameter",
        "unsupported_value",
    }
)
"""Codes that an error text may name."""

OUTPUT_LIMIT_PARAMS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})

_STATUS_KINDS = {
    401: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    408: ErrorKind.TIMEOUT,
    409: ErrorKind.SERVER,
    413: ErrorKind.CONTEXT_LENGTH,
    429: ErrorKind.RATE_LIMIT,
}
"""Every other status below 500 is REJECTED_REQUEST, from 500 SERVER. 409 is a lock that another request holds."""

_WORDED_STATUSES = frozenset({400, 422})

_CONTEXT_WORDING = re.compile(
    r"context[ _-]?(length|window|size|limit)"
    r"|(prompt|input|request|messages?)\b.{0,60}\b(is|are|was) too (long|large)"
    r"|maximum (prompt|input|context) (length|size)"
    r"|input token count.{0,60}exceed"
    r"|too many (input |prompt )?tokens"
    r"|reduce the (length|size) of (the|your) (messages|prompt|input)"
)
_OUTPUT_WORDING = re.compile(
    r"(max_tokens|max_completion_tokens|max_output_tokens|completion tokens|output tokens|output limit)"
)


class _Facts(msgspec.Struct, frozen=True):
    """What an error body says, wherever its provider puts it."""

    codes: tuple[str, ...] = ()
    param: str = ""
    wording: str = ""
    status: int | None = None


def error_of_answer(status: int, body: bytes, retry_after_s: float | None) -> ModelError:
    """The error that an answer with a status other than 200 is."""
    facts = _facts(_decoded(body))
    kind = _kind(status, facts)
    about = f"the endpoint answered {status}{_shown(facts)}"
    return ModelError(kind, about, status=status, retry_after_s=retry_after_s, usage=NOTHING_USED)


def error_in_stream(payload: object) -> ModelError:
    """The error that an event of a stream is. Its usage is for the caller to add: there may be output already."""
    facts = _facts({"error": payload})
    kind = _kind(facts.status or 500, facts)
    return ModelError(kind, f"the endpoint broke the stream off with an error{_shown(facts)}", status=facts.status)


def _kind(status: int, facts: _Facts) -> ErrorKind:
    if any(code in CONTEXT_CODES for code in facts.codes):
        return ErrorKind.CONTEXT_LENGTH
    if any(code in QUOTA_CODES for code in facts.codes):
        return ErrorKind.REJECTED_REQUEST
    if status in _WORDED_STATUSES:
        return ErrorKind.CONTEXT_LENGTH if _says_too_long(facts) else ErrorKind.REJECTED_REQUEST
    return _STATUS_KINDS.get(status, ErrorKind.SERVER if status >= 500 else ErrorKind.REJECTED_REQUEST)


def _says_too_long(facts: _Facts) -> bool:
    wording = facts.wording.lower()
    if facts.param in OUTPUT_LIMIT_PARAMS or not _CONTEXT_WORDING.search(wording):
        return False
    # "max_tokens is too large ... maximum context length": the window is what it does not fit, so it is the context.
    return "context" in wording or not _OUTPUT_WORDING.search(wording)


def _decoded(body: bytes) -> object:
    try:
        return None if is_too_deep(body) else msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def _facts(body: object) -> _Facts:
    """The shapes seen: {"error": {…}}, {"error": "…"}, {"message": …, "code": …}, {"detail": …}, [{…}], plain text."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return _Facts(wording=body if isinstance(body, str) else "")
    error = body.get("error", body)
    if not isinstance(error, dict):
        return _Facts(wording=str(error), codes=_codes(body))
    message = error.get("message", error.get("detail", ""))
    status = error.get("code", error.get("status"))
    return _Facts(
        codes=_codes(error),
        param=str(error.get("param", "")),
        wording=str(message),
        status=status if isinstance(status, int) and 400 <= status < 600 else None,
    )


def _codes(error: dict[str, object]) -> tuple[str, ...]:
    """`code`, `type` and `status`, where they are words, in one spelling."""
    said = (error.get(key) for key in ("code", "type", "status"))
    return tuple(word.lower().replace("-", "_").replace(" ", "_") for word in said if isinstance(word, str))


def _shown(facts: _Facts) -> str:
    known = next((code for code in facts.codes if code in KNOWN_CODES), None)
    return f" ({known})" if known else ""
