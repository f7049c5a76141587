"""Which reply a request gets: in order of arrival, whoever asks. Pure.

A reply is used up after `repeat` requests. A request takes the first reply that is not used up and whose
`match`, if it has one, occurs in it. What is looked for may stand anywhere in the request: in its bytes, or in
any string of it once decoded, so that a quote or a line end in a prompt needs no escaping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supervisor.scripted.replies import Reply


class Refusal(msgspec.Struct, frozen=True):
    """No reply: an HTTP error that says why. `code` is a plain word for the error body."""

    status: int
    code: str
    message: str


class Script:
    """The replies and how often each has been given."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = tuple(replies)
        self._given = [0] * len(self._replies)
        self._requests = 0

    def take(self, body: bytes) -> Reply | Refusal:
        """The answer to the next request. An unmet expectation uses its reply up, too."""
        self._requests += 1
        text = searchable(body)
        for position, reply in enumerate(self._replies):
            if self._is_left(position) and (reply.match is None or reply.match in text):
                self._given[position] += 1
                return self._checked(reply, text)
        if any(self._is_left(position) for position in range(len(self._replies))):
            return Refusal(410, "no_reply_matches", f"request {self._requests}: no reply that is left matches it")
        return Refusal(410, "script_ended", f"request {self._requests}: all {len(self._replies)} replies are used up")

    def _is_left(self, position: int) -> bool:
        repeat = self._replies[position].repeat
        return repeat == "forever" or self._given[position] < repeat

    def _checked(self, reply: Reply, text: str) -> Reply | Refusal:
        missing = [wanted for wanted in reply.expect if wanted not in text]
        if not missing:
            return reply
        told = ", ".join(map(repr, missing))
        return Refusal(418, "expectation_failed", f"request {self._requests} does not hold {told}")


def searchable(body: bytes) -> str:
    """The request's text, and below it every string that it holds, decoded."""
    try:
        strings = _strings(msgspec.json.decode(body))
        return "\n".join([body.decode("utf-8", "replace"), *strings])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
