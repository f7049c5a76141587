"""Whether an answer is grounded: every string and every number of it stands in a source (RULINGS "Surfaces").

Of a JSON answer these are its leaf values; keys, true, false and null are exempt. Of a text they are its
numbers (not those that number a list) and what it puts in "double quotes" or `backticks`. A string must occur
as it is, but for white space, and not so that it cuts a number of the source in two. Numbers are compared by
value: 1200 is grounded by "1,200" or "1200.00", and not by "11200".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

import msgspec

from subagent.verify.answer import JsonValue
from subagent.verify.numbers import Written, number_spans, numbers_in, separates_with_commas
from subagent.verify.sentence import cut, place, shown_value

MAX_VALUES = 10_000
"""Of an answer. Each is looked for in all sources."""

_QUOTED = re.compile(r'"([^"\n]+)"|“([^“”\n]+)”|`([^`\n]+)`')
_LIST_NUMBER = re.compile(r"^[ \t]*(?:#+[ \t]*)?[0-9]+[.)](?=\s)", re.MULTILINE)
_NUMERIC = frozenset("0123456789.,")


class Sources:
    """The texts that an answer may take its values from."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._sources = [_Source(text) for text in texts]
        self._values = frozenset(value for source in self._sources for value in source.values())

    def has_text(self, wanted: str) -> bool:
        """Whether `wanted` occurs, in plain or as a JSON string writes it, with any white space for white space."""
        plain = " ".join(wanted.split())
        escaped = msgspec.json.encode(plain).decode()[1:-1]
        return any(source.has(plain) or (escaped != plain and source.has(escaped)) for source in self._sources)

    def has_number(self, wanted: Decimal) -> bool:
        """Whether a number of this value occurs."""
        return wanted in self._values

    def has_written(self, number: Written) -> bool:
        """Whether a number as a text writes it occurs: as one or, where it can be several, as all of these."""
        if self._has_any(number.readings()):
            return True
        parts = number.parts()
        return bool(parts) and all(self._has_any(part.readings()) for _, part in parts)

    def _has_any(self, readings: tuple[Decimal, ...]) -> bool:
        return any(reading in self._values for reading in readings)


class _Source:
    """One text, its white space made single."""

    def __init__(self, text: str) -> None:
        self._text = " ".join(text.split())
        self._separated = separates_with_commas(self._text)

    def values(self) -> Iterator[Decimal]:
        """Every number in it, in every reading."""
        for number in numbers_in(self._text):
            readings = number.readings()
            yield from readings
            if self._separated or not readings:
                yield from (reading for _, part in number.parts() for reading in part.readings())

    def has(self, wanted: str) -> bool:
        """Whether `wanted` occurs, and not so that one of its ends cuts a number in two."""
        at = self._text.find(wanted)
        if not (wanted[:1] in _NUMERIC or wanted[-1:] in _NUMERIC):
            return at >= 0
        while at >= 0:
            begun_in = self._end_of_cut(at)
            if begun_in is None and self._end_of_cut(at + len(wanted)) is None:
                return True
            # Inside a number every place cuts it: the next that may not is where it ends.
            at = self._text.find(wanted, begun_in or at + 1)
        return False

    def _end_of_cut(self, position: int) -> int | None:
        """The end of the number that `position` cuts in two, or None if it cuts none."""
        starts, ends = self._spans
        before = bisect_left(starts, position) - 1
        return ends[before] if before >= 0 and position < ends[before] else None

    @cached_property
    def _spans(self) -> tuple[list[int], list[int]]:
        """The starts and the ends of all numbers."""
        spans = list(number_spans(self._text, separated=self._separated))
        return [start for start, _ in spans], [end for _, end in spans]


def json_problems(value: JsonValue, sources: Sources) -> Iterator[str]:
    """A sentence for each leaf of a JSON answer that no source has."""
    pending: list[tuple[tuple[str | int, ...], JsonValue]] = [((), value)]
    looked_for = 0
    while pending:
        path, part = pending.pop()
        if isinstance(part, dict):
            pending += [((*path, key), inner) for key, inner in reversed(part.items())]
        elif isinstance(part, list):
            pending += [((*path, index), part[index]) for index in reversed(range(len(part)))]
        elif looked_for == MAX_VALUES:
            yield _TOO_MANY
            return
        else:
            looked_for += 1
            if not _is_grounded(part, sources):
                yield f"{place(path)} is {shown_value(part)}, {_MISSING}"


def text_problems(text: str, sources: Sources) -> Iterator[str]:
    """A sentence for each quotation and each number of a text that no source has."""
    for count, found in enumerate(_QUOTED.finditer(text)):
        if count == MAX_VALUES:
            yield _TOO_MANY
            return
        quoted = next(filter(None, found.groups()))
        if not sources.has_text(quoted):
            yield f"the answer quotes {shown_value(quoted)}, {_MISSING}"
    for number in numbers_in(_LIST_NUMBER.sub("", text)):
        if not sources.has_written(number):
            yield f"the answer says {cut(''.join(number))}, {_MISSING}"


_TOO_MANY = f"the answer has more than {MAX_VALUES} values, too many to look for in the tool results: give fewer"
_MISSING = "which occurs in no tool result and not in the task: give the value exactly as it stands there"


def _is_grounded(leaf: JsonValue, sources: Sources) -> bool:
    if isinstance(leaf, str):
        return sources.has_text(leaf)
    if isinstance(leaf, bool) or leaf is None:
        return True
    return isinstance(leaf, int | Decimal) and sources.has_number(Decimal(leaf))
