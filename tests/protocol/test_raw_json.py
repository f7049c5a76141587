from __future__ import annotations

import msgspec
import pytest

from protocol.codec import down_decoder, encode_frame, up_decoder
from protocol.frames import Reply, Result
from protocol.record import Outcome, TerminalRecord, Usage
from protocol.status import TerminalStatus


@pytest.mark.parametrize("value", [b'{"a":[1,2]}', b"[]", b'"text"', b"0", b"false", b'""', b"1.50"])
def test_a_result_of_any_shape_travels_byte_for_byte(value: bytes) -> None:
    for decoder, frame in (
        (up_decoder(), Result(Outcome(TerminalStatus.COMPLETED, result=msgspec.Raw(value)))),
        (down_decoder(), Reply("q", msgspec.Raw(value))),
    ):
        (got,) = decoder.feed(encode_frame(frame))
        assert got == frame


def test_no_result_is_none_on_both_ends_and_null_is_no_result() -> None:
    assert up_decoder().feed(encode_frame(Result(Outcome(TerminalStatus.CANCELLED)))) == [
        Result(Outcome(TerminalStatus.CANCELLED))
    ]
    (reply,) = down_decoder().feed(b'{"type":"reply","id":"q","result":null}\n')
    assert reply == Reply("q", None)


@pytest.mark.parametrize("result", [None, msgspec.Raw(b'{"a":1}')])
def test_a_terminal_record_reads_back_as_it_was_written(result: msgspec.Raw | None) -> None:
    record = TerminalRecord(
        run="r", agent="root", path="0", status=TerminalStatus.COMPLETED, detail=None, abort=None, exit_code=0,
        result=result, partial=None, usage=Usage(tokens=5), started_at="2026-01-02T03:04:05Z",
        ended_at="2026-01-02T03:04:06Z", journal="0/journal.jsonl",
    )  # fmt: skip
    assert msgspec.json.decode(msgspec.json.encode(record), type=TerminalRecord) == record
