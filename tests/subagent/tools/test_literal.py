"""A literal text is found in every line that has it, in either case, whatever stands around it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subagent.tools.literal import find_lines


def found(data: bytes, wanted: str, *, ignore_case: bool = False) -> list[tuple[int, str]]:
    return list(find_lines(data, wanted, ignore_case=ignore_case))


def test_lines_are_numbered_from_one_and_given_once() -> None:
    assert found(b"no\nhit hit\n\nhit\r\n", "hit") == [(2, "hit hit"), (4, "hit")]


def test_what_looks_like_a_pattern_is_taken_literally() -> None:
    assert found(b"a.b\naxb\n(a+)+$", "a.b") == [(1, "a.b")]
    assert found(b"a.b\naxb\n(a+)+$", "(a+)+$") == [(3, "(a+)+$")]


def test_case_can_be_ignored_beyond_ascii() -> None:
    text = "Ärger\nİstanbul ärger\n".encode()
    assert [number for number, _ in found(text, "äRGER", ignore_case=True)] == [1, 2]
    assert found(text, "ärger") == [(2, "İstanbul ärger")]


def test_bytes_that_are_no_text_do_not_hide_a_match() -> None:
    assert found(b"\xff\xfe hit", "hit") == [(1, "\ufffd\ufffd hit")]


def test_a_long_line_is_shown_around_its_match() -> None:
    ((number, line),) = found(b"x" * 5_000 + b"hit" + b"y" * 5_000, "hit")
    assert number == 1
    assert line.startswith("…x")
    assert line.endswith("y…")
    assert "hit" in line
    assert len(line) <= 302


@given(st.text("ab\n", max_size=40), st.text("ab", min_size=1, max_size=3))
def test_the_lines_are_those_that_splitting_finds(text: str, wanted: str) -> None:
    expected = [(number, line) for number, line in enumerate(text.split("\n"), 1) if wanted in line]
    assert found(text.encode(), wanted) == expected
