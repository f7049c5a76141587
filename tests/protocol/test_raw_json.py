from __future__ import annotations

import msgspec
import pytest

from protocol.codec import down_decoder, encode_frame, up_decoder
from protocol.contract import Contract, JsonFormat
from protocol.frames import Reply, Result, Spawn
from protocol.journal.entries import Started
from protocol.journal.envelope import decode_entry, encode_entry
from protocol.record import Outcome, TerminalRecord, Usage
from protocol.status import TerminalStatus
from protocol.testing import minimal_spawn


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


def test_a_raw_value_that_its_author_spread_over_lines_stays_one_frame() -> None:
    schema = b'{\r\n  "type": "object",\n  "title": "two\\nlines"\n}'
    line = encode_frame(_spawn_with(Contract("x", JsonFormat(msgspec.Raw(schema)))))
    assert line.count(b"\n") == 1
    (decoded,) = down_decoder().feed(line)
    assert isinstance(decoded, Spawn)
    assert msgspec.json.decode(decoded.contract.schema() or b"") == msgspec.json.decode(schema)


def test_a_raw_value_that_its_author_spread_over_lines_stays_one_journal_entry() -> None:
    contract = Contract("x", JsonFormat(msgspec.Raw(b'{\n"type": "object"\n}')))
    line = encode_entry(1, "2026-01-01T00:00:00.000Z", "started", Started(_spawn_with(contract)))
    assert line.count(b"\n") == 1
    assert decode_entry(line[:-1]) is not None


def _spawn_with(contract: Contract) -> Spawn:
    return msgspec.structs.replace(minimal_spawn(), contract=contract)
