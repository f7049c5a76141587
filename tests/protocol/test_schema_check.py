"""A contract's schema is compiled before a run starts; what cannot be used is named, and nothing is ever fetched."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from protocol.errors import SpecError
from protocol.schema_check import compile_schema


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (b"{", "truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b"true", "Expected `object`, got `bool`"),
        (b"\xff", "malformed"),
        (b'{"type":"strin"}', r"schema\['type'\] = 'strin': it is none of array, boolean, integer, null, number, ob"),
        (b'{"items":{"type":["string","x"]}}', r"schema\['items'\]\['type'\] = .*: it is none of array, boolean"),
        (b'{"properties":{"type":5}}', r"schema\['properties'\]\['type'\] = '5': it is not of types"),
        (b'{"properties":{"a":{"minimum":"x"}}}', r"schema\['properties'\]\['a'\]\['minimum'\] = 'x'"),
        (b'{"pattern":"("}', r"schema\['pattern'\]"),
        (b'{"$ref":"#/$defs/gone"}', r"'/\$defs/gone' does not exist"),
        (b'{"$schema":"https://example.invalid/own"}', "Unknown meta-schema"),
        (b'{"items":' * 300 + b"{}" + b"}" * 300, "Recursion limit"),
        (b'{"items":' * 5_000 + b"{}" + b"}" * 5_000, "recursion"),
    ],
)
def test_a_schema_that_cannot_be_used_is_named_with_its_place(schema: bytes, told: str) -> None:
    with pytest.raises(SpecError, match=told) as refused:
        compile_schema(schema, "task.json: output_format.json")
    assert refused.value.field == "task.json: output_format.json"


def test_a_reference_to_a_server_is_refused_without_a_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        with pytest.raises(SpecError) as refused:
            compile_schema(b'{"properties":{"a":{"$ref":"%s"}}}' % url.encode(), "x")
        assert str(refused.value) == f"x: {url} lies outside the schema: put what it refers to under $defs"
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_reference_to_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text("{}")
    with pytest.raises(SpecError, match="lies outside the schema"):
        compile_schema(b'{"$ref":"file://%s/schema.json"}' % bytes(tmp_path), "x")
    with pytest.raises(SpecError, match="^x: schema.json lies outside the schema"):
        compile_schema(b'{"$ref":"schema.json"}', "x")


@pytest.mark.parametrize(
    "schema",
    [
        b"{}",
        b'{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}',
        b'{"$ref":"#/$defs/tree","$defs":{"tree":{"items":{"$ref":"#/$defs/tree"}}}}',
        b'{"$ref":"https://json-schema.org/draft/2020-12/schema"}',
    ],
)
def test_references_inside_and_known_drafts_are_fine(schema: bytes) -> None:
    assert compile_schema(schema, "x").is_valid({})


def _levels(count: int, branches: int) -> bytes:
    level = b'"d%d":{"anyOf":[' + b",".join([b'{"$ref":"#/$defs/d%d"}'] * branches) + b"]}"
    levels = [level % (n, *[n + 1] * branches) for n in range(count)]
    return b'{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{"not":{}}}}' % (b",".join(levels), count)


def test_a_schema_that_explodes_is_refused_before_anything_is_held_against_it() -> None:
    with pytest.raises(SpecError, match="^x: is too large once its references are followed: over 10000 subschemas"):
        compile_schema(_levels(16, 4), "x")


def test_a_schema_at_the_bound_is_checked_in_a_moment() -> None:
    validator = compile_schema(_levels(5, 4), "x")
    began_s = time.process_time()
    assert [error.message for error in validator.iter_errors({"a": 1})]
    assert time.process_time() - began_s < 2.0  # measured: 0.01 s


def test_formats_are_checked() -> None:
    assert not compile_schema(b'{"format":"date"}', "x").is_valid("tomorrow")
