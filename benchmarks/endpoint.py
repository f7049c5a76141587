"""A constant endpoint for benchmarks: N replies that call read_file, then text. It stamps each request and reply.

One process, asyncio, bodies not parsed, so that it costs the same at turn 1 and turn 500.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Self


class Endpoint:
    """Serves from a thread of its own. `stamps` is one (request whole, reply written) a request, monotonic seconds."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.stamps: list[tuple[float, float]] = []
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._up.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._client, "127.0.0.1", 0))
        self._port = server.sockets[0].getsockname()[1]
        self._up.set()
        self._loop.run_forever()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                came = time.monotonic()
                body = reply(len(self.stamps), self.turns)
                self.stamps.append((came, time.monotonic()))
                writer.write(body)
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()


def reply(n: int, turns: int) -> bytes:
    """The n-th reply, streamed."""
    if n < turns:
        arguments = json.dumps({"path": f"f{n}.txt"})
        call = {"index": 0, "id": f"call_{n}", "type": "function", "function": {"name": "read_file", "arguments": ""}}
        deltas = [{"role": "assistant", "content": None, "tool_calls": [call]}]
        halves = (arguments[:6], arguments[6:])
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": half}}]} for half in halves]
    else:
        deltas = [{"role": "assistant", "content": "All steps "}, {"content": "are done."}]
    finish = "tool_calls" if n < turns else "stop"
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
    events = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(events) + events
