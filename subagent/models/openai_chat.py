"""The chat-completions wire: OpenAI's, and that of most servers that are not OpenAI's.

One attempt a call, always streamed. What a fault is, is decided by the assembler; what is retried, by `retry`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from protocol.frames import Secrets
from protocol.model import ModelSpec
from subagent.models.assembler import Assembler
from subagent.models.call_ids import fresh_call_id
from subagent.models.deltas import TextDelta
from subagent.models.http import Answer, HttpEndpoint
from subagent.models.openai_chunks import read_event
from subagent.models.openai_request import RequestFrame, encode_message
from subagent.models.provider_errors import error_of_answer
from subagent.models.redaction import redacted
from subagent.models.retry_after import parse_retry_after
from subagent.models.sse import SSEDecoder
from subagent.models.surrogates import encodable
from subagent.models.tool_names import ToolNames
from subagent.models.types import (
    AssistantTurn,
    CallOptions,
    ErrorKind,
    Message,
    ModelError,
    OnDelta,
    ToolCall,
    ToolSchema,
)

MAX_SHOWN_CHARS = 64 * 1024
"""Of one call of `on_delta`: what shows it may have a bound of its own (a frame has 1 MiB, escapes included)."""


class OpenAIChat:
    """A wire to one model. Implements `types.Wire`."""

    def __init__(self, spec: ModelSpec, url: str, secrets: Secrets, tools: Sequence[ToolSchema]) -> None:
        self._names = ToolNames(tool.name for tool in tools)
        self._frame = RequestFrame(spec, tools, self._names)
        self._key = secrets.api_key
        self._http = HttpEndpoint(url, {"authorization": f"Bearer {self._key}"} if self._key else {})

    def encode(self, message: Message) -> bytes:
        """The message as this wire sends it."""
        return encode_message(message, self._names)

    def request_bytes(self, messages: Sequence[bytes], response_schema: bytes | None = None) -> int:
        """The size of the request body that `call` would send, up to a few bytes above it."""
        return self._frame.size_bytes(messages, response_schema)

    def call(
        self,
        messages: Sequence[bytes],
        options: CallOptions,
        on_delta: OnDelta,
        response_schema: bytes | None = None,
    ) -> AssistantTurn:
        """One attempt. `response_schema` is a JSON Schema for the reply's text, where the endpoint takes one.

        A ModelError says what the attempt cost: nothing if it never left or was refused, else a high guess.
        """
        body = self._frame.body(messages, options, response_schema)
        assembler = Assembler(len(body), fresh_id=fresh_call_id)
        try:
            self._exchange(body, options, assembler, on_delta)
            turn = redacted(assembler.finish(), self._key)
        except ModelError as error:
            error.usage = error.usage or assembler.usage()
            raise
        return msgspec.structs.replace(turn, calls=tuple(self._meant(call) for call in turn.calls))

    def close(self) -> None:
        """Close the HTTP client."""
        self._http.close()

    def _exchange(self, body: bytes, options: CallOptions, assembler: Assembler, on_delta: OnDelta) -> None:
        with self._http.post(body, timeout_s=options.timeout_s, deadline_s=options.deadline_s) as answer:
            _require_stream(answer)
            try:
                _read_stream(answer, assembler, on_delta)
            except ModelError as error:
                if error.kind is ErrorKind.TRANSPORT or (error.kind is ErrorKind.TIMEOUT and assembler.is_complete):
                    return  # what the stream said decides, not how it ended
                raise

    def _meant(self, call: ToolCall) -> ToolCall:
        return msgspec.structs.replace(call, name=self._names.from_wire(call.name))


def _require_stream(answer: Answer) -> None:
    """Raise ModelError unless the answer is a stream of events."""
    if answer.status != 200:
        retry_after_s = parse_retry_after(answer.header("retry-after"), time.time())
        raise error_of_answer(answer.status, answer.error_body(), retry_after_s)
    if answer.header("content-type").startswith(("application/json", "text/html")):
        raise ModelError(ErrorKind.MALFORMED, "the endpoint answered with a document, not with a stream")
    if answer.header("content-encoding") not in ("", "identity"):
        raise ModelError(ErrorKind.MALFORMED, "the endpoint compressed its answer, which it was asked not to")


def _read_stream(answer: Answer, assembler: Assembler, on_delta: OnDelta) -> None:
    decoder = SSEDecoder()
    for chunk in answer.chunks():
        _take(decoder.feed(chunk), assembler, on_delta)
        if assembler.is_ended:
            answer.drain()
            return
    try:
        _take(decoder.feed_eof(), assembler, on_delta)
    except ModelError as error:
        if error.kind is not ErrorKind.MALFORMED:
            raise
        # An event torn by the end of the stream says nothing: the stream is cut unless it was over before.


def _take(events: Sequence[bytes], assembler: Assembler, on_delta: OnDelta) -> None:
    shown: list[str] = []
    for data in events:
        for delta in read_event(data):
            assembler.feed(delta)
            if isinstance(delta, TextDelta):
                shown.append(delta.text)
        if assembler.is_ended:
            break
    text = encodable("".join(shown))
    for start in range(0, len(text), MAX_SHOWN_CHARS):
        on_delta(text[start : start + MAX_SHOWN_CHARS])
