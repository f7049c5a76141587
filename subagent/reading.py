"""What a reply asks for: its calls in the order in which they run, which of them can never run, and its answer.

A broken, unknown or out-of-scope call is answered with a text and never run; every id in the stored message is
unique, and what is stored of a broken call is valid JSON, so that no later request is rejected for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from protocol.status import Detail
from subagent.models.types import AssistantTurn, CallFault, ReplyFault, ToolCall
from subagent.tools.finish import FINISH, Finish, parse_finish
from subagent.tools.registry import Registry

_SHOWN_CHARS = 200

_FAULTS: dict[CallFault, str] = {
    CallFault.TRUNCATED: "its arguments were cut off by the output limit",
    CallFault.UNPARSABLE: "its arguments are not valid JSON",
    CallFault.NOT_AN_OBJECT: "its arguments are not a JSON object",
    CallFault.NO_NAME: "it names no tool",
    CallFault.BAD_NAME: "the name of its tool is too long or has characters that cannot be printed",
    CallFault.EMPTY_ID: "it has no id",
    CallFault.DUPLICATE_ID: "its id is used twice",
}

UNUSABLE: dict[ReplyFault, tuple[Detail, str]] = {
    ReplyFault.EMPTY: (Detail.EMPTY, "Your reply was empty. Call a tool or give the answer."),
    ReplyFault.TRUNCATED: (Detail.TRUNCATED, "Your reply was cut off at its length limit and not used. Be shorter."),
    ReplyFault.PAUSED: (Detail.PAUSED, "Go on."),
    ReplyFault.LYING_FINISH: (Detail.MALFORMED, "Your reply contradicted its own finish reason and was not used."),
    ReplyFault.NO_ACTION: (Detail.MALFORMED, "Reply with exactly one JSON object: a tool action or the final action."),
}
"""Why a reply is no answer, and the text that asks for another."""

_FINISH_SEEN = "noted"


class ReadReply(msgspec.Struct, frozen=True):
    """A reply as the loop takes it. `refusals` maps a call's id to the text that answers it in place of a run."""

    calls: tuple[ToolCall, ...]
    refusals: Mapping[str, str]
    answer: str
    finish: bool
    declined: bool

    def refusal(self, call: ToolCall) -> str | None:
        return self.refusals.get(call.id)


class Reading:
    """Reads replies against the tools that were offered."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def read(self, reply: AssistantTurn) -> ReadReply:
        """The calls of a usable reply, and what it answers."""
        refusals: dict[str, str] = {}
        finish: Finish | None = None
        for call in reply.calls:
            if call.fault is not None:
                refusals[call.id] = f"malformed, not run: {_FAULTS[call.fault]}. Send the call again."
            elif call.name == FINISH:
                parsed = parse_finish(call)
                refusals[call.id] = parsed if isinstance(parsed, str) else _FINISH_SEEN
                finish = finish if isinstance(parsed, str) else parsed
            elif isinstance(found := self._registry.find(call.name), str):
                refusals[call.id] = found
        return ReadReply(
            calls=tuple(_storable(call) for call in reply.calls),
            refusals=refusals,
            answer=reply.text if finish is None else finish.answer(reply.text),
            finish=finish is not None,
            declined=finish is not None and finish.declined,
        )


def _storable(call: ToolCall) -> ToolCall:
    """A call as history keeps it: what the model sent stays visible, as valid JSON."""
    if call.fault is None:
        return call
    shown = msgspec.json.encode({"malformed": call.arguments[:_SHOWN_CHARS]}).decode()
    return msgspec.structs.replace(call, arguments=shown, name=call.name or "unnamed")
