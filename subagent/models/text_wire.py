"""Text actions over any wire: the conversation goes out as text, and the reply's text is read for its action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from protocol.model import ActionExample
from subagent.models.call_ids import fresh_call_id
from subagent.models.constrained import ActionSchemas
from subagent.models.copying import narrow
from subagent.models.text_actions import FinalAction, ToolAction, read_action
from subagent.models.text_prompt import as_text, catalogue, worked
from subagent.models.types import (
    AssistantTurn,
    CallOptions,
    Copying,
    Message,
    OnDelta,
    ReplyFault,
    ToolCall,
    ToolSchema,
)


class ShapedWire(Protocol):
    """A wire whose endpoint can be given a JSON Schema for the text of its reply."""

    def encode(self, message: Message) -> bytes: ...

    def request_bytes(self, messages: Sequence[bytes], response_schema: bytes | None = None) -> int: ...

    def call(
        self,
        messages: Sequence[bytes],
        options: CallOptions,
        on_delta: OnDelta,
        response_schema: bytes | None = None,
    ) -> AssistantTurn: ...

    def close(self) -> None: ...


class TextWire:
    """Implements `types.Wire` over a wire that offers no tools itself.

    With `constrained` every reply is bound to the JSON Schema of an action, else the model is left free.
    """

    def __init__(
        self,
        inner: ShapedWire,
        tools: Sequence[ToolSchema],
        answer_schema: bytes | None,
        examples: Sequence[ActionExample],
        *,
        constrained: bool,
    ) -> None:
        self._inner = inner
        self._tools = tools
        self._answer_schema = answer_schema
        self._examples = [message for example in examples for message in worked(example)]
        self._suffix = catalogue(tools)
        self._schemas = ActionSchemas.compose(tools, answer_schema) if constrained else None

    def encode(self, message: Message) -> bytes:
        """The message in the shape of `text_prompt`, as the inner wire sends it; examples go behind the system text."""
        encoded = self._inner.encode(as_text(message, self._suffix))
        if message.role != "system":
            return encoded
        return b",".join([encoded, *map(self._inner.encode, self._examples)])

    def request_bytes(self, messages: Sequence[bytes]) -> int:
        """The size of the largest request that `call` would send with a free answer."""
        return self._inner.request_bytes(messages, self._schemas.any_action if self._schemas else None)

    def call(self, messages: Sequence[bytes], options: CallOptions, on_delta: OnDelta) -> AssistantTurn:
        """One attempt. The turn's text is the answer alone; a tool action is its one call."""
        return read_turn(self._inner.call(messages, options, on_delta, self._schema(options)))

    def _schema(self, options: CallOptions) -> bytes | None:
        if self._schemas is None:
            return None
        if options.copying is None and not options.argument_sources:
            return self._schemas.for_call(options.may_answer)
        tools = [_copying_call(tool, options.argument_sources) for tool in self._tools]
        answer = self._answer_schema
        if answer is not None and options.copying is not None:
            answer = narrow(answer, options.copying)
        return ActionSchemas.compose(tools, answer).for_call(options.may_answer)

    def close(self) -> None:
        """Close the inner wire."""
        self._inner.close()


def _copying_call(tool: ToolSchema, sources: tuple[str, ...]) -> ToolSchema:
    if not sources:
        return tool
    narrowed = narrow(bytes(tool.parameters), Copying(sources))
    return msgspec.structs.replace(tool, parameters=msgspec.Raw(narrowed))


def read_turn(turn: AssistantTurn) -> AssistantTurn:
    """The turn that a text means. One that is no answer already stays what it is; native calls were not offered."""
    if turn.reply_fault is not None or turn.refused:
        return msgspec.structs.replace(turn, calls=())
    match read_action(turn.text):
        case ToolAction(tool, arguments, fault):
            # A random id: nothing in a text conversation tells which ids it has used.
            call = ToolCall(fresh_call_id(), tool, arguments, fault)
            return msgspec.structs.replace(turn, text="", calls=(call,))
        case FinalAction(answer):
            reply_fault = None if answer.strip() else ReplyFault.EMPTY
            return msgspec.structs.replace(turn, text=answer, calls=(), reply_fault=reply_fault)
        case None:
            return msgspec.structs.replace(turn, calls=(), reply_fault=ReplyFault.NO_ACTION)
