"""Counting, finding and cutting lines agrees with splitting, at any size and any bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.tools import lines
from subagent.tools.lines import count_lines, line_start, whole_lines

some_bytes = st.lists(st.sampled_from([b"\n", b"a", "é".encode(), "😀".encode(), b"\xff"]), max_size=40).map(b"".join)


def split(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


@given(some_bytes)
def test_a_last_line_without_its_end_counts(data: bytes) -> None:
    assert count_lines(data) == len(split(data))


@pytest.mark.parametrize("chunk_bytes", [1, 3, 65_536])
@given(data=some_bytes, skipped=st.integers(0, 30))
def test_a_line_is_found_where_splitting_finds_it(chunk_bytes: int, data: bytes, skipped: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lines, "_CHUNK_BYTES", chunk_bytes)
        assert line_start(data, 0, skipped) == len(b"".join(split(data)[:skipped]))


@given(some_bytes, st.integers(1, 60))
def test_a_part_is_whole_lines_or_the_beginning_of_one(data: bytes, room: int) -> None:
    part = whole_lines(data, room)
    size = len(part.text.encode())
    assert size <= room
    assert part.lines == count_lines(part.text.encode())
    if not part.replaced:
        assert data.startswith(part.text.encode())
    if part.mid_line:
        assert part.lines <= 1
    elif size < len(data) and not part.replaced:
        assert part.text.endswith("\n")


def test_a_character_that_the_bound_cuts_in_two_is_left_out_not_shown_as_damage() -> None:
    part = whole_lines("aé😀".encode(), 5)
    assert (part.text, part.replaced, part.mid_line) == ("aé", False, True)


def test_bytes_that_are_no_text_are_replaced_and_said_so() -> None:
    part = whole_lines(b"a\xffb\xc3", 100)
    assert (part.text, part.replaced) == ("a\ufffdb\ufffd", True)


def test_sixteen_million_empty_lines_are_no_burden() -> None:
    data = b"\n" * (16 * 1024 * 1024)
    assert line_start(data, 0, 16_000_000) == 16_000_000
