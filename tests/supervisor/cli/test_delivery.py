"""The end of a run on stdout and stderr, through real descriptors."""

from __future__ import annotations

import json
import os
import pty
import tty

import msgspec
import pytest

from protocol.contract import Contract, JsonFormat
from protocol.record import TerminalRecord, Usage
from protocol.status import Abort, Detail, TerminalStatus, exit_code
from supervisor.cli import streams
from supervisor.cli.delivery import deliver, encode_answer, encode_record

TEXT = Contract("x")
JSON = Contract("x", JsonFormat(msgspec.Raw(b"{}")))
KEYS = [
    "run", "agent", "path", "status", "detail", "abort", "exit_code", "result", "partial", "usage", "started_at",
    "ended_at", "journal",
]  # fmt: skip
USAGE_KEYS = [
    "steps", "tokens", "tokens_in", "tokens_out", "tokens_cached", "tokens_estimated", "charged_unknown", "tree_tokens",
    "tool_calls", "cost_microusd", "cpu_s",
]  # fmt: skip


def record(
    status: str = "completed", result: object = None, partial: str | None = None, **fields: object
) -> TerminalRecord:
    abort = fields.get("abort")
    code = exit_code(TerminalStatus(status), Abort(abort) if abort else None, bool(partial))
    values = {
        "run": "r1", "agent": "r1/0", "path": "0", "status": TerminalStatus(status), "detail": None, "abort": None,
        "exit_code": code, "result": None if result is None else msgspec.Raw(msgspec.json.encode(result)),
        "partial": partial, "usage": Usage(), "started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:01Z",
        "journal": "/state/r1/0/journal.jsonl",
    }  # fmt: skip
    return TerminalRecord(**{**values, **fields})


def test_a_record_line_has_exactly_the_keys_that_are_promised():
    line = encode_record(record(result={"a": "ü\n"}, about="why", dropped_injects=("x",)))
    assert line.count(b"\n") == 1
    assert list(json.loads(line)) == KEYS
    assert list(json.loads(line)["usage"]) == USAGE_KEYS
    assert json.loads(line)["result"] == {"a": "ü\n"}


@pytest.mark.parametrize(
    ("text", "shown"), [("hi", "hi\n"), ("hi\n\n", "hi\n"), ("", "\n"), ("a\nb\r", "a\nb\r\n"), (" ü ", " ü \n")]
)
def test_a_text_answer_is_as_it_is_with_one_line_end(text, shown):
    assert encode_answer(record(result=text), TEXT) == shown.encode()


def test_a_json_answer_is_one_value_on_one_line_even_if_it_is_a_string():
    assert encode_answer(record(result={"a": [1, "x y"]}), JSON) == b'{"a":[1,"x y"]}\n'
    assert encode_answer(record(result="x"), JSON) == b'"x"\n'
    spread = record(result=None)
    pretty = msgspec.structs.replace(spread, result=msgspec.Raw(b'{ "a":\n 1 }'))
    assert encode_answer(pretty, JSON) == b'{"a":1}\n'


def test_a_partial_result_is_shown_with_exit_code_3_and_with_no_other():
    assert encode_answer(record("deadline", partial="half"), TEXT) == b"half\n"
    assert encode_answer(record("cancelled"), TEXT) == b""
    assert encode_answer(record("crashed", partial="half", abort=Abort.INTELLIGENCE_UNAVAILABLE), TEXT) == b""
    assert encode_answer(record("refused", partial="because"), TEXT) == b""
    assert encode_answer(record("crashed"), TEXT) == b""


@pytest.fixture
def pipes(monkeypatch):
    """The two descriptors of `deliver` as pipes."""
    out_read, out_write = os.pipe()
    err_read, err_write = os.pipe()
    monkeypatch.setattr(streams, "STDOUT", out_write)
    monkeypatch.setattr(streams, "STDERR", err_write)
    yield out_read, err_read
    for fd in (out_read, out_write, err_read, err_write):
        try:
            os.close(fd)
        except OSError:
            continue


def test_failure_leaves_stdout_empty_and_tells_why_on_stderr(pipes):
    out, err = pipes
    ended = record("crashed", detail=Detail.AUTH, abort=Abort.INTELLIGENCE_UNAVAILABLE, about="401 from the endpoint")
    assert deliver(ended, TEXT, as_json=False, as_text=True) == 4
    told = os.read(err, 65_536).decode()
    assert "intelligence_unavailable / auth (exit 4): 401 from the endpoint" in told
    os.set_blocking(out, False)
    with pytest.raises(BlockingIOError):
        os.read(out, 1)


def test_stderr_for_machines_gets_no_words(pipes):
    out, err = pipes
    assert deliver(record(result="hi"), TEXT, as_json=True, as_text=False) == 0
    assert json.loads(os.read(out, 65_536))["result"] == "hi"
    os.set_blocking(err, False)
    with pytest.raises(BlockingIOError):
        os.read(err, 1)


def test_a_reader_that_is_gone_changes_nothing(pipes):
    out, _ = pipes
    os.close(out)
    assert deliver(record(result="hi"), TEXT, as_json=False, as_text=False) == 0


def test_an_answer_that_cannot_be_written_is_no_success(pipes, monkeypatch):
    _, err = pipes
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(streams, "STDOUT", full)
    assert deliver(record(result="hi"), TEXT, as_json=False, as_text=False) == 1
    assert "the result is in /state/r1/0/journal.jsonl" in os.read(err, 65_536).decode()
    os.close(full)


def test_a_failure_keeps_its_code_when_stdout_is_full(pipes, monkeypatch):
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(streams, "STDOUT", full)
    assert deliver(record("crashed"), TEXT, as_json=True, as_text=False) == 1
    assert deliver(record("refused"), TEXT, as_json=True, as_text=False) == 5
    os.close(full)


@pytest.fixture
def terminal(monkeypatch):
    """Stdout as a terminal; what it shows is read from the other side."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    monkeypatch.setattr(streams, "STDOUT", slave)
    yield master
    os.close(master)
    os.close(slave)


def test_a_terminal_is_shown_no_control_character_of_the_model(terminal):
    text = "a\tb\nc\x1b[2J\x9b2J\x07\r d"
    assert deliver(record(result=text), TEXT, as_json=False, as_text=False) == 0
    assert os.read(terminal, 1_000) == b"a\tb\nc[2J2J d\n"
    assert deliver(record("deadline", partial=text), JSON, as_json=False, as_text=False) == 3
    assert os.read(terminal, 1_000) == b"a\tb\nc[2J2J d\n"


@pytest.mark.parametrize("as_json", [True, False])
def test_a_terminal_is_shown_json_of_the_same_value_without_control_characters(terminal, as_json):
    value = {"a": "b\x1b[2J\x9b\x7f\n"}
    deliver(record(result=value), JSON, as_json=as_json, as_text=False)
    shown = os.read(terminal, 10_000)
    assert b"\x1b" not in shown
    assert "\x9b" not in shown.decode()
    told = json.loads(shown)
    assert (told["result"] if as_json else told) == value


def test_a_pipe_gets_every_character_of_the_model(pipes):
    out, _ = pipes
    deliver(record(result="c\x1b[2J\x9b\r"), TEXT, as_json=False, as_text=False)
    assert os.read(out, 1_000) == "c\x1b[2J\x9b\r\n".encode()
