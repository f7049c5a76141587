"""Lines of a text that is bytes: counted, found and cut without an object for each (16 MiB may be 16 million)."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from subagent.tools.bounded import cut_utf8

_CHUNK_BYTES = 64 * 1024
_decoder = codecs.getincrementaldecoder("utf-8")


def count_lines(data: bytes) -> int:
    """How many lines `data` has. A line ends at LF; a last one without LF counts."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def line_start(data: bytes, position: int, lines: int) -> int:
    """Where the line begins that is `lines` lines after the one that begins at `position`; the end if there is none."""
    while lines:
        end = min(position + _CHUNK_BYTES, len(data))
        found = data.count(b"\n", position, end)
        if found >= lines:
            for _ in range(lines):
                position = data.find(b"\n", position) + 1
            return position
        if end == len(data):
            return end
        position, lines = end, lines - found
    return position


@dataclass(frozen=True)
class Part:
    """A beginning of a text. `replaced`: it had bytes that are no UTF-8. `mid_line`: its only line is cut."""

    text: str
    lines: int
    replaced: bool
    mid_line: bool


def whole_lines(data: bytes, room_bytes: int) -> Part:
    """The first lines of `data` that fit, or as much of its first line as fits."""
    text, replaced = _decode(data, room_bytes)
    kept = cut_utf8(text, room_bytes)
    cut = len(data) > room_bytes or len(kept) < len(text)
    if cut:
        kept = kept[: kept.rfind("\n") + 1] or kept
    return Part(kept, count_lines(kept.encode()), replaced, cut and not kept.endswith("\n"))


def _decode(data: bytes, max_bytes: int) -> tuple[str, bool]:
    """The text of the first bytes, and whether some had to be replaced. A character cut in two is left out."""
    taken, final = data[:max_bytes], len(data) <= max_bytes
    try:
        return _decoder("strict").decode(taken, final), False
    except UnicodeDecodeError:
        return _decoder("replace").decode(taken, final), True
