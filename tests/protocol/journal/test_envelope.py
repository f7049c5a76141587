from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.budget import Amounts
from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.journal.entries import ENTRY_TYPES, Ended, Held, Outcomed, Paused
from protocol.journal.envelope import Entry, Scan, decode_entry, encode_entry, scan
from protocol.record import Outcome
from protocol.status import TerminalStatus

TS = "2026-01-02T03:04:05.678Z"
TRICKY = 'ünï🐦\u2028\n","crc":"00000000"}'


def lines(count: int, text: str = TRICKY) -> list[bytes]:
    return [encode_entry(seq, TS, "outcome", Outcomed(f"c{seq}", "ok", text)) for seq in range(1, count + 1)]


def summed(head: bytes) -> bytes:
    """A line with a good checksum around any head."""
    return b'%s,"crc":"%08x"}\n' % (head, zlib.crc32(head))


def test_an_entry_comes_back_as_it_was_written() -> None:
    line = encode_entry(7, TS, "hold", Held(1, 2, Amounts(tokens=9)))
    entry = decode_entry(line[:-1])
    assert entry is not None
    assert (entry.v, entry.seq, entry.ts, entry.type) == (1, 7, TS, "hold")
    assert msgspec.json.decode(entry.body, type=ENTRY_TYPES["hold"]) == Held(1, 2, Amounts(tokens=9))


@given(st.text(max_size=80), st.integers(1, 10**9))
def test_any_text_stays_on_one_line_and_comes_back(text: str, seq: int) -> None:
    line = encode_entry(seq, TS, "outcome", Outcomed("c", "ok", text))
    assert line.count(b"\n") == 1
    entry = decode_entry(line[:-1])
    assert entry is not None
    assert msgspec.json.decode(entry.body, type=Outcomed).content == text


def test_every_changed_byte_of_a_line_is_found() -> None:
    line = encode_entry(1, TS, "hold", Held(1, 1, Amounts(tokens=9)))[:-1]
    for place in range(len(line)):
        damaged = line[:place] + bytes([line[place] ^ 0x01]) + line[place + 1 :]
        assert decode_entry(damaged) is None, damaged


def test_every_cut_of_a_line_is_found() -> None:
    (line,) = lines(1)
    assert [decode_entry(line[:cut]) for cut in range(len(line) - 1)] == [None] * (len(line) - 1)


def test_a_file_cut_at_any_byte_gives_its_whole_entries_and_no_more() -> None:
    written = lines(4)
    content = b"".join(written)
    ends = [sum(map(len, written[:count])) for count in range(5)]
    for cut in range(len(content) + 1):
        whole = sum(1 for end in ends[1:] if end <= cut)
        found = scan(content[:cut])
        assert [entry.seq for entry in found.entries] == list(range(1, whole + 1))
        assert (found.good_bytes, found.torn_bytes) == (ends[whole], cut - ends[whole])


@given(st.integers(2, 5), st.integers(0, 2_000), st.sampled_from([b"", b"\0" * 16, b"\0", b"\0\n\0", b"\xff" * 9]))
def test_a_torn_line_with_rubbish_or_nul_bytes_behind_it_is_a_torn_tail(count: int, cut: int, rubbish: bytes) -> None:
    written = lines(count)
    content = b"".join(written)
    kept = content[: len(content) - len(written[-1])]
    torn = written[-1][: cut % len(written[-1])]
    found = scan(kept + torn + rubbish)
    assert (len(found.entries), found.good_bytes) == (count - 1, len(kept))


def test_a_changed_byte_before_the_last_entry_is_damage_and_nothing_is_guessed() -> None:
    written = lines(3)
    content, last = b"".join(written), len(written[-1])
    for place in range(len(content) - last):
        damaged = content[:place] + bytes([content[place] ^ 0x01]) + content[place + 1 :]
        with pytest.raises(RemoteProtocolError, match="damaged"):
            scan(damaged)


@pytest.mark.parametrize("tail", [b"{}\n", b"\n", b"hello\n", b"x\nhalf", lines(2)[1].replace(b'"ok"', b'"no"')])
def test_a_whole_line_that_is_damaged_is_no_torn_tail_even_at_the_end(tail: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"damaged: journal entry 2 at byte \d+ is damaged"):
        scan(lines(1)[0] + tail)


@pytest.mark.parametrize("numbers", [(1, 3), (2,), (1, 1), (1, 2, 2), (1, 2, 4, 5), (3, 2, 1)])
def test_a_good_line_out_of_sequence_is_damage_even_at_the_end(numbers: tuple[int, ...]) -> None:
    with pytest.raises(RemoteProtocolError, match="damaged: journal entry"):
        scan(b"".join(encode_entry(seq, TS, "pause", Paused(True)) for seq in numbers))


@pytest.mark.parametrize(
    "line",
    [
        summed(b'{"v":2,"seq":1,"ts":"t","type":"hold","body":{}'),
        b'{"v":2,"seq":1,"blake3":"00"}\n',
        b'{"v":99,"what":"ever"}\n',
    ],
)
def test_a_future_version_is_refused_and_never_taken_for_a_torn_tail(line: bytes) -> None:
    for content in (line, line + b"half a li", *(b"".join(lines(2)) + tail for tail in (line,))):
        with pytest.raises(RemoteProtocolError, match=r"version: journal version \d+, this Covey reads 1"):
            scan(content)


@pytest.mark.parametrize(
    "content", [b"# My notes\n\nRemember the milk.\n", b"SQLite format 3\0", b"{x", b"[]", b"\xef\xbb\xbf{}", b"\n"]
)
def test_a_file_that_is_no_journal_is_refused_rather_than_cut_to_nothing(content: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="damaged: this file is no journal"):
        scan(content)


def test_unknown_types_and_fields_are_kept() -> None:
    line = summed(b'{"v":1,"seq":1,"ts":"%s","mood":"good","type":"dream","body":[1, {"a":null}]' % TS.encode())
    (entry,) = scan(line).entries
    assert (entry.type, bytes(entry.body)) == ("dream", b'[1, {"a":null}]')


def test_an_empty_file_is_an_empty_journal() -> None:
    assert scan(b"") == Scan((), 0, 0)


def test_a_body_nested_too_deep_to_read_is_damage_and_no_crash() -> None:
    deep = b'{"v":1,"seq":1,"ts":"t","type":"x","body":' + b"[" * 400_000 + b"]" * 400_000
    with pytest.raises(RemoteProtocolError, match="damaged"):
        scan(summed(deep))


def test_an_entry_with_a_result_reads_back() -> None:
    ended = Ended(Outcome(TerminalStatus.COMPLETED, result=msgspec.Raw(b'{"name":"Ada"}')))
    (entry,) = scan(encode_entry(1, TS, "end", ended)).entries
    assert msgspec.json.decode(entry.body, type=Ended) == ended


def test_text_that_is_no_unicode_is_refused_before_it_is_written() -> None:
    with pytest.raises(LocalProtocolError, match="outcome with text that is no Unicode"):
        encode_entry(1, TS, "outcome", Outcomed("c", "ok", "\udc80"))


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_untyped(content: bytes) -> None:
    try:
        found = scan(content)
    except RemoteProtocolError:
        return
    assert all(isinstance(entry, Entry) for entry in found.entries)
