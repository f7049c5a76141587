from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.nesting import MAX_NESTING
from subagent.models.strict_json import is_object, parse_strict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a":1}x',
        '{"a":1,"a":2}',
        '{"b":{"a":1,"a":1}}',
        '{"a":NaN}',
        "[Infinity]",
        "[" * 100_000,
        '"\\ud83d"',
        '"\ud83d"',
    ],
)
def test_what_has_no_one_meaning_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any ValueError is what is promised
        parse_strict(text)


def test_nesting_has_a_fixed_bound() -> None:
    for levels, fits in ((MAX_NESTING, True), (MAX_NESTING + 1, False), (900, False)):
        text = '{"a":' * levels + "1" + "}" * levels
        assert is_object(text) is fits
        if fits:
            parse_strict(text)
        else:
            with pytest.raises(ValueError, match="nested too deep"):
                parse_strict(text)


def test_what_has_one_meaning_is_parsed() -> None:
    assert parse_strict(' {"a": [1, "\\ud83d\\ude00", null]} ') == {"a": [1, "😀", None]}


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("{}", True), ('{"a":1}', True), ("[]", False), ('{"a":', False), ("5", False), ("{}{}", False)],
)
def test_an_object_is_told_from_the_rest(text: str, is_one: bool) -> None:
    assert is_object(text) is is_one


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        parse_strict(text)
    except ValueError:
        assert not is_object(text) or text.count('"') >= 4
