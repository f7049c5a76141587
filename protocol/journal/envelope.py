"""One journal line: {"v":1,"seq":7,"ts":"…","type":"hold","body":{…},"crc":"89abcdef"}.

The crc is CRC-32 over the line's bytes up to `,"crc"`. Sequence numbers count from 1 without a gap. A line
is good only if it is whole and its crc fits. `scan` tells the good beginning of a file from a torn tail
(which is cut off): a piece without LF, as a kill leaves it, or one with NUL bytes, as a power cut does. All
else is an error and nothing is guessed: a whole line that is damaged, a good line whose `seq` does not
follow, a future version, a file that is no journal.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

import msgspec

from protocol.errors import LocalProtocolError, RemoteProtocolError
from protocol.raw_json import on_one_line

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
_OPENING = b'{"v":'
_CLAIMED_VERSION = re.compile(rb'\{"v":(\d{1,9}),')


def encode_entry(seq: int, ts: str, entry_type: str, body: msgspec.Struct) -> bytes:
    """One line, LF included. Raises LocalProtocolError for text with a lone surrogate, which is no Unicode."""
    try:
        head = on_one_line(_encoder.encode(_Line(JOURNAL_VERSION, seq, ts, entry_type, body)))[:-1]
    except UnicodeEncodeError as error:
        raise LocalProtocolError("encoding", f"{entry_type} with text that is no Unicode") from error
    return b'%s,"crc":"%08x"}\n' % (head, zlib.crc32(head))


def decode_entry(line: bytes) -> Entry | None:
    """The entry of one line without its LF, or None if the line is not whole or its crc does not fit."""
    cut = line.rfind(_CRC_KEY)
    if cut < 0 or line[cut:] != b'%s%08x"}' % (_CRC_KEY, zlib.crc32(line[:cut])):
        return None
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def scan(content: bytes) -> Scan:
    """Read a whole journal. Raises RemoteProtocolError `damaged` or `version`."""
    entries: list[Entry] = []
    good = 0
    for start, line in _lines(content):
        _require_known_version(line)
        entry = decode_entry(line)
        if entry is None:
            break
        if entry.seq != len(entries) + 1:
            raise RemoteProtocolError("damaged", f"journal entry {entry.seq} at byte {start} follows {len(entries)}")
        entries.append(entry)
        good = start + len(line) + 1
    _require_torn_tail(content[good:], len(entries), good)
    return Scan(tuple(entries), good, len(content) - good)


def _require_known_version(line: bytes) -> None:
    """A line of a later version may carry another checksum: it must not be taken for a torn one and cut off."""
    claimed = _CLAIMED_VERSION.match(line)
    if claimed and int(claimed[1]) > JOURNAL_VERSION:
        raise RemoteProtocolError("version", f"journal version {int(claimed[1])}, this Covey reads {JOURNAL_VERSION}")


def _require_torn_tail(tail: bytes, entries: int, start: int) -> None:
    opening, _, _ = tail[: len(_OPENING)].partition(b"\0")
    if entries == 0 and not _OPENING.startswith(opening):
        raise RemoteProtocolError("damaged", "this file is no journal")
    whole = b"\n" in tail and b"\0" not in tail
    if whole or any(decode_entry(line) is not None for _, line in _lines(tail)):
        raise RemoteProtocolError("damaged", f"journal entry {entries + 1} at byte {start} is damaged")


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Each line that ends in LF, with its offset. A last piece without LF is no line."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield start, content[start:end]
        start = end + 1
