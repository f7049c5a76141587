"""Narrowing a schema to what its sources hold: words, stand-alone numbers, and what was copied already. Pure."""

from __future__ import annotations

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.copying import MAX_CANDIDATES, narrow
from subagent.models.types import Copying

ORDER = "Complaint about PO-2012: Tanaka Sushi has not received the 2 desk lamps promised for 16/12/2026."


def narrowed(field: dict[str, object], *sources: str, answer: object = None) -> dict[str, object]:
    schema = msgspec.json.encode({"type": "object", "properties": {"f": field}})
    told = "" if answer is None else msgspec.json.encode({"f": answer}).decode()
    return msgspec.json.decode(narrow(schema, Copying(sources, told)))["properties"]["f"]


def test_a_string_becomes_a_choice_of_spans_that_fit_its_own_rules() -> None:
    field = {"type": "string", "pattern": "^[A-Z][^0-9]*$", "maxLength": 12}
    assert narrowed(field, ORDER) == {"enum": ["Complaint", "Tanaka", "Tanaka Sushi", "Sushi", "Sushi has"]}


def test_a_number_becomes_a_choice_of_numbers_that_stand_alone() -> None:
    assert narrowed({"type": "integer"}, ORDER) == {"enum": [2]}
    assert narrowed({"type": "number"}, "1.5 and 20 but not 3rd, 2026-01-02 or A-7") == {"enum": [1.5, 20]}
    assert narrowed({"type": "integer", "minimum": 3}, "2 of 5") == {"enum": [5]}


def test_a_number_that_no_reader_keeps_is_none_to_copy() -> None:
    assert narrowed({"type": "integer"}, f"{'9' * 5_000} and 7") == {"enum": [7]}
    assert narrowed({"type": "number"}, f"{'9' * 400}.5 or 0.{'1' * 400} or 7") == {"enum": [7]}


def test_a_value_that_was_copied_is_kept_among_any_number_of_candidates() -> None:
    many = " ".join(f"w{n}" for n in range(MAX_CANDIDATES))
    assert narrowed({"type": "string"}, f"{many} | last", answer="last") == {"const": "last"}


def test_a_value_that_was_copied_is_kept_and_one_that_was_not_is_reopened() -> None:
    field = {"type": "string", "pattern": "^[a-z]"}
    assert narrowed(field, ORDER, answer="desk lamps") == {"const": "desk lamps"}
    assert "desk lamps" in narrowed(field, ORDER, answer="dress lamps")["enum"]


@pytest.mark.parametrize("field", [{"const": "x"}, {"enum": ["a", "b"]}, {"type": "boolean"}, {}])
def test_what_is_prescribed_or_no_text_stays_as_it_is(field: dict[str, object]) -> None:
    assert narrowed(field, ORDER) == field


def test_a_field_without_a_candidate_or_with_too_many_stays_free() -> None:
    assert narrowed({"type": "integer"}, "no number here") == {"type": "integer"}
    many = " ".join(f"w{n}" for n in range(MAX_CANDIDATES))
    assert narrowed({"type": "string"}, many) == {"type": "string"}


def test_a_span_never_crosses_a_strong_separator_or_a_line() -> None:
    spans = narrowed({"type": "string"}, "a b | c\nd e")["enum"]
    assert spans == ["a", "a b", "b", "c", "d", "d e", "e"]


def test_a_pattern_made_to_backtrack_is_answered_at_once_and_by_the_rules_of_the_gate() -> None:
    field = {"type": "string", "pattern": "^(a|a)*$"}
    assert narrowed(field, "a" * 40 + "b | aa") == {"enum": ["aa"]}
    assert narrowed({"type": "string", "pattern": r"^\p{Lu}"}, "Ärger und mehr") == {
        "enum": ["Ärger", "Ärger und", "Ärger und mehr"]
    }


def test_an_earlier_answer_that_nests_too_deep_is_passed_over() -> None:
    assert narrow(b'{"type":"integer"}', Copying(("7",), "[" * 5_000)) == b'{"enum":[7]}'


def test_arrays_are_narrowed_in_their_items() -> None:
    schema = b'{"type":"array","items":{"type":"integer"}}'
    assert msgspec.json.decode(narrow(schema, Copying(("7 8",))))["items"] == {"enum": [7, 8]}


def test_a_path_in_the_task_is_one_span() -> None:
    assert "orders/a-1.txt" in narrowed({"type": "string"}, "Read orders/a-1.txt and extract the order.")["enum"]


@given(st.lists(st.text(max_size=60), max_size=3))
def test_every_candidate_stands_in_a_source_and_the_schema_stays_one(sources: list[str]) -> None:
    field = narrowed({"type": "string"}, *sources)
    jsonschema_rs.validator_for(field)
    for span in field.get("enum", ()):
        assert any(span in source for source in sources)
