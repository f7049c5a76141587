"""The numbers of a text: where each stands, and every value that it may have."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.verify.numbers import Written, number_spans, numbers_in, separates_with_commas


@pytest.mark.parametrize(
    ("digits", "readings"),
    [
        ("1200", ["1200"]),
        ("1200.00", ["1200"]),
        (".5", ["0.5"]),
        ("007", ["7"]),
        ("1,200", ["1200", "1.2"]),
        ("1,200.50", ["1200.5"]),
        ("1,234,567", ["1234567"]),
        ("1.200,50", ["1200.5"]),
        ("1.200", ["1.2", "1200"]),
        ("12,50", ["12.5"]),
        ("1,2,3", []),
        ("12.05.2024", []),
        ("1,234,56", []),
    ],
)
def test_a_number_is_read_in_every_way_it_can_be_written(digits: str, readings: list[str]) -> None:
    assert sorted(Written("", digits, "").readings()) == sorted(Decimal(reading) for reading in readings)


@pytest.mark.parametrize(
    ("digits", "parts"),
    [
        ("1,2,3", ["1", "2", "3"]),
        ("12.05.2024", ["12", "05", "2024"]),
        ("3,200", ["3", "200"]),
        ("1.5,2.5", ["1.5", "2.5"]),
        ("12.5", []),
    ],
)
def test_a_number_is_taken_apart_at_commas_then_at_points(digits: str, parts: list[str]) -> None:
    assert [part.digits for _, part in Written("", digits, "").parts()] == parts
    assert all(digits[at : at + len(part.digits)] == part.digits for at, part in Written("", digits, "").parts())


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("It cost $1,200.50, or 3 each.", ["1,200.50", "3"]),
        ("v1.2, 4th, 12kg, Q3, room5", ["1.2", "4", "12", "3", "5"]),
        ("at -5 or −7 or (-1) but 10-12 and covey-9", ["-5", "−7", "-1", "10", "12", "9"]),
        ("1.5e3, 2E-4, 12e3f", ["1.5e3", "2E-4", "12", "3"]),
        ("a.5 and .5", ["5", ".5"]),
        ("7 and 7", ["7"]),
        ("none", []),
    ],
)
def test_numbers_are_found_as_written(text: str, written: list[str]) -> None:
    assert [f"{minus}{digits}{'e' if exponent else ''}{exponent}" for minus, digits, exponent in numbers_in(text)] == [
        number.replace("E", "e") for number in written
    ]


def test_an_exponent_and_a_minus_sign_are_part_of_the_value() -> None:
    (number,) = numbers_in("-1.5e3")
    assert set(number.readings()) == {Decimal(-1500), Decimal(1500)}


@pytest.mark.parametrize(
    ("text", "separated"),
    [
        ("Lunch at Cafe, $1,200.50, paid", False),
        ("1,200\n3,400", False),
        ('{"a": 1,\n "b": 2}', False),
        ("id,qty,price\n1,200,300", True),
        ('{"a":1,"b":2}', True),
        ("1,,2", True),
    ],
)
def test_a_table_is_told_from_prose(text: str, separated: bool) -> None:
    assert separates_with_commas(text) is separated


def test_spans_are_those_of_the_numbers_or_of_their_parts() -> None:
    text = "x 3,200 y 1,2,3"
    assert [text[start:end] for start, end in number_spans(text, separated=False)] == ["3,200", "1", "2", "3"]
    assert [text[start:end] for start, end in number_spans(text, separated=True)] == ["3", "200", "1", "2", "3"]


@given(st.integers(0, 10**12), st.integers(0, 99))
def test_a_number_is_read_as_itself_however_it_is_grouped(whole: int, cents: int) -> None:
    value = Decimal(f"{whole}.{cents:02}")
    german = f"{whole:,}".replace(",", ".") + f",{cents:02}"
    for digits in (f"{whole}.{cents:02}", f"{whole:,}.{cents:02}", german):
        assert value in Written("", digits, "").readings()


@pytest.mark.parametrize("text", ["1" * 200_000 + ",x", "1,1" * 100_000, "1." * 100_000, "-" * 200_000, "1e" * 100_000])
def test_a_text_made_to_be_slow_is_not(text: str) -> None:
    assert sum(len(number.readings()) for number in numbers_in(text)) >= 0
    assert sum(1 for _ in number_spans(text, separated=True)) >= 0
