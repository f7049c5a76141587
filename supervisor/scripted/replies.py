"""The reply file: JSON Lines, one reply a line (docs/scripted.md). Pure."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from protocol.errors import SpecError

Cut = Literal["connection", "headers", "text", "arguments"]
"""After what the connection is closed: nothing, the headers, the text, or half of the last call's arguments."""


class ReplyCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call. `arguments` is an object, or a string that is sent as it stands. `id` of None is made up."""

    name: str
    arguments: dict[str, object] | str = {}
    id: str | None = None


class ReplyUsage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens as the endpoint reports them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the file. Times are seconds.

    `finish_reason` left out follows from the calls, null stays null. `usage` left out is counted from the
    sizes, null is not reported. `raw` replaces the whole stream, line by line. `status` other than 200 answers
    with `error` as the body. `expect` must occur in the request, or it is answered with 418. `match` picks the
    requests that this reply is for. `repeat` is how many requests get it.
    """

    text: str = ""
    calls: tuple[ReplyCall, ...] = ()
    finish_reason: str | msgspec.UnsetType | None = msgspec.UNSET
    usage: ReplyUsage | msgspec.UnsetType | None = msgspec.UNSET
    end_marker: bool = True
    cut: Cut | None = None
    raw: tuple[str, ...] | None = None
    delay_s: float = 0.0
    chunk_delay_s: float = 0.0
    chunk_chars: int = 64
    status: int = 200
    headers: dict[str, str] = {}
    error: object = None
    expect: tuple[str, ...] = ()
    match: str | None = None
    repeat: int | Literal["forever"] = 1


_decoder = msgspec.json.Decoder(Reply)


def parse_replies(script: bytes, source: str) -> tuple[Reply, ...]:
    """The replies of a file, in order. Raises SpecError that names `source`, the line and the field."""
    replies: list[Reply] = []
    for number, line in enumerate(script.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            reply = _decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SpecError(f"{source}, line {number}", f"{error}; docs/scripted.md has the fields") from error
        problem = _problem(reply)
        if problem is not None:
            raise SpecError(f"{source}, line {number}", problem)
        replies.append(reply)
    if not replies:
        raise SpecError(source, 'holds no reply: write one JSON object a line, such as {"text": "done"}')
    return tuple(replies)


def _problem(reply: Reply) -> str | None:
    """What contradicts itself in a reply whose fields are each well formed."""
    plain = reply.status == 200
    checks = {
        "status: must be 200, or 300 to 599": plain or 300 <= reply.status <= 599,
        "text, calls, raw, cut: an error status has none of them": plain or not _speaks(reply),
        "error: needs a status other than 200": not plain or reply.error is None,
        "raw: replaces text, calls and cut, so give it alone": reply.raw is None or not _composes(reply),
        'cut "arguments": needs a call': reply.cut != "arguments" or bool(reply.calls),
        "delay_s, chunk_delay_s: must be zero or more seconds": _is_time(reply.delay_s)
        and _is_time(reply.chunk_delay_s),
        "chunk_chars: must be above zero": reply.chunk_chars > 0,
        'repeat: must be above zero, or "forever"': reply.repeat == "forever" or reply.repeat > 0,
        "headers: one line of printable ASCII each": all(map(_is_header, reply.headers.items())),
    }
    return next((problem for problem, holds in checks.items() if not holds), None)


def _composes(reply: Reply) -> bool:
    return bool(reply.text or reply.calls or reply.cut)


def _speaks(reply: Reply) -> bool:
    return _composes(reply) or reply.raw is not None


def _is_time(seconds: float) -> bool:
    return math.isfinite(seconds) and seconds >= 0


def _is_header(header: tuple[str, str]) -> bool:
    return bool(header[0]) and all(part.isascii() and part.isprintable() for part in header)
