"""One journal line: {"v":1,"seq":7,"ts":"…","type":"hold","body":{…},"crc":"89abcdef"}.

The crc is CRC-32 over the line's bytes up to `,"crc"`. Sequence numbers count from 1 without a gap. A line
is good only if it is whole, its crc fits and its `seq` follows. `scan` tells the good beginning of a file
from a torn tail (which is cut off) and from damage in the middle (which is an error: nothing is guessed).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import msgspec

from protocol.errors import RemoteProtocolError

JOURNAL_VERSION = 1


class Entry(msgspec.Struct, frozen=True):
    """One entry as read: `type` may be unknown to us and is kept; `body` is its undecoded JSON."""

    v: int
    seq: int
    ts: str
    type: str
    body: msgspec.Raw


class _Line(msgspec.Struct, frozen=True):
    v: int
    seq: int
    ts: str
    type: str
    body: object


class Scan(msgspec.Struct, frozen=True):
    """What a file holds: its good entries, the bytes that they fill, and the bytes of a torn tail behind them."""

    entries: tuple[Entry, ...]
    good_bytes: int
    torn_bytes: int


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)
_CRC_KEY = b',"crc":"'


def encode_entry(seq: int, ts: str, entry_type: str, body: msgspec.Struct) -> bytes:
    """One line, LF included."""
    head = _encoder.encode(_Line(JOURNAL_VERSION, seq, ts, entry_type, body))[:-1]
    return b'%s,"crc":"%08x"}\n' % (head, zlib.crc32(head))


def decode_entry(line: bytes) -> Entry | None:
    """The entry of one line without its LF, or None if the line is not whole or its crc does not fit."""
    cut = line.rfind(_CRC_KEY)
    if cut < 0 or line[cut:] != b'%s%08x"}' % (_CRC_KEY, zlib.crc32(line[:cut])):
        return None
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def scan(content: bytes) -> Scan:
    """Read a whole journal. Raises RemoteProtocolError for damage before the last line, or a future version."""
    entries: list[Entry] = []
    good = 0
    for start, line in _lines(content):
        entry = decode_entry(line)
        end = start + len(line) + 1
        if entry is not None and entry.v > JOURNAL_VERSION:
            raise RemoteProtocolError("version", f"journal version {entry.v}, this Covey reads up to {JOURNAL_VERSION}")
        if entry is None or entry.seq != len(entries) + 1:
            if _anything_good(content[end:]):
                raise RemoteProtocolError("damaged", f"journal entry {len(entries) + 1} at byte {start} is damaged")
            break
        entries.append(entry)
        good = end
    return Scan(tuple(entries), good, len(content) - good)


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line that ends in LF, with its offset. A last piece without LF is no line."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield start, content[start:end]
        start = end + 1


def _anything_good(content: bytes) -> bool:
    return any(decode_entry(line) is not None for _, line in _lines(content))
