"""The events of a chat-completions stream as neutral deltas. Pure.

Lenient in form, strict in meaning: fields that servers leave out, null or spell in another JSON type are read
for what they are; what is not JSON, or not a chunk at all, is MALFORMED. Only choice 0 is ours. An event that
carries an error is raised as the error it is.
"""

from __future__ import annotations

import json

import msgspec

from protocol.nesting import MAX_NESTING, is_too_deep
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
from subagent.models.provider_errors import error_in_stream
from subagent.models.types import ErrorKind, ModelError

END_MARKER = b"[DONE]"

FINISHES = {
    "stop": Finish("stop", StopMeaning.END),
    "tool_calls": Finish("tool_calls", StopMeaning.CALLS),
    "function_call": Finish("function_call", StopMeaning.CALLS),
    "length": Finish("length", StopMeaning.LENGTH),
    "content_filter": Finish("content_filter", StopMeaning.REFUSED),
}
"""Finish reasons of this wire. Any other is UNKNOWN, and its wording goes no further."""

MAX_ID_CHARS = 4_096
"""How much of a call's id is looked at: it tells calls of one reply apart and is then replaced."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: object = None


class _Call(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: object = None
    refusal: str | None = None
    reasoning_content: object = None
    reasoning: object = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    index: int | None = None
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: object = None
    error: object = None


_decoder = msgspec.json.Decoder(_Chunk)


def read_event(data: bytes) -> list[Delta]:
    """The deltas of one event. Raises ModelError: MALFORMED, or what an error event says."""
    if data.strip() == END_MARKER:
        return [EndMarker()]
    chunk = _decode(data)
    if chunk.error is not None:
        raise error_in_stream(chunk.error)
    deltas: list[Delta] = []
    for choice in chunk.choices or ():
        if not choice.index:
            _read_choice(choice, deltas)
    if isinstance(chunk.usage, dict):
        deltas.append(_usage(chunk.usage))
    return deltas


def _decode(data: bytes) -> _Chunk:
    if is_too_deep(data):
        raise ModelError(ErrorKind.MALFORMED, f"an event of the stream nests deeper than {MAX_NESTING} levels")
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError as error:
        raise ModelError(ErrorKind.MALFORMED, "an event of the stream is no chat completion chunk") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_with_surrogates(data)


def _decode_with_surrogates(data: bytes) -> _Chunk:
    """msgspec refuses half of a surrogate pair; the other half may come in the next event."""
    try:
        return msgspec.convert(json.loads(data, parse_constant=_refuse), _Chunk)
    except ValueError as error:
        raise ModelError(ErrorKind.MALFORMED, "an event of the stream is not JSON") from error


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _read_choice(choice: _Choice, deltas: list[Delta]) -> None:
    delta = choice.delta
    if delta is not None:
        if hidden := _text(delta.reasoning_content) or _text(delta.reasoning):
            deltas.append(HiddenDelta(hidden))
        if text := _text(delta.content):
            deltas.append(TextDelta(text))
        if delta.refusal:
            deltas.append(RefusalDelta(delta.refusal))
        deltas.extend(_call(call) for call in delta.tool_calls or ())
    if choice.finish_reason:
        deltas.append(FINISHES.get(choice.finish_reason, _UNKNOWN_FINISH))


_UNKNOWN_FINISH = Finish("other", StopMeaning.UNKNOWN)


def _call(call: _Call) -> CallDelta:
    function = call.function or _Function()
    call_id = "" if call.id is None else str(call.id)[:MAX_ID_CHARS]
    return CallDelta(call.index, call_id, function.name or "", _arguments(function.arguments))


def _arguments(arguments: object) -> str:
    """Arguments are JSON text in a string; some servers send the value itself."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments)


def _text(content: object) -> str:
    """Content is a string, null, or a list of parts of which the text ones count."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
    return "".join(part for part in parts if isinstance(part, str))


def _usage(usage: dict[str, object]) -> UsageReport:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return UsageReport(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")), _count(cached))


def _count(tokens: object) -> int | None:
    return int(tokens) if isinstance(tokens, int | float) and 0 <= tokens < 2**53 else None
