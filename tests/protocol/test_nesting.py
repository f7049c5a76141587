from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.nesting import MAX_NESTING, is_too_deep

VALUES = st.recursive(
    st.none() | st.text('[]{}"\\a', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\b', max_size=4), inner, max_size=3),
    max_leaves=20,
)


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(VALUES, st.integers(0, 8))
def test_depth_is_counted_outside_strings_only(value: object, levels: int) -> None:
    assert is_too_deep(msgspec.json.encode(value), levels) == (depth(value) > levels)


def test_the_bound_is_exact() -> None:
    assert not is_too_deep(b"[" * MAX_NESTING + b"]" * MAX_NESTING)
    assert is_too_deep(b"[" * (MAX_NESTING + 1) + b"]" * (MAX_NESTING + 1))


@pytest.mark.parametrize(
    "text", [b"[" * 500_000, b'"' + b'\\"[' * 300_000, b'["' * 300_000, b"[]" * 400_000, b"]" * 500_000]
)
def test_hostile_text_is_judged_in_linear_time(text: bytes) -> None:
    is_too_deep(text)
