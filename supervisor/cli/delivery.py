"""The end of a run on the two streams: stdout is the answer or one record, stderr says why it is not.

exit code 0    stdout: the answer, or the JSON value of a JSON contract
exit code 3    stdout: the partial result, where there is one
any other      stdout: nothing
--json         stdout: one record, whatever the end

On a terminal the answer, which is a model's text, loses its control characters: it could else move the cursor,
recolour or retitle. JSON has them as escapes there, and so keeps its value.
"""

from __future__ import annotations

import os

import msgspec

from protocol.contract import Contract, JsonFormat
from protocol.record import TerminalRecord, Usage
from protocol.status import EXIT_OK, EXIT_PARTIAL, Abort, Detail, TerminalStatus
from supervisor.cli import streams
from supervisor.cli.corrections import last_problems
from supervisor.console.ending import describe_end
from supervisor.console.rendering import escape_controls, without_controls


class RecordLine(msgspec.Struct, frozen=True):
    """What `--json` prints: these keys, always all of them, in this order (issue "spine" item 7)."""

    run: str
    agent: str
    path: str
    status: TerminalStatus
    detail: Detail | None
    abort: Abort | None
    exit_code: int
    result: msgspec.Raw | None
    partial: str | None
    usage: Usage
    started_at: str
    ended_at: str
    journal: str


def deliver(record: TerminalRecord, contract: Contract, *, as_json: bool, as_text: bool) -> int:
    """Write the end of a run and return the exit code of the process: the record's, unless stdout fails.

    `as_text`: stderr is for people.
    """
    if as_text:
        streams.tell(describe_end(record, last_problems(record)))
    answer = encode_record(record) if as_json else encode_answer(record, contract)
    if os.isatty(streams.STDOUT):
        is_json = as_json or (_asks_for_json(contract) and record.result is not None)
        answer = (escape_controls if is_json else without_controls)(answer.decode()).encode()
    return streams.put(answer, record.exit_code, f"; the result is in {record.journal}")


def encode_record(record: TerminalRecord) -> bytes:
    """The record as one JSON line."""
    kept = {field: getattr(record, field) for field in RecordLine.__struct_fields__}
    return msgspec.json.encode(RecordLine(**kept)) + b"\n"


def encode_answer(record: TerminalRecord, contract: Contract) -> bytes:
    """The answer alone: text with one line end behind it, or one JSON value on a line; empty if there is none."""
    if record.exit_code not in (EXIT_OK, EXIT_PARTIAL):
        return b""
    if record.result is None:
        return _text_line(record.partial) if record.exit_code == EXIT_PARTIAL and record.partial else b""
    if _asks_for_json(contract):
        return msgspec.json.format(bytes(record.result), indent=-1) + b"\n"
    return _text_line(msgspec.json.decode(record.result, type=str))


def _asks_for_json(contract: Contract) -> bool:
    return isinstance(contract.output_format, JsonFormat)


def _text_line(text: str) -> bytes:
    """As it is, but for its end: one LF, however many there were."""
    return text.rstrip("\n").encode("utf-8", "replace") + b"\n"
