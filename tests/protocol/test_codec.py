from __future__ import annotations

import tracemalloc
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.codec import Fault, FaultCode, LineDecoder, down_decoder, encode_frame, up_decoder
from protocol.errors import LocalProtocolError
from protocol.frames import MAX_FRAME_BYTES, Cancel, Event, Inject, Pause, Ping, Ready, Request, Throttled
from protocol.nesting import MAX_NESTING

BOM = b"\xef\xbb\xbf"
PIECES = st.sampled_from(
    [
        b'{"type":"ping","seq":1}',
        b"{}",
        BOM,
        BOM[:1],
        BOM[1:],
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"x" * 30,
        b"\0",
        b"\xf0\x9f",
    ]
)
STREAMS = st.lists(PIECES, max_size=12).map(b"".join)


def chunked(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[start:end] for start, end in pairwise(edges)]


def lines_of(chunks: list[bytes], max_bytes: int = MAX_FRAME_BYTES) -> list[bytes | Fault]:
    decoder = LineDecoder(max_bytes)
    found = [line for chunk in chunks for line in decoder.feed(chunk)]
    return found + decoder.feed_eof()


def reference_lines(stream: bytes, max_bytes: int) -> list[bytes | FaultCode]:
    """The rules of the module's docstring, for a stream that is here at once."""
    lines: list[bytes | FaultCode] = []
    for number, raw in enumerate(stream.split(b"\n")):
        if len(raw) >= max_bytes:
            lines.append(FaultCode.OVERSIZE)
            continue
        line = raw.removeprefix(BOM) if number == 0 else raw
        if line.strip(b" \t\r"):
            lines.append(line.strip(b" \t\r"))
    return lines


@given(STREAMS, st.lists(st.integers(0, 400), max_size=30))
def test_any_chunking_gives_the_same_lines(stream: bytes, cuts: list[int]) -> None:
    found = lines_of(chunked(stream, cuts), max_bytes=32)
    assert [f.code if isinstance(f, Fault) else f for f in found] == reference_lines(stream, 32)


@given(STREAMS)
def test_single_bytes_give_the_same_lines(stream: bytes) -> None:
    assert lines_of([stream[i : i + 1] for i in range(len(stream))], 32) == lines_of([stream], 32)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=10))
def test_no_bytes_of_a_peer_raise(stream: bytes, cuts: list[int]) -> None:
    for decoder in (down_decoder(64), up_decoder(64)):
        for chunk in chunked(stream, cuts):
            decoder.feed(chunk)
        decoder.feed_eof()


@given(st.text(max_size=60), st.lists(st.integers(0, 400), max_size=20))
def test_any_text_survives_the_way_through_any_chunking(text: str, cuts: list[int]) -> None:
    sent = [Inject("i", text), Ping(1), Inject("j", text[::-1])]
    stream = b"".join(encode_frame(frame) for frame in sent)
    decoder = down_decoder()
    assert [frame for chunk in chunked(stream, cuts) for frame in decoder.feed(chunk)] == sent


def test_a_newline_in_a_text_stays_on_its_line() -> None:
    line = encode_frame(Inject("i", "one\ntwo\r\nthree\u2028four"))
    assert line.count(b"\n") == 1
    assert down_decoder().feed(line) == [Inject("i", "one\ntwo\r\nthree\u2028four")]


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_frames_of_70_kb_and_1_mb_arrive_whole_and_the_next_one_too(size: int) -> None:
    big = Inject("i", "x" * size)
    assert down_decoder().feed(encode_frame(big) + encode_frame(Ping(7))) == [big, Ping(7)]


def test_a_line_of_5_mb_is_one_fault_and_the_next_frame_is_whole() -> None:
    stream = b'{"type":"event","name":"' + b"x" * 5_000_000 + b'"}\n' + encode_frame(Ready(1))
    decoder = up_decoder()
    found = [f for start in range(0, len(stream), 65_536) for f in decoder.feed(stream[start : start + 65_536])]
    assert isinstance(found[0], Fault)
    assert found[0].code is FaultCode.OVERSIZE
    assert found[1:] == [Ready(1)]


def test_what_encode_allows_is_what_the_decoder_takes() -> None:
    room = MAX_FRAME_BYTES - len(encode_frame(Inject("i", "")))
    largest = Inject("i", "x" * room)
    assert len(encode_frame(largest)) == MAX_FRAME_BYTES
    assert down_decoder().feed(encode_frame(largest)) == [largest]
    with pytest.raises(LocalProtocolError, match="inject of 1048577 bytes, 1048576 allowed"):
        encode_frame(Inject("i", "x" * (room + 1)))


def test_an_endless_line_does_not_fill_the_memory() -> None:
    decoder = LineDecoder()
    tracemalloc.start()
    try:
        for _ in range(150_000):
            decoder.feed(b"xxxxxxxx")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MAX_FRAME_BYTES


def test_text_that_is_no_unicode_is_refused_before_it_is_sent() -> None:
    with pytest.raises(LocalProtocolError, match="event with text that is no Unicode"):
        encode_frame(Event("tool.call", {"tool": "\ud800"}))


def test_a_value_nested_too_deep_is_refused_before_it_is_sent() -> None:
    deep = b"[" * MAX_NESTING + b"]" * MAX_NESTING
    with pytest.raises(LocalProtocolError, match="request nested deeper than 128 levels"):
        encode_frame(Request("q", "budget.ask", msgspec.Raw(deep)))
    encode_frame(Request("q", "budget.ask", msgspec.Raw(deep[1:-1])))


def test_unknown_fields_are_counted_once_each_and_skipped() -> None:
    decoder = down_decoder()
    assert decoder.feed(b'{"type":"pause","a":1,"b":{"c":2}}\n{"type":"ping","seq":1}\n') == [Pause(), Ping(1)]
    assert decoder.unknown_fields == 2


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"cancel","reason":"hunter2","grace_s":1}',
        b'{"type":"cancel","reason":"hunter2 - at `$.x`","grace_s":1}',
        b'{"type":"cancel","reason":{"hunter2":1},"grace_s":1}',
        b'{"type":"cancel","reason":"request","grace_s":"hunter2"}',
        b'{"type":"ping","seq":1,"hunter2',
        b"hunter2: command not found",
        b'{"type":"inject","id":"i","content":"hunter2","content":7}',
    ],
)
def test_a_fault_never_quotes_what_the_line_holds(line: bytes) -> None:
    (fault,) = down_decoder().feed(line + b"\n")
    assert isinstance(fault, Fault)
    assert "hunter2" not in fault.about


def test_a_fault_names_the_field_and_the_types() -> None:
    assert down_decoder().feed(b'{"type":"ping","seq":"x"}\n') == [
        Fault(FaultCode.INVALID, "ping: Expected `int`, got `str` - at `$.seq`")
    ]


def test_a_long_type_is_cut_in_its_fault() -> None:
    (fault,) = up_decoder().feed(b'{"type":"' + b"y" * 10_000 + b'"}\n')
    assert fault == Fault(FaultCode.UNKNOWN_TYPE, f"type {'y' * 40!r}")


def test_a_whole_last_line_that_is_no_frame_keeps_its_own_fault_at_eof() -> None:
    decoder = up_decoder()
    decoder.feed(b'{"type":"throttled","model":1,"retry_after_s":1}')
    (fault,) = decoder.feed_eof()
    assert isinstance(fault, Fault)
    assert fault.code is FaultCode.INVALID


def test_times_are_kept_to_the_last_bit() -> None:
    frame = Throttled("m", 0.1 + 0.2)
    assert up_decoder().feed(encode_frame(frame)) == [frame]


def test_a_repr_of_a_frame_shows_its_fields_for_a_log() -> None:
    assert repr(Cancel("request", 5.0)) == "Cancel(reason='request', grace_s=5.0, dimension=None)"
