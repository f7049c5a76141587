"""Every string and number of an answer must stand in a source; what does not is named with its place."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.verify.answer import JsonValue
from subagent.verify.grounded import MAX_VALUES, Sources, json_problems, text_problems

RECEIPT = "2024-05-12  Cafe Roma, table 4:\n lunch for two   EUR 1,200.50 (tip 12)"
TABLE = "id,name,qty,price\n7,bolt,3,200\n8,nut,12,5.50"


def ungrounded(value: JsonValue, *sources: str) -> list[str]:
    return [problem.split(",")[0] for problem in json_problems(value, Sources(sources))]


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("Cafe Roma", RECEIPT),
        ("table 4: lunch", RECEIPT),
        ("for two EUR\n1,200.50", RECEIPT),
        ("EUR 1,200.50", RECEIPT),
        ("2024-05-12", RECEIPT),
        ("", RECEIPT),
        (12, RECEIPT),
        (Decimal("1200.50"), RECEIPT),
        (Decimal("1200.5"), RECEIPT),
        (Decimal("12.0"), RECEIPT),
        (5, RECEIPT),
        (True, RECEIPT),
        (None, RECEIPT),
        (1200, "total 1200.00"),
        (1200, "total 1,200"),
        (Decimal("1200.5"), "Summe 1.200,50 EUR"),
        (Decimal("0.5"), "half is .5"),
        (-5, "fell by -5 points"),
        (-5, "fell by −5 points"),
        (1500, "1.5e3 units"),
        (3, TABLE),
        (200, TABLE),
        ("3", TABLE),
        ("bolt", TABLE),
        ({"name": ["bolt", {"qty": 3}]}, TABLE),
        ('say "hi"', r'{"text": "say \"hi\" now"}'),
        ("C:\\x", r'{"path":"C:\\x"}'),
    ],
)
def test_a_value_that_stands_in_the_source_is_grounded(value: JsonValue, source: str) -> None:
    assert ungrounded(value, "another source", source) == []


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("cafe roma", RECEIPT),
        ("Café Roma", RECEIPT),
        ("$ 1,200.50", RECEIPT),
        ("EUR 1", RECEIPT),
        ("EUR 1,200", RECEIPT),
        ("00.50", RECEIPT),
        ("tip 1", RECEIPT),
        (1, RECEIPT),
        (200, RECEIPT),
        (Decimal("200.50"), RECEIPT),
        (50, RECEIPT),
        (-12, RECEIPT),
        (120, RECEIPT),
        (12, "room 112"),
        (12, "1200 or 12.5"),
        (-5, "fell by 5 points"),
        (Decimal("0.12"), "12%"),
        (5, "price 5.50"),
    ],
)
def test_a_value_that_only_looks_like_one_is_not(value: JsonValue, source: str) -> None:
    assert len(ungrounded(value, source)) == 1


def test_each_leaf_is_named_with_its_place_and_keys_are_exempt() -> None:
    answer: JsonValue = {"strange key": {"items": ["bolt", "screw"]}, "n": 99, "ok": False}
    assert ungrounded(answer, TABLE) == ['$["strange key"].items[1] is "screw"', "$.n is 99"]


def test_a_value_must_stand_in_one_source_not_across_two() -> None:
    assert ungrounded("one two", "one", "two")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("It was lunch for some people.", []),
        ('They paid 1200.5 at "Cafe  Roma".', []),
        ("They paid `EUR 1,200.50`.", []),
        ("1. They paid.\n2) They left.\n## 3. End", []),
        ("They paid 1250.", ["the answer says 1250"]),
        ("Rooms 5, 12 and 4.", []),
        (
            'At "Cafe Napoli" or “Bar Roma” or `Bar`',
            ['the answer quotes "Cafe Napoli"', 'the answer quotes "Bar Roma"', 'the answer quotes "Bar"'],
        ),
        ("Line\n3 of it", ["the answer says 3"]),
        ("On 12.05.2024", []),
        ("On 12.05.2025", ["the answer says 12.05.2025"]),
        ("It's the children's lunch", []),
    ],
)
def test_a_text_is_held_to_its_numbers_and_quotations(text: str, problems: list[str]) -> None:
    assert [problem.split(", which")[0] for problem in text_problems(text, Sources([RECEIPT]))] == problems


def test_a_problem_says_how_to_put_it_right() -> None:
    (problem,) = json_problems("x" * 10_000, Sources([RECEIPT]))
    assert problem.endswith(
        "which occurs in no tool result and not in the task: give the value exactly as it stands there"
    )
    assert len(problem) < 400


@given(st.integers(0, 10**9), st.sampled_from(["{n}", "{n:,}", "{n}.00", "{n:,}.000", "€{n}", "x{n}y", "({n})"]))
def test_a_whole_number_is_found_however_it_is_written(number: int, form: str) -> None:
    assert Sources([f"a total of {form.format(n=number)} units"]).has_number(Decimal(number))


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_number_is_never_found_in_a_plain_other_one(number: int, other: int) -> None:
    assert Sources([f"total {other} units"]).has_number(Decimal(number)) == (number == other)


@given(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.text("ab 1.,\n", max_size=20),
    st.text("ab 1.,\n", max_size=20),
)
def test_a_string_set_apart_by_spaces_is_always_found(wanted: str, before: str, after: str) -> None:
    assert Sources([f"{before} {wanted} {after}"]).has_text(wanted)


def test_a_source_made_to_be_slow_is_not() -> None:
    assert not Sources(["1" * 100_000]).has_text("11")
    began_s = time.process_time()
    source = Sources(["1" * 1_000_000])
    assert not any(source.has_text("1" * length) for length in range(1, 100))
    assert time.process_time() - began_s < 10  # measured: 0.1 s; with every place tried, 50 s


def test_a_text_made_to_be_slow_is_not() -> None:
    began_s = time.process_time()
    assert list(text_problems("“" * 300_000, Sources([RECEIPT]))) == []
    assert time.process_time() - began_s < 10  # measured: 0.1 s


def test_a_quotation_in_a_quotation_is_held_to_the_inner_one() -> None:
    assert [problem.split(", which")[0] for problem in text_problems("“They “paid” twice”", Sources([""]))] == [
        'the answer quotes "paid"'
    ]


def test_more_values_than_can_be_looked_for_are_a_problem_of_their_own() -> None:
    source = Sources(["a b 1"])
    assert list(json_problems(["a"] * MAX_VALUES, source)) == []
    too_many = "the answer has more than 10000 values, too many to look for in the tool results: give fewer"
    assert list(json_problems(["a"] * (MAX_VALUES + 1), source)) == [too_many]
    assert list(text_problems('"a" ' * (MAX_VALUES + 1), source)) == [too_many]
