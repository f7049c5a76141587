"""Which model an agent calls, and how it is told. A reference: the key to it travels apart (see frames.Secrets)."""

from __future__ import annotations

from typing import Literal

import msgspec

ToolStyle = Literal["native", "text"]


class ActionExample(msgspec.Struct, frozen=True):
    """One worked example for a model that speaks in text actions: a task, one tool call with its result, the answer.

    `args` is the JSON object of the call, `answer` the JSON value of the final action.
    """

    task: str
    tool: str
    args: msgspec.Raw
    result: str
    answer: msgspec.Raw


class ModelSpec(msgspec.Struct, frozen=True):
    """One model behind one endpoint.

    `base_url` ends before `/chat/completions`. `context_window` and `max_output` are tokens; a window of 0
    turns its checks off. `tool_style` text means JSON text actions (RULINGS "The loop"), and `constrained`
    that the endpoint can be given a JSON Schema for them. `examples` show a text model how it is done;
    with `copies_arguments` a constrained one takes the arguments of its calls from the task and the tool results.
    """

    provider: str
    name: str
    base_url: str
    context_window: int = 200_000
    max_output: int = 4_096
    tool_style: ToolStyle = "native"
    constrained: bool = False
    temperature: float | None = None
    examples: tuple[ActionExample, ...] = ()
    copies_arguments: bool = False
