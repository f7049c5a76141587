"""Events to lines: canonical keys, clean text."""

from __future__ import annotations

import json
import unicodedata

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from supervisor.console.rendering import LONGEST_VALUE, clean, escape_controls, json_line, text_line, without_controls
from tests.supervisor.console.events_of import event

CANONICAL = ["ts", "level", "event", "run", "agent", "path", "pid"]


def test_a_json_line_opens_with_the_canonical_keys_and_then_has_the_events_own():
    line = json_line(event("tool.call", tool="read_file", args_bytes=12))
    assert list(json.loads(line)) == [*CANONICAL, "tool", "args_bytes"]
    assert line.endswith(b"\n")


def test_an_events_own_fields_never_stand_in_the_place_of_canonical_ones():
    forged = event(
        "tool.call", ts="x", level="error", event="run.end", run="other", agent="a", path="9", pid=1, tool="t"
    )
    line = json.loads(json_line(forged))
    assert [line[key] for key in CANONICAL] == ["2026-01-02T03:04:05.678Z", "info", "tool.call", "r1", "r1/0", "0", 42]
    assert line["tool"] == "t"


def test_a_text_line_reads_well():
    line = text_line(event("tool.result", tool="read file", outcome="ok", elapsed_ms=1.5, estimated=True, call_id=None))
    assert line == '03:04:05 info    tool.result [0] tool="read file" outcome=ok elapsed_ms=1.5 estimated=yes call_id=-'


@given(
    st.dictionaries(
        st.text(), st.one_of(st.text(), st.integers(-(2**53), 2**53), st.floats(), st.booleans(), st.none())
    )
)
def test_any_fields_give_one_line_without_control_characters(fields):
    text = text_line(msgspec.structs.replace(event("tool.call"), fields=fields))
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in text)
    line = json_line(msgspec.structs.replace(event("tool.call"), fields=fields))
    assert line.count(b"\n") == 1
    assert json.loads(line)["run"] == "r1"


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_has_no_escape_no_direction_mark_and_an_end(text):
    cleaned = clean(text)
    assert len(cleaned) <= LONGEST_VALUE + 1
    assert not {"\x1b", "\n", "\r", "\x9b", "\u202e", "\u2066", "\u2028", "\ud800"} & set(cleaned)


def test_a_lone_surrogate_is_encoded():
    assert json_line(event("tool.call", tool="a\ud800b"))


@given(st.text())
def test_what_a_terminal_acts_on_is_taken_out_of_a_text_and_escaped_in_json(text):
    def acts(shown: str) -> bool:
        return any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in shown)

    assert not acts(without_controls(text))
    encoded = json.dumps(text, ensure_ascii=False)
    assert not acts(escape_controls(encoded))
    assert json.loads(escape_controls(encoded)) == text


def test_a_text_keeps_its_lines_and_tabs_and_loses_its_escapes():
    assert without_controls("a\tb\r\nc\x1b[31m\x9b2J é\x7f") == "a\tb\nc[31m2J é"
    assert escape_controls('"a\x9bb"') == '"a\\u009bb"'
