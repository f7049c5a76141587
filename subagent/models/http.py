"""POST to one endpoint and stream the answer: one httpx client a process, kept alive, every failure typed.

Guarantees: no redirect is followed; a compressed or oversize answer is never inflated; a call ends by its
deadline; any exception, a cancel included, closes the connection and leaves the client usable; no text of an
error holds the key, the query of the URL or content.
"""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Generator, Iterator, Mapping
from types import TracebackType
from typing import Self
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from protocol.errors import SpecError
from subagent.models.address import parse_address
from subagent.models.connection import BoundedBackend, SingleConnection
from subagent.models.estimate import NOTHING_USED
from subagent.models.types import ErrorKind, ModelError

CONNECT_TIMEOUT_S = 10.0
MAX_ERROR_BODY_BYTES = 64 * 1024
DRAIN_S = 0.2
"""How long the rest of an answer is waited for once its end is known: most often it is here already."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class HttpEndpoint:
    """One URL. `headers` are sent with each request; the key is among them and nowhere else."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Raises SpecError for a URL, a proxy or a CA bundle (both named by the environment) that cannot be used."""
        self._url = parse_address(url, "base URL")
        self._headers = httpx.Headers({"host": self._url.netloc.decode("ascii"), **_FIXED_HEADERS, **headers})
        self._backend = BoundedBackend()
        self._transport = SingleConnection(_connection_maker(self._url, self._backend), self._backend)
        self._client = httpx.Client(transport=self._transport, trust_env=False)

    def post(self, body: bytes, *, timeout_s: float, deadline_s: float) -> Answer:
        """Send `body` and wait for the answer's head. Use the answer as a context manager.

        `timeout_s` bounds each silence, `deadline_s` (CLOCK_MONOTONIC) the whole call. Raises ModelError
        TIMEOUT or TRANSPORT.
        """
        self._backend.until_s = deadline_s
        waits = {"connect": min(timeout_s, CONNECT_TIMEOUT_S), "read": timeout_s, "write": timeout_s}
        headers = [*self._headers.raw, (b"content-length", b"%d" % len(body))]
        request = httpx.Request("POST", self._url, headers=headers, content=body, extensions={"timeout": waits})
        try:
            return Answer(self._client.send(request, stream=True), self._transport, self._backend)
        except _UNSENT_ERRORS as error:
            about = f"{self._url.netloc.decode()} cannot be reached: {_why(error)}"
            raise ModelError(ErrorKind.TRANSPORT, about, usage=NOTHING_USED) from error
        except httpcore.TimeoutException as error:
            raise ModelError(ErrorKind.TIMEOUT, "the endpoint did not answer in time") from error
        except _TRANSPORT_ERRORS as error:
            raise ModelError(ErrorKind.TRANSPORT, f"the connection broke: {type(error).__name__}") from error
        except BaseException:
            self._transport.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class Answer:
    """An answer whose head has come."""

    def __init__(self, response: httpx.Response, transport: SingleConnection, backend: BoundedBackend) -> None:
        self.status = response.status_code
        self._response = response
        self._transport = transport
        self._backend = backend
        self._chunks = self._stream()

    def header(self, name: str) -> str:
        """The value of a header, "" if it is not there."""
        return str(self._response.headers.get(name, ""))

    def chunks(self) -> Iterator[bytes]:
        """What is left of the body, as it comes. Raises ModelError TIMEOUT, or TRANSPORT for a broken connection."""
        return self._chunks

    def _stream(self) -> Generator[bytes]:
        try:
            yield from self._response.iter_raw()
        except httpcore.TimeoutException as error:
            raise ModelError(ErrorKind.TIMEOUT, "the endpoint fell silent") from error
        except _TRANSPORT_ERRORS as error:
            raise ModelError(ErrorKind.TRANSPORT, f"the connection broke: {type(error).__name__}") from error

    def error_body(self) -> bytes:
        """The beginning of the body; a broken one counts as far as it came."""
        body = bytearray()
        try:
            for chunk in self.chunks():
                body += chunk
                if len(body) >= MAX_ERROR_BODY_BYTES:
                    break
        except ModelError:
            pass  # the status is the error; its body only says it better
        return bytes(body[:MAX_ERROR_BODY_BYTES])

    def drain(self) -> None:
        """Read what is left, for a short while, so that the connection can serve the next call."""
        self._backend.until_s = min(self._backend.until_s, time.monotonic() + DRAIN_S)
        try:
            for _ in self.chunks():
                pass
        except ModelError:
            pass  # the answer was whole; only the connection is not reusable

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Now, not when the collector comes by: a later cancel that met it in a finaliser would be lost.
        self._chunks.close()
        if error is None or isinstance(error, ModelError):
            self._response.close()
        else:
            self._transport.close()


_FIXED_HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream",
    "accept-encoding": "identity",
    "user-agent": "covey",
}
_SHOWN_CHARS = 120


def _why(error: Exception) -> str:
    """What is wrong with a connection. Of a proxy's answer its status alone: the rest is the proxy's own words."""
    if isinstance(error, httpcore.ProxyError):
        return f"the proxy answered {str(error)[:3]}"
    return str(error)[:_SHOWN_CHARS]


_UNSENT_ERRORS = (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.ProxyError)
_TRANSPORT_ERRORS = (httpcore.NetworkError, httpcore.ProtocolError)


def _connection_maker(url: httpx.URL, backend: BoundedBackend) -> httpcore.ConnectionPool:
    """What makes connections to `url`. The CA bundle takes 65 ms to load: only an https endpoint pays for it."""
    context = _ssl_context() if url.scheme == "https" else None
    proxy = _proxy_for(url)
    if proxy is None:
        return httpcore.ConnectionPool(ssl_context=context, network_backend=backend)
    return httpcore.HTTPProxy(
        str(proxy.url),
        proxy_auth=proxy.raw_auth,
        proxy_headers=proxy.headers.raw,
        ssl_context=context,
        network_backend=backend,
    )


def _ssl_context() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # SSLError is one
        named = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
        raise SpecError(
            named[0] if named else "CA certificates", f"cannot be loaded ({error.strerror}): give a file in PEM format"
        ) from error


def _proxy_for(url: httpx.URL) -> httpx.Proxy | None:
    """The proxy that the environment names for `url`; never one for this machine itself."""
    named = getproxies().get(url.scheme)
    if named is None or url.host in _LOOPBACK or proxy_bypass(url.host):
        return None
    variable = f"{url.scheme.upper()}_PROXY"
    proxy_url = parse_address(named if "://" in named else f"http://{named}", variable)
    if proxy_url.scheme != "http":
        raise SpecError(variable, "names a proxy that is not http: give http://HOST:PORT")
    return httpx.Proxy(proxy_url)
