"""One JSON value is found in what a model wrote; none or two are not guessed at."""

from __future__ import annotations

import time
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.verify.answer import JsonValue, NoSingleValue, encode_json, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" \n[1, 2]\n", [1, 2]),
        ("42", 42),
        ('"just a string"', "just a string"),
        ("null", None),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ('Sure! {"a": {"b": [1, 2]}} Hope that helps.', {"a": {"b": [1, 2]}}),
        ('The list is [{"a": 1}, {"a": 2}].', [{"a": 1}, {"a": 2}]),
        ('```json\n{"a": 1}\n```\nAgain: ```json\n{"a":1}\n```', {"a": 1}),
        ('{"code": "```\\nx\\n```"}', {"code": "```\nx\n```"}),
        ('{"price": 1.10}', {"price": Decimal("1.10")}),
        ('\N{ZERO WIDTH NO-BREAK SPACE}{"a": 1}', {"a": 1}),
    ],
)
def test_one_value_is_found_whatever_is_around_it(text: str, value: JsonValue) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("The answer is 42.", "is not JSON"),
        ('{"a": 1', "is not JSON"),
        ('{"a": 1} {"a": 2}', "is not JSON"),
        ("{'a': 1}", "is not JSON"),
        ('{"a": NaN}', "is not JSON"),
        ('```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```', "holds 2 different JSON values"),
        ('[1, 2] or {"a": 1}', "holds 2 different JSON values"),
        ("[" * 200 + "]" * 200, "nested deeper than"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_no_value_or_two_are_refused_in_words(text: str, told: str) -> None:
    with pytest.raises(NoSingleValue, match=told) as refused:
        parse_json(text)
    assert len(str(refused.value)) < 400


def test_numbers_keep_the_digits_that_were_written() -> None:
    text = b'{"a":1.10,"b":12345678901234567890.123,"c":12345678901234567890123}'
    assert bytes(encode_json(parse_json(text.decode()))) == text


def test_an_answer_of_many_fences_is_read_in_a_moment() -> None:
    began_s = time.process_time()
    with pytest.raises(NoSingleValue, match="holds 50000 different JSON values"):
        parse_json("".join(f"```\n{number}\n```\n" for number in range(50_000)))
    assert time.process_time() - began_s < 10  # measured: 0.1 s; each held against each other, a minute


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_any_value_survives_a_fence_around_it(value: JsonValue) -> None:
    written = msgspec.json.encode(value).decode()
    assert parse_json(written) == value
    if "```" not in written:
        assert parse_json(f"Here:\n```json\n{written}\n```\n") == value
