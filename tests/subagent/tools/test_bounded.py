"""What goes into a context fits, to the byte and to the character."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from subagent.tools.bounded import SHOWN_CHARS, body_room, cut_utf8, fill_lines, printable, shown, size_of, with_note

texts = st.text(st.characters(codec="utf-8"), max_size=60)


@given(texts, st.integers(-3, 200))
def test_a_cut_is_the_longest_beginning_that_fits(text: str, max_bytes: int) -> None:
    kept = cut_utf8(text, max_bytes)
    assert text.startswith(kept)
    assert size_of(kept) <= max(0, max_bytes)
    assert len(kept) == len(text) or size_of(text[: len(kept) + 1]) > max_bytes


@given(texts, texts, st.integers(1, 300))
def test_a_noted_text_fits_and_its_note_is_never_the_part_that_gives_way(body: str, note: str, max_bytes: int) -> None:
    noted = with_note(body, note, max_bytes)
    assert size_of(noted) <= max_bytes
    if note and size_of(f"[{note}]") <= max_bytes:
        assert noted.endswith(f"[{note}]")


def test_a_note_stands_on_a_line_of_its_own() -> None:
    assert with_note("a\nb", "more", 100) == "a\nb\n[more]"
    assert with_note("a\nb\n", "more", 100) == "a\nb\n[more]"
    assert with_note("", "nothing", 100) == "[nothing]"
    assert with_note("a\nb", "", 100) == "a\nb"


def test_a_body_leaves_room_for_its_note_and_gets_at_least_half() -> None:
    assert body_room(32_768) == 32_256
    assert body_room(100) == 50


@given(st.lists(texts, max_size=8), st.integers(0, 100))
def test_lines_are_filled_in_order_and_the_first_one_always(lines: list[str], room: int) -> None:
    filled = fill_lines(lines, room)
    assert filled == lines[: len(filled)]
    assert len(filled) >= min(1, len(lines))
    assert len(filled) <= 1 or sum(size_of(line) + 1 for line in filled) <= room


def test_a_value_is_quoted_on_one_line_and_within_bounds() -> None:
    assert shown("a\nb") == r"'a\nb'"
    assert shown("x" * 5_000) == f"'{'x' * SHOWN_CHARS}'… (5000 characters)"


def test_a_name_that_could_fake_a_line_is_escaped() -> None:
    assert printable("plain name.txt") == "plain name.txt"
    assert printable("two\nlines") == r"'two\nlines'"
    assert printable("bad\udcff") == r"'bad\udcff'"
