from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.retry_after import parse_retry_after

NOW_S = 784_111_770.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("-1", 0.0),
        ("3600", 3600.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 7.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 7.0),
        ("Sun Nov  6 08:49:37 1994", 7.0),
        ("Sun, 06 Nov 1994 08:49:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Sun, 99 Foo 1994", None),
    ],
)
def test_both_forms_are_read_and_anything_else_is_none(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW_S) == seconds


@given(st.text())
def test_no_header_raises(value: str) -> None:
    seconds = parse_retry_after(value, NOW_S)
    assert seconds is None or seconds >= 0
