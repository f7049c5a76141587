from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import SpecError
from protocol.ids import make_run_id, parse_run_id

HOSTILE = [
    "", ".", "..", "../../x", "a/b", "a\\b", "-rf", "_x", "a\0b", "a\n", "\na", "a b", "a.b", "~", "$HOME", "a" * 65,
    "é", "a\u0301", "\uff10\uff11", "a\u202eb", "\ud800", "%2e%2e", "con:", "a;b", "*", "A" * 100_000,
]  # fmt: skip
ENTROPY = st.binary(min_size=5, max_size=5)
AT_MS = st.integers(0, 32_503_680_000_000)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:20])
def test_a_hostile_run_id_is_refused_in_a_short_message(text: str) -> None:
    with pytest.raises(SpecError, match="1 to 64 letters, digits") as caught:
        parse_run_id(text)
    assert caught.value.field == "run id"
    assert len(str(caught.value)) < 1_000
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["a", "0", "nightly-7", "A_b-C", "z" * 64])
def test_a_plain_run_id_is_kept_as_it_is(text: str) -> None:
    assert parse_run_id(text) == text


@given(st.text(max_size=70))
def test_what_is_accepted_names_one_folder_below_the_root(text: str) -> None:
    try:
        run_id = parse_run_id(text)
    except SpecError:
        return
    root = Path("/state/runs")
    assert (root / run_id).parent == root
    assert ".." not in run_id


@given(AT_MS, ENTROPY, AT_MS, ENTROPY)
def test_run_ids_are_legal_distinct_and_sort_by_time(at: int, entropy: bytes, later: int, other: bytes) -> None:
    first, second = make_run_id(at, entropy), make_run_id(later, other)
    assert parse_run_id(first) == first
    assert (first == second) == ((at, entropy) == (later, other))
    assert (first < second) == ((at, entropy) < (later, other))
