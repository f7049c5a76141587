from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.sse import SSEDecoder
from subagent.models.types import ErrorKind, ModelError

STREAMS = {
    b"data: one\n\ndata: two\n\n": [b"one", b"two"],
    b"data: one\r\n\r\ndata: two\r\n\r\n": [b"one", b"two"],
    b"data: one\r\rdata: two\r\r": [b"one", b"two"],
    b"data:tight\n\n": [b"tight"],
    b"data:  two spaces\n\n": [b" two spaces"],
    b"data: a\ndata: b\n\n": [b"a\nb"],
    b"event: x\nid: 1\nretry: 5\ndata: y\n\n": [b"y"],
    b": keep-alive\n\n:\n\ndata: x\n\n": [b"x"],
    b"\xef\xbb\xbfdata: x\n\n": [b"x"],
    b"\n\n\ndata: x\n\n\n\n": [b"x"],
    b"data\n\ndata:\n\n": [],
    b"data: \xe2\x80\xa8 is content\n\n": ["\u2028 is content".encode()],
    b'data: {"a":"\xf0\x9f\x98\x80"}\n\n': [b'{"a":"\xf0\x9f\x98\x80"}'],
    b"nonsense\ndatum: x\n\n": [],
}


def decode(*chunks: bytes, max_bytes: int = 1000) -> list[bytes]:
    decoder = SSEDecoder(max_bytes)
    return [event for chunk in chunks for event in decoder.feed(chunk)]


@pytest.mark.parametrize(("stream", "events"), STREAMS.items())
def test_a_whole_stream_gives_its_events(stream: bytes, events: list[bytes]) -> None:
    assert decode(stream) == events


@pytest.mark.parametrize(("stream", "events"), STREAMS.items())
def test_a_stream_in_single_bytes_gives_the_same_events(stream: bytes, events: list[bytes]) -> None:
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == events


@given(
    st.lists(st.sampled_from([b"data: a", b"data:", b":", b"\r", b"\n", b"\r\n", b"x", b"\xff", b""]), max_size=30),
    st.data(),
)
def test_chunking_never_changes_the_events(pieces: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(*chunks) == decode(stream)


def test_an_event_left_open_by_the_end_of_the_stream_is_given_at_the_end() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: [DONE]") == []
    assert decoder.feed_eof() == [b"[DONE]"]


@pytest.mark.parametrize("endless", [b"data: x", b": comment", b"data: x\n"])
def test_an_event_without_end_is_bounded(endless: bytes) -> None:
    with pytest.raises(ModelError) as raised:
        decode(*[endless] * 100, max_bytes=100)
    assert raised.value.kind is ErrorKind.MALFORMED


def test_a_long_stream_of_keep_alives_is_no_event_without_end() -> None:
    assert decode(*[b": keep-alive\n"] * 100, max_bytes=100) == []
