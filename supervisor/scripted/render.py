"""A reply as chat completions put it on the wire, streamed or whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from supervisor.scripted.replies import Reply, ReplyCall, ReplyUsage
from supervisor.scripted.script import Refusal

END_MARKER = b"data: [DONE]\n\n"

_encode = msgspec.json.Encoder().encode


class Request(msgspec.Struct, frozen=True):
    """What matters of a request. `number` counts from 1 and makes ids distinct."""

    number: int
    size_bytes: int
    model: str = "scripted"
    stream: bool = False
    include_usage: bool = False


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class _Body(msgspec.Struct):
    model: str = "scripted"
    stream: bool = False
    stream_options: _StreamOptions | None = None


def read_request(number: int, body: bytes) -> Request:
    """What a request body asks for; one that is no JSON asks for nothing."""
    try:
        asked = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        asked = _Body()
    include_usage = asked.stream_options is not None and asked.stream_options.include_usage
    return Request(number, len(body), asked.model, asked.stream, include_usage)


def stream_events(reply: Reply, request: Request) -> Iterator[bytes]:
    """The events of a streamed reply, up to where it is cut."""
    if reply.raw is not None:
        yield from (line.encode() + b"\n" for line in reply.raw)
        return
    if reply.cut == "headers":
        return
    yield _event(request, {"role": "assistant", "content": ""})
    for piece in _pieces(reply.text, reply.chunk_chars):
        yield _event(request, {"content": piece})
    if reply.cut == "text":
        return
    for position, call in enumerate(reply.calls):
        yield from _call_events(reply, request, position, call)
    if reply.cut == "arguments":
        return
    yield _event(request, {}, _finish_reason(reply))
    usage = _usage(reply, request)
    if usage is not None and request.include_usage:
        yield b"data: %s\n\n" % _encode({**_head(request, "chat.completion.chunk"), "choices": [], "usage": usage})
    if reply.end_marker:
        yield END_MARKER


def completion(reply: Reply, request: Request) -> bytes:
    """The body of a reply that was not asked for as a stream."""
    calls = [_call(request, position, call) for position, call in enumerate(reply.calls)]
    message = {"role": "assistant", "content": reply.text or None, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(reply)}
    usage = _usage(reply, request)
    body = {**_head(request, "chat.completion"), "choices": [choice]}
    return _encode(body if usage is None else {**body, "usage": usage})


def error_body(reply: Reply | Refusal) -> bytes:
    """The body of an error answer: `error` of the reply, in the shape that providers use."""
    if isinstance(reply, Refusal):
        return _encode({"error": {"code": reply.code, "message": reply.message}})
    error = reply.error
    return _encode({"error": {"message": f"scripted {reply.status}"} if error is None else error})


def _call_events(reply: Reply, request: Request, position: int, call: ReplyCall) -> Iterator[bytes]:
    whole = _call(request, position, call)
    arguments = _arguments(call)
    opening = {**whole, "index": position, "function": {"name": call.name, "arguments": ""}}
    yield _event(request, {"tool_calls": [opening]})
    if reply.cut == "arguments" and position == len(reply.calls) - 1:
        arguments = arguments[: len(arguments) // 2]
    for piece in _pieces(arguments, reply.chunk_chars):
        yield _event(request, {"tool_calls": [{"index": position, "function": {"arguments": piece}}]})


def _event(request: Request, delta: object, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: %s\n\n" % _encode({**_head(request, "chat.completion.chunk"), "choices": [choice]})


def _head(request: Request, kind: str) -> dict[str, object]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": 0, "model": request.model}


def _call(request: Request, position: int, call: ReplyCall) -> dict[str, object]:
    call_id = f"call_{request.number}_{position}" if call.id is None else call.id
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": _arguments(call)}}


def _arguments(call: ReplyCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else _encode(call.arguments).decode()


def _finish_reason(reply: Reply) -> str | None:
    if reply.finish_reason is not msgspec.UNSET:
        return reply.finish_reason
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply, request: Request) -> dict[str, object] | None:
    """Four bytes a token where the reply does not say."""
    usage = reply.usage
    if usage is None:
        return None
    if isinstance(usage, msgspec.UnsetType):
        written = len(reply.text) + sum(len(call.name) + len(_arguments(call)) for call in reply.calls)
        usage = ReplyUsage(1 + request.size_bytes // 4, 1 + written // 4)
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))
