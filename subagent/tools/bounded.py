"""Texts that fit: what goes into a context has a size limit, and says what it leaves out (field report U-30)."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN_CHARS = 120
"""How much of a value that a model or a file name gave is quoted back in a sentence."""

NOTE_BYTES = 512
"""Room for the closing note of a result."""


def shown(value: str) -> str:
    """`value` quoted for a sentence: one line, control characters escaped, at most SHOWN_CHARS of it."""
    if len(value) <= SHOWN_CHARS:
        return repr(value)
    return f"{value[:SHOWN_CHARS]!r}… ({len(value)} characters)"


def printable(name: str) -> str:
    """A file name for a listing. One with control characters or bytes that are no text is quoted and escaped."""
    return name if name.isprintable() else repr(name)


def size_of(text: str) -> int:
    """The bytes of `text` in UTF-8."""
    return len(text.encode())


def cut_utf8(text: str, max_bytes: int) -> str:
    """The longest beginning of `text` that has at most `max_bytes` bytes in UTF-8. No character is cut in two."""
    encoded = text.encode()
    if len(encoded) <= max_bytes:
        return text
    return encoded[: max(0, max_bytes)].decode(errors="ignore")


def fill_lines(lines: Iterable[str], room_bytes: int) -> list[str]:
    """The first of `lines` that fit in `room_bytes` with their line ends; at least one, if there is one."""
    filled: list[str] = []
    used = 0
    for line in lines:
        used += size_of(line) + 1
        if filled and used > room_bytes:
            break
        filled.append(line)
    return filled


def body_room(max_bytes: int) -> int:
    """How much of a result's bytes its body may fill, so that a closing note has its place."""
    return max(max_bytes - NOTE_BYTES, max_bytes // 2)


def with_note(body: str, note: str, max_bytes: int) -> str:
    """`body` and, unless it is empty, a last line `[note]`; at most `max_bytes`. The body gives way to the note."""
    if not note:
        return cut_utf8(body, max_bytes)
    last = cut_utf8(f"[{note}]", max_bytes)
    kept = cut_utf8(body, max_bytes - size_of(last) - 1)
    if not kept:
        return last
    return kept + ("" if kept.endswith("\n") else "\n") + last
