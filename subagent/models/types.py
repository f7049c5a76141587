"""What every wire takes and gives: messages, tool schemas, a turn, and the typed ways a call goes wrong.

Two kinds of wrong are kept apart. A `ModelError` means that there is no turn: the call failed, and may be
tried again. A turn that came whole can still hold what must not be used: `reply_fault` (the turn is no
answer) and `ToolCall.fault` (the call never runs; the model is told why). Source: DESIGN section 6 "Errors
of the wire", field reports U-18 to U-27.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Literal, Protocol

import msgspec

from protocol.errors import CoveyError


class CallFault(StrEnum):
    """Why a tool call of a reply is never run."""

    TRUNCATED = "truncated"
    UNPARSABLE = "unparsable"
    NOT_AN_OBJECT = "not_an_object"
    NO_NAME = "no_name"
    BAD_NAME = "bad_name"
    EMPTY_ID = "empty_id"
    DUPLICATE_ID = "duplicate_id"


MAX_CALL_NAME_CHARS = 128
"""Of the tool's name in a call. A tool's own name is shorter; this leaves room for what a model makes up."""


class ReplyFault(StrEnum):
    """Why a reply is no answer, though it came."""

    EMPTY = "empty"
    TRUNCATED = "truncated"
    PAUSED = "paused"
    LYING_FINISH = "lying_finish"
    NO_ACTION = "no_action"


class ToolCall(msgspec.Struct, frozen=True):
    """One call of a reply. `id` is ours, never the provider's; `arguments` is the JSON text as it came.

    `name` is printable, at most MAX_CALL_NAME_CHARS long, and empty where the model's was not. A call without fault
    has a name and arguments that are one JSON object ("{}" for none).
    """

    id: str
    name: str
    arguments: str
    fault: CallFault | None = None


class TurnUsage(msgspec.Struct, frozen=True):
    """Tokens of one call. `estimated`: the provider did not say, and these are high guesses."""

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


StopWord = Literal["stop", "tool_calls", "function_call", "length", "content_filter", "other", ""]
"""A finish reason. A closed list, since it is logged: what a provider says beside it is "other", nothing is ""."""


class AssistantTurn(msgspec.Struct, frozen=True):
    """One whole reply of a model, the same from every wire. `stop` is its finish reason."""

    text: str
    calls: tuple[ToolCall, ...]
    stop: StopWord
    usage: TurnUsage
    reply_fault: ReplyFault | None = None
    refused: bool = False


class Message(msgspec.Struct, frozen=True):
    """One message of a conversation. `calls` only on assistant messages; `call_id` and `tool` only on tool ones.

    `is_source`: the content is what a tool found, so an answer may be grounded in it. Errors, refusals and what a
    tool says of its own effect are not: they can repeat the model's words.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    is_source: bool = False


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as a model is shown it. `parameters` is a JSON Schema of an object, encoded."""

    name: str
    description: str
    parameters: msgspec.Raw


class ErrorKind(StrEnum):
    """The kinds of failed calls. Each is its own rule in subagent.models.retry."""

    AUTH = "auth"
    REJECTED_REQUEST = "rejected_request"
    CONTEXT_LENGTH = "context_length"
    RATE_LIMIT = "rate_limit"
    SERVER = "server"
    TRANSPORT = "transport"
    TIMEOUT = "timeout"
    CUT_STREAM = "cut_stream"
    MALFORMED = "malformed"


class ModelError(CoveyError):
    """A model call gave no turn. `about` is safe to log: no key, no content. `usage` is what it cost, if known."""

    def __init__(
        self,
        kind: ErrorKind,
        about: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        usage: TurnUsage | None = None,
    ) -> None:
        self.kind = kind
        self.about = about
        self.status = status
        self.retry_after_s = retry_after_s
        self.usage = usage
        super().__init__(f"{kind}: {about}")


class Copying(msgspec.Struct, frozen=True):
    """For a constrained wire: values are to be copied from `sources`.

    `answer` is the text of an answer that was sent back: what of it stands in the sources is kept.
    """

    sources: tuple[str, ...]
    answer: str = ""


class CallOptions(msgspec.Struct, frozen=True):
    """How one call is made.

    `may_answer` False offers a constrained text model tool actions only; `copying` of None leaves its answer free, and
    `argument_sources` the arguments of its calls if it is empty. `timeout_s` bounds the silence
    between two bytes, `deadline_s` (CLOCK_MONOTONIC) the whole call.
    """

    max_output: int
    timeout_s: float
    deadline_s: float
    may_answer: bool = True
    copying: Copying | None = None
    argument_sources: tuple[str, ...] = ()
    attempt: int = 1


OnDelta = Callable[[str], None]


class Wire(Protocol):
    """One way of speaking to a model. Stateless but for its HTTP client."""

    def encode(self, message: Message) -> bytes:
        """The message as this wire sends it. Done once per message: a conversation keeps the bytes."""
        ...

    def call(self, messages: Sequence[bytes], options: CallOptions, on_delta: OnDelta) -> AssistantTurn:
        """One attempt, streamed. Raises ModelError; anything else is a bug."""
        ...

    def request_bytes(self, messages: Sequence[bytes]) -> int:
        """The size of the request body that `call` would send, for the estimate of its hold."""
        ...

    def close(self) -> None:
        """Close the HTTP client."""
        ...
