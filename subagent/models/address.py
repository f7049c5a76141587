"""URLs that can be connected to. Pure.

Everything that a URL library, the resolver or the socket would raise on, each with an error of its own kind and
most of them not before the first call, is found here and told as one.
"""

from __future__ import annotations

import httpx

from protocol.errors import SpecError

_MAX_PORT = 65_535
_MAX_HOST_CHARS = 253
"""Of a name in the DNS. A host is told in errors."""


def parse_address(text: str, field: str) -> httpx.URL:
    """`text` as a URL with a host and a port. Raises SpecError that names `field` and quotes nothing of a secret."""
    try:
        url = httpx.URL(text)
        host = url.host
        url.raw_host.decode("ascii").encode("idna")  # as the resolver will
    except (httpx.InvalidURL, ValueError) as error:
        raise SpecError(field, "is no URL that can be used: give http://HOST[:PORT]") from error
    if not _is_host(host) or (url.port is not None and not 0 < url.port <= _MAX_PORT):
        raise SpecError(field, f"has no host, or no port from 1 to {_MAX_PORT}: give http://HOST[:PORT]")
    return url


def _is_host(host: str) -> bool:
    """Whether a host is an address or may be a name. `%` stands for what a URL cannot hold, but in IPv6 for a zone."""
    return 0 < len(host) <= _MAX_HOST_CHARS and ("%" not in host or ":" in host)
