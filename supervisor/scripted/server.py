"""The HTTP server of a script. Start it inside a test, or as a process by `python -I -m supervisor.scripted`.

POST …/chat/completions is answered from the script; GET /requests tells what was asked, without the key: only
whether a bearer token was there, and its SHA-256. HTTP/1.1 with keep-alive, one thread a connection.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
import sys
import threading
from collections import deque
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import msgspec

from supervisor.scripted.render import completion, error_body, read_request, stream_events
from supervisor.scripted.replies import Reply
from supervisor.scripted.script import Refusal, Script

MAX_REQUEST_BYTES = 64 * 1024 * 1024
MAX_KEPT_BYTES = 64 * 1024 * 1024
"""Request bodies that GET /requests can still show; the oldest are dropped above that."""


class Received(msgspec.Struct, frozen=True):
    """One request as it came, and the status that answered it (0: the connection was cut)."""

    path: str
    body: msgspec.Raw
    status: int
    bearer_sha256: str | None


class ScriptedServer:
    """The endpoint. As a context manager it serves from a thread of its own until the block ends."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.closing = threading.Event()
        self._script = Script(replies)
        self._lock = threading.Lock()
        self._received: deque[Received] = deque()
        self._kept_bytes = 0
        self._taken = 0
        self._http = _Http(self)

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def connections(self) -> int:
        """How many connections have been accepted."""
        return self._http.accepted

    @property
    def requests(self) -> tuple[Received, ...]:
        """What was asked, in order of arrival."""
        with self._lock:
            return tuple(self._received)

    def take(self, body: bytes) -> tuple[int, Reply | Refusal]:
        """The number of this request, and its answer."""
        with self._lock:
            self._taken += 1
            return self._taken, self._script.take(body)

    def keep(self, received: Received) -> None:
        """Remember a request."""
        with self._lock:
            self._received.append(received)
            self._kept_bytes += len(bytes(received.body))
            while self._kept_bytes > MAX_KEPT_BYTES and len(self._received) > 1:
                self._kept_bytes -= len(bytes(self._received.popleft().body))

    def serve(self, poll_interval_s: float) -> None:
        """Serve until `close`, which takes up to `poll_interval_s` to be seen."""
        self._http.serve_forever(poll_interval_s)

    def close(self) -> None:
        """Stop serving, and end every connection and every delay."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._http.end_connections()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, args=(0.02,), name="scripted", daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, endpoint: ScriptedServer) -> None:
        self.endpoint = endpoint
        self.accepted = 0
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # HTTPServer looks its own host name up here, which can take seconds and serves nobody.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        self.accepted += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self._open.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        for request in tuple(self._open):
            with contextlib.suppress(OSError):  # its client may have closed it just now
                request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client left, or the server is closing
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Say nothing: requests are told by GET /requests, problems by `_complain`."""

    def do_GET(self) -> None:
        """Tell what was asked."""
        if self.path.rstrip("/") != "/requests":
            self._answer(404, error_body(Refusal(404, "not_found", "GET /requests, POST /v1/chat/completions")))
            return
        self._answer(200, msgspec.json.encode(self.server.endpoint.requests))

    def do_POST(self) -> None:
        """Answer from the script."""
        length = self.headers.get("content-length") or ""
        size = int(length) if length.isdigit() else 0
        if not 0 < size <= MAX_REQUEST_BYTES:
            self.close_connection = True
            self._answer(413, error_body(Refusal(413, "bad_length", "give a content-length of 1 byte to 64 MiB")))
            return
        body = self.rfile.read(size)
        if not self.path.partition("?")[0].endswith("/chat/completions"):
            self._answer(404, error_body(Refusal(404, "not_found", "POST /v1/chat/completions")))
            return
        number, reply = self.server.endpoint.take(body)
        self.server.endpoint.keep(self._received(body, reply))
        if isinstance(reply, Refusal):
            self._complain(reply.message)
            self._answer(reply.status, error_body(reply))
        else:
            self._play(reply, number, body)

    def _play(self, reply: Reply, number: int, body: bytes) -> None:
        request = read_request(number, body)
        self._wait(reply.delay_s)
        if reply.cut == "connection":
            self._cut()
        elif reply.status != 200:
            self._answer(reply.status, error_body(reply), reply.headers)
        elif request.stream or reply.raw is not None:
            self._begin_stream(reply)
            for event in stream_events(reply, request):
                self._send_chunk(event)
                self._wait(reply.chunk_delay_s)
            if reply.cut is None:
                self._send_chunk(b"")
            else:
                self._cut()
        else:
            self._answer(200, completion(reply, request), reply.headers)

    def _begin_stream(self, reply: Reply) -> None:
        self.send_response(200)
        for name, value in {"content-type": "text/event-stream", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _send_chunk(self, chunk: bytes) -> None:
        """One chunk of HTTP/1.1; an empty one ends the body."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self.server.endpoint.closing.wait(seconds):
            raise ConnectionAbortedError("the server is closing")

    def _received(self, body: bytes, reply: Reply | Refusal) -> Received:
        scheme, _, token = (self.headers.get("authorization") or "").partition(" ")
        bearer = hashlib.sha256(token.encode()).hexdigest() if scheme.lower() == "bearer" else None
        cut = isinstance(reply, Reply) and reply.cut == "connection"
        return Received(self.path, _as_json(body), 0 if cut else reply.status, bearer)

    def _complain(self, problem: str) -> None:
        sys.stderr.write(f"scripted endpoint: {problem}\n")


def _as_json(body: bytes) -> msgspec.Raw:
    """The body, or where it is no JSON, its text as a JSON string."""
    try:
        msgspec.json.decode(body)
        return msgspec.Raw(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode(body.decode("utf-8", "replace")))
