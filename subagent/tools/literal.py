"""Finding a literal text line by line."""

from __future__ import annotations

from collections.abc import Iterator

_LINE_CHARS = 300
_BEFORE_MATCH_CHARS = 100


def find_lines(data: bytes, wanted: str, *, ignore_case: bool) -> Iterator[tuple[int, str]]:
    """Each line of `data` with `wanted` in it, as (number from 1, text). `wanted` has no line end.

    Bytes that are no UTF-8 are shown as U+FFFD. A long line is shown around its first match.
    """
    if not ignore_case and wanted.encode() not in data:
        return
    text = data.decode(errors="replace")
    searched = text.lower() if ignore_case else text
    wanted = wanted.lower() if ignore_case else wanted
    if len(searched) != len(text):  # a letter became two in lower case, and places in one are not places in the other
        text = searched
    number, counted = 1, 0
    at = searched.find(wanted)
    while at >= 0:
        number += searched.count("\n", counted, at)
        start = searched.rfind("\n", 0, at) + 1
        end = searched.find("\n", at)
        end = len(searched) if end < 0 else end
        yield number, _excerpt(text[start:end], at - start)
        counted, at = at, searched.find(wanted, end)


def _excerpt(line: str, column: int) -> str:
    line = line.rstrip("\r")
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, min(column - _BEFORE_MATCH_CHARS, len(line) - _LINE_CHARS))
    before = "…" if start else ""
    after = "…" if start + _LINE_CHARS < len(line) else ""
    return f"{before}{line[start : start + _LINE_CHARS]}{after}"
