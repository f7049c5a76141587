"""One kept-alive HTTP connection whose every wait ends by the deadline of its call, and that a cancel may break.

Why not httpx's own pool: a cancel is an exception that a signal handler raises at any instruction (DESIGN
section 3). Where it meets the pool inside its lock, the pool's own clean-up waits for that lock for ever; tried,
it takes a few hundred cancels. One thread needs no pool: httpcore's pool object only makes the connection here
(it knows proxies and TLS), and what a cancel broke is dropped whole, without asking it anything.

Why a socket layer of our own: httpx bounds each read by itself, so a call may outlast its deadline by the whole
read timeout. `BoundedBackend.until_s` bounds them together.
"""

from __future__ import annotations

import math
import ssl
import time
from collections.abc import Iterable, Iterator

import httpcore
import httpx


class BoundedBackend(httpcore.NetworkBackend):
    """Opens sockets whose waits end at `until_s` (CLOCK_MONOTONIC), and remembers the last to drop it."""

    def __init__(self) -> None:
        self.until_s = math.inf
        self._sockets = httpcore.SyncBackend()
        self._stream: httpcore.NetworkStream | None = None

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """As the base class says."""
        bounded_s = self.bound(timeout, httpcore.ConnectTimeout)
        try:
            stream = self._sockets.connect_tcp(host, port, bounded_s, local_address, socket_options)
        except (ValueError, OverflowError) as error:  # of a host or a port that no address can have
            raise httpcore.ConnectError("no such address") from error
        return self.keep(stream)

    def bound(self, timeout_s: float | None, too_late: type[Exception]) -> float:
        """The longest that a wait may take now. Raises `too_late` once the time is up."""
        left_s = self.until_s - time.monotonic()
        if left_s <= 0:
            raise too_late("the deadline of the call")
        return left_s if timeout_s is None else min(timeout_s, left_s)

    def keep(self, stream: httpcore.NetworkStream) -> httpcore.NetworkStream:
        """Bound `stream`, and remember it."""
        self._stream = stream
        return _BoundedStream(stream, self)

    def drop(self) -> None:
        """Close the socket. Takes no lock."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class _BoundedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, backend: BoundedBackend) -> None:
        self._stream = stream
        self._backend = backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._backend.bound(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._backend.bound(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        bounded_s = self._backend.bound(timeout, httpcore.ConnectTimeout)
        return self._backend.keep(self._stream.start_tls(ssl_context, server_hostname, bounded_s))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class SingleConnection(httpx.BaseTransport):
    """One connection at a time, reused while it is idle and replaced otherwise. Raises httpcore's errors."""

    def __init__(self, maker: httpcore.ConnectionPool, backend: BoundedBackend) -> None:
        self._maker = maker
        self._backend = backend
        self._connection: httpcore.ConnectionInterface | None = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; the response's body is still to be read."""
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        sent = httpcore.Request(
            request.method, target, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        response = self._answer(sent, target.origin)
        return httpx.Response(response.status, headers=response.headers, stream=_Body(response))

    def _answer(self, request: httpcore.Request, origin: httpcore.Origin) -> httpcore.Response:
        """On a kept connection that ends without one byte of an answer, the peer had closed it while it was idle.

        Some servers close behind a reply that promised to keep it. That is no attempt of a call: it is made anew.
        """
        kept = self._connection
        connection = self._ready(origin)
        try:
            return connection.handle_request(request)
        except (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError):
            if connection is not kept:
                raise
            self.close()
            return self._ready(origin).handle_request(request)

    def _ready(self, origin: httpcore.Origin) -> httpcore.ConnectionInterface:
        """The idle connection, or a new one in place of what a broken call or the peer left."""
        connection = self._connection
        if connection is None or not connection.is_available() or connection.has_expired():
            self.close()
            connection = self._connection = self._maker.create_connection(origin)
        return connection

    def close(self) -> None:
        """Drop the connection, whatever state it is in."""
        self._connection = None
        self._backend.drop()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
