"""The `finish` tool: how a model says, typed and not by wording, that it is done or that it cannot be done.

RULINGS "Surfaces": finish {status: completed | refused, result?, summary?}. It is acted on after every other
call of its reply has run. Models that speak in text actions have the action "final" instead.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from protocol.raw_json import RawOrNone, null_is_none
from subagent.models.types import ToolCall, ToolSchema

FINISH = "finish"

_PARAMETERS = b"""{"type":"object","additionalProperties":false,"required":["status"],"properties":{\
"status":{"type":"string","enum":["completed","refused"],"description":"refused: the task cannot be done"},\
"result":{"description":"the answer itself, in the form that was asked for"},\
"summary":{"type":"string","description":"why it cannot be done, or what was done"}}}"""

FINISH_SCHEMA = ToolSchema(
    FINISH,
    "End the task. Only needed to say that it cannot be done, or to hand over a structured result.",
    msgspec.Raw(_PARAMETERS),
)


class Finish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a finish call."""

    status: Literal["completed", "refused"]
    result: RawOrNone = None
    summary: str = ""

    def __post_init__(self) -> None:
        null_is_none(self, "result")

    @property
    def declined(self) -> bool:
        return self.status == "refused"

    def answer(self, reply_text: str) -> str:
        """The answer's text: the result (a JSON string without its quotes), else the summary, else the reply's text."""
        if self.result is not None:
            result = msgspec.json.decode(self.result)
            return result if isinstance(result, str) else bytes(self.result).decode()
        return self.summary or reply_text


def parse_finish(call: ToolCall) -> Finish | str:
    """The arguments of a finish call, or the text that tells the model what is wrong with them."""
    try:
        return msgspec.json.decode(call.arguments, type=Finish)
    except msgspec.DecodeError as error:
        return f"finish was not understood: {error}. Give status completed or refused, and result or summary."
