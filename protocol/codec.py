"""Bytes to frames and back: JSON lines, incremental, bounded (DESIGN section 3; field reports U-09, U-10).

Rules, all of them here:
- A line ends at the LF byte, nowhere else: U+2028 and friends are content. CR before LF is dropped.
- A byte-order mark is dropped at the start of the stream only. Blank lines are ignored.
- A line over `max_bytes` is skipped up to its LF and reported once; it is never parsed from its middle.
- A last line without LF is a line if it is whole JSON, and reported as truncated if it is not.
- A line that nests deeper than `MAX_NESTING` levels is invalid, whatever it holds.
- Every byte of a line is UTF-8, those of values that we skip as well. A repeated key counts as its last value.
- Nothing a peer sends raises: what is not a frame becomes a `Fault` value that names the kind, never the content.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from protocol.errors import LocalProtocolError
from protocol.frames import DOWN_TYPES, MAX_FRAME_BYTES, UP_TYPES, DownFrame, Frame, UpFrame, tag_of
from protocol.nesting import MAX_NESTING, is_too_deep
from protocol.raw_json import on_one_line

FrameT = TypeVar("FrameT", bound=Frame)

_BOM = b"\xef\xbb\xbf"
_BLANKS = b" \t\r"


class FaultCode(StrEnum):
    """Why a line is no frame; also the `code` of the `error` frame that answers it."""

    OVERSIZE = "oversize"
    GARBAGE = "garbage"
    INVALID = "invalid"
    UNKNOWN_TYPE = "unknown_type"
    TRUNCATED = "truncated"


class Fault(msgspec.Struct, frozen=True):
    """A line that is no frame. `about` tells size, type or field, and never quotes the line."""

    code: FaultCode
    about: str


class LineDecoder:
    """Splits a byte stream into lines. Feed any chunking; the lines are the same."""

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line = bytearray()
        self._skipping = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes | Fault]:
        """The lines that `chunk` completes, without their line ends, and a Fault for each oversize one."""
        found: list[bytes | Fault] = []
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._keep(piece, found)
            self._end_line(found)
        self._keep(rest, found)
        return found

    def feed_eof(self) -> list[bytes | Fault]:
        """The last line, if the stream ended without LF. The decoder is spent afterwards."""
        found: list[bytes | Fault] = []
        self._end_line(found)
        return found

    def _keep(self, piece: bytes, found: list[bytes | Fault]) -> None:
        if self._skipping:
            return
        if len(self._line) + len(piece) < self._max_bytes:
            self._line += piece
            return
        self._skipping = True
        self._line.clear()
        found.append(Fault(FaultCode.OVERSIZE, f"a line of more than {self._max_bytes} bytes was skipped"))

    def _end_line(self, found: list[bytes | Fault]) -> None:
        line = bytes(self._line)
        skipped, self._skipping = self._skipping, False
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not skipped and (line := line.strip(_BLANKS)):
            found.append(line)


class FrameDecoder(Generic[FrameT]):
    """Lines to frames of one direction. Build it with `down_decoder()` or `up_decoder()`.

    `unknown_fields` counts the fields of frames that this version does not know: skipped, not refused.
    """

    def __init__(self, union: Any, frame_types: Sequence[type[Frame]], max_bytes: int) -> None:
        self.unknown_fields = 0
        self._lines = LineDecoder(max_bytes)
        self._decoder: msgspec.json.Decoder[FrameT] = msgspec.json.Decoder(union)
        self._known = {tag_of(t): frozenset(("type", *t.__struct_fields__)) for t in frame_types}

    def feed(self, chunk: bytes) -> list[FrameT | Fault]:
        """The frames that `chunk` completes, in order, with a Fault in the place of each line that is none."""
        return [line if isinstance(line, Fault) else self._decode(line) for line in self._lines.feed(chunk)]

    def feed_eof(self) -> list[FrameT | Fault]:
        """What a last line without LF gives: its frame if it is whole, else a Fault `truncated`."""
        found: list[FrameT | Fault] = []
        for line in self._lines.feed_eof():
            frame = line if isinstance(line, Fault) else self._decode(line)
            if isinstance(frame, Fault) and frame.code is FaultCode.GARBAGE:
                frame = Fault(FaultCode.TRUNCATED, "the stream ended inside a line")
            found.append(frame)
        return found

    def _decode(self, line: bytes) -> FrameT | Fault:
        if is_too_deep(line):
            return Fault(FaultCode.INVALID, f"a line of {len(line)} bytes nests deeper than {MAX_NESTING} levels")
        try:
            _require_utf8(line)
            frame = self._decoder.decode(line)
            self.unknown_fields += len(_keys.decode(line).keys() - self._known[tag_of(frame)])
        except msgspec.ValidationError as error:
            return self._not_ours(line, error)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Fault(FaultCode.GARBAGE, f"a line of {len(line)} bytes is not JSON")
        return frame

    def _not_ours(self, line: bytes, error: msgspec.ValidationError) -> Fault:
        try:
            tag = msgspec.json.decode(line, type=_Tagged).type
        except (msgspec.DecodeError, UnicodeDecodeError):
            return Fault(FaultCode.GARBAGE, f"a line of {len(line)} bytes is no JSON object with a type")
        if tag not in self._known:
            return Fault(FaultCode.UNKNOWN_TYPE, f"type {tag[:40]!r}")
        return Fault(FaultCode.INVALID, f"{tag}: {_without_values(str(error))}")


class _Tagged(msgspec.Struct):
    type: str


_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _require_utf8(line: bytes) -> None:
    """msgspec does not look into strings that it skips or hands on raw, but they reach journals and records."""
    if not line.isascii():
        line.decode()


def _without_values(problem: str) -> str:
    """msgspec quotes enum values that it refuses; a frame's content has no place in a log."""
    if "'" not in problem:
        return problem
    where = problem.rfind(" - at ")
    return "invalid value" + (problem[where:] if where >= 0 else "")


def down_decoder(max_bytes: int = MAX_FRAME_BYTES) -> FrameDecoder[DownFrame]:
    """A decoder of what a supervisor sends."""
    return FrameDecoder(DownFrame, DOWN_TYPES, max_bytes)


def up_decoder(max_bytes: int = MAX_FRAME_BYTES) -> FrameDecoder[UpFrame]:
    """A decoder of what a child sends."""
    return FrameDecoder(UpFrame, UP_TYPES, max_bytes)


_encoder = msgspec.json.Encoder()


def encode_frame(frame: Frame, max_bytes: int = MAX_FRAME_BYTES) -> bytes:
    """One line, LF included. Raises LocalProtocolError if it is too long, too deep or holds a lone surrogate."""
    try:
        line = on_one_line(_encoder.encode(frame)) + b"\n"
    except UnicodeEncodeError as error:
        raise LocalProtocolError("encoding", f"{tag_of(frame)} with text that is no Unicode") from error
    if is_too_deep(line):
        raise LocalProtocolError("encoding", f"{tag_of(frame)} nested deeper than {MAX_NESTING} levels")
    if len(line) > max_bytes:
        raise LocalProtocolError("encoding", f"{tag_of(frame)} of {len(line)} bytes, {max_bytes} allowed")
    return line
