from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import msgspec
import pytest

from protocol.frames import Secrets
from protocol.model import ModelSpec
from subagent.models.open import open_wire
from subagent.models.types import AssistantTurn, CallOptions, Message, ToolSchema, Wire
from supervisor.scripted.replies import Reply
from supervisor.scripted.server import ScriptedServer

KEY = "sk-topsecret-0123456789"
READ_FILE = ToolSchema(
    "read.file", "Reads a file.", msgspec.Raw(b'{"type":"object","properties":{"path":{"type":"string"}}}')
)


class Endpoint:
    """A scripted server, and a wire to it."""

    def __init__(self, server: ScriptedServer, wire: Wire) -> None:
        self.server = server
        self.wire = wire

    def call(
        self,
        text: str = "hello",
        *,
        timeout_s: float = 5.0,
        within_s: float = 20.0,
        may_answer: bool = True,
        on_delta: Callable[[str], None] = len,
    ) -> AssistantTurn:
        options = CallOptions(64, timeout_s, time.monotonic() + within_s, may_answer)
        return self.wire.call([self.wire.encode(Message("user", text))], options, on_delta)

    def body(self, number: int = -1) -> Any:
        return msgspec.json.decode(self.server.requests[number].body)


Scripted = Callable[..., Endpoint]


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with ExitStack() as stack:

        def start(*replies: Reply, answer_schema: bytes | None = None, **spec: Any) -> Endpoint:
            server = stack.enter_context(ScriptedServer(replies))
            model = ModelSpec("test", "m", server.base_url, **spec)
            wire = open_wire(model, Secrets(KEY), [READ_FILE], answer_schema)
            stack.callback(wire.close)
            return Endpoint(server, wire)

        yield start
