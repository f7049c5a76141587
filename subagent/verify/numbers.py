"""The numbers of a text, and what each may mean.

A number as *written* is digits joined by points and commas, as many as there are, so that 12 is never found
inside 112 or 1,200. It is read as one number in every way that numbers are written:

    1200  1200.00      plain                      1,200  1,200.50    commas between thousands
    1.200,50  1.200    points between thousands   12,5   0,50        decimal comma

Only where none fits is it taken apart (`1,2,3`, `12.05.2024`): at commas, then at points. A source that uses
commas as separators (tables, compact JSON) is also read as separate numbers: there `3,200` can be two fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

_WRITTEN = re.compile(
    "((?<!\\w)[-\N{MINUS SIGN}])?"
    r"((?<![\w.])\.[0-9]+|[0-9]+(?:[.,][0-9]+)*)"
    r"(?:[eE]([+-]?[0-9]{1,4})(?!\w))?"
)
_TIGHT_COMMA = re.compile(r"[^\s\d],\S|\S,[^\s\d]")

_FORMS = (
    (re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+"), "", "."),
    (re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?"), ",", "."),
    (re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]+)?"), ".", ","),
    (re.compile(r"[0-9]+,[0-9]+"), "", ","),
)
"""(shape, mark between thousands, decimal mark)."""


class Written(NamedTuple):
    """A number as a text writes it. `minus` and `exponent` are empty where there is none."""

    minus: str
    digits: str
    exponent: str

    def readings(self) -> tuple[Decimal, ...]:
        """Every number that it may be; none if it can only be several. A minus may be a dash: both signs are read."""
        readings = tuple(
            Decimal(f"{self.digits.replace(thousands, '').replace(mark, '.')}E{self.exponent or 0}")
            for shape, thousands, mark in _FORMS
            if shape.fullmatch(self.digits)
        )
        return readings + tuple(reading.copy_negate() for reading in readings if self.minus)

    def parts(self) -> tuple[tuple[int, Written], ...]:
        """The numbers that it can be taken apart into, each with its place in `digits`; none if it has no marks."""
        found = []
        for piece in re.finditer(r"[^,]+", self.digits):
            whole = Written("", piece[0], "")
            if whole.readings():
                found.append((piece.start(), whole))
            else:
                places = re.finditer(r"[0-9]+", piece[0])
                found += [(piece.start() + place.start(), Written("", place[0], "")) for place in places]
        return tuple(found) if len(found) > 1 else ()


def numbers_in(text: str) -> Iterator[Written]:
    """Every number of `text` once, as written, in the order of its first place."""
    return (Written(*found) for found in dict.fromkeys(_WRITTEN.findall(text)))


def number_spans(text: str, *, separated: bool) -> Iterator[tuple[int, int]]:
    """Where the digits of each number stand, in order; those of its parts where it is several, or may be."""
    for found in _WRITTEN.finditer(text):
        written, start = Written("", found[2], ""), found.start(2)
        parts = written.parts() if separated or not written.readings() else ()
        for offset, part in parts or ((0, written),):
            yield start + offset, start + offset + len(part.digits)


def separates_with_commas(text: str) -> bool:
    """Whether `text` has commas that neither belong to a number nor end a phrase: a table, or compact JSON."""
    return _TIGHT_COMMA.search(text) is not None
