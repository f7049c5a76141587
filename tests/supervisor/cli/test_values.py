"""Texts of flags to values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import SpecError
from supervisor.cli.values import LONGEST_S, parse_choice, parse_duration, parse_limit, parse_utf8, parse_window


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5.0),
        ("90s", 90.0),
        ("10m", 600.0),
        ("1h30m", 5_400.0),
        ("1d", 86_400.0),
        ("250ms", 0.25),
        ("1h0m1s5ms", 3_601.005),
    ],
)
def test_a_duration_is_read_with_its_units(text, seconds):
    assert parse_duration("--deadline", text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    ["", "s", "-5s", "5 s", "1.5h", "5m1h", "5s5s", "5x", "5S", "٥s", "0s", "0h0m", "400d", "5mm", "9" * 30 + "s"],
)
def test_what_is_no_duration_is_refused_by_name(text):
    with pytest.raises(SpecError, match="^--deadline: "):
        parse_duration("--deadline", text)


def test_a_bare_number_is_refused_with_both_readings():
    with pytest.raises(SpecError, match="write 90s for seconds or 90m for minutes"):
        parse_duration("--deadline", "90")


@pytest.mark.parametrize(
    "text", ["0", "00", "-1", "+1", "1.0", "1e3", " 1", "1_000", "١", "", "x", "9" * 17, str(2**53)]
)
def test_what_is_no_limit_is_refused_by_name(text):
    with pytest.raises(SpecError, match="^--steps: "):
        parse_limit("--steps", text)


def test_each_number_says_what_it_may_be():
    with pytest.raises(SpecError, match="--context-window: '-5' is not a whole number, zero or above$"):
        parse_window("--context-window", "-5")
    with pytest.raises(SpecError, match="--steps: '-5' is not a whole number, above zero$"):
        parse_limit("--steps", "-5")


def test_a_window_of_zero_is_one_and_a_limit_of_zero_is_none():
    assert parse_window("--context-window", "0") == 0
    assert parse_limit("--steps", "1") == 1
    assert parse_limit("--steps", str(2**53 - 1)) == 2**53 - 1


def test_a_wrong_choice_is_answered_with_the_near_one():
    assert parse_choice("--log-level", "info", ("info", "error")) == "info"
    with pytest.raises(SpecError, match=r"none of info, error; did you mean error\?"):
        parse_choice("--log-level", "Eror", ("info", "error"))
    with pytest.raises(SpecError, match="none of info, error$"):
        parse_choice("--log-level", "zzz", ("info", "error"))


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(SpecError, match="--model: is not UTF-8"):
        parse_utf8("--model", "a\udcff")


@given(st.text(max_size=40))
def test_any_text_gives_a_positive_value_or_a_spec_error(text):
    for parse in (parse_limit, parse_duration):
        try:
            value = parse("--x", text)
        except SpecError:
            continue
        assert 0 < value <= max(LONGEST_S, 2**53 - 1)
