"""The end of a run on the two streams: stdout is the answer or one record, stderr says why it is not.

exit code 0    stdout: the answer, or the JSON value of a JSON contract
exit code 3    stdout: the partial result, where there is one
any other      stdout: nothing
--json         stdout: one record, whatever the end
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from protocol.contract import Contract, JsonFormat
from protocol.record import TerminalRecord, Usage
from protocol.status import EXIT_CRASHED, EXIT_OK, EXIT_PARTIAL, Abort, Detail, TerminalStatus
from supervisor.console.ending import describe_end

STDOUT, STDERR = 1, 2


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
    """Write the end of a run and return the exit code of the process: the record's.

    A reader that closed the pipe changes nothing. An answer that could not be written is told on stderr,
    and 0 becomes 1: a caller must not go on with half an answer. `as_text`: stderr is for people.
    """
    if as_text:
        _tell(describe_end(record))
    answer = encode_record(record) if as_json else encode_answer(record, contract)
    try:
        _write(STDOUT, answer)
    except BrokenPipeError:
        return record.exit_code
    except OSError as error:
        _tell([f"covey: stdout cannot be written: {error.strerror}; the result is in {record.journal}"])
        return record.exit_code or EXIT_CRASHED
    return record.exit_code


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
    if isinstance(contract.output_format, JsonFormat):
        return msgspec.json.format(bytes(record.result), indent=-1) + b"\n"
    return _text_line(msgspec.json.decode(record.result, type=str))


def _text_line(text: str) -> bytes:
    """As it is, but for its end: one LF, however many there were."""
    return text.rstrip("\n").encode("utf-8", "replace") + b"\n"


def _tell(lines: Sequence[str]) -> None:
    """Words on stderr. If that is gone too, there is nobody left to tell."""
    with suppress(OSError):
        _write(STDERR, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))


def _write(fd: int, content: bytes) -> None:
    """All of it, without a buffer that could fail later, when nobody looks."""
    while content:
        content = content[os.write(fd, content) :]
