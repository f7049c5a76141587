from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from protocol import schema
from protocol.budget import Amounts
from protocol.contract import ContractFile
from protocol.frames import DOWN_TYPES, UP_TYPES, tag_of
from protocol.journal.entries import ENTRY_TYPES, Held
from protocol.journal.envelope import encode_entry

TS = "2026-01-02T03:04:05.678Z"
NAMES = ["contract.json", "down.json", "journal.json", "record.json", "up.json"]


def test_the_committed_schemas_are_what_the_structs_say() -> None:
    assert schema.stale_files() == [], "run python -m protocol.schema --write"


def test_there_is_a_schema_of_everything_that_leaves_a_process() -> None:
    assert sorted(schema.build_schemas()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_good_json_schema(name: str) -> None:
    jsonschema_rs.meta.validate(schema.build_schemas()[name])


@pytest.mark.parametrize(("name", "types"), [("down.json", DOWN_TYPES), ("up.json", UP_TYPES)])
def test_every_frame_is_in_the_schema_of_its_direction(name: str, types) -> None:  # type: ignore[no-untyped-def]  # frame types
    assert set(schema.build_schemas()[name]["discriminator"]["mapping"]) == {tag_of(t) for t in types}


def test_every_journal_entry_is_in_the_schema_of_a_line() -> None:
    lines = schema.build_schemas()["journal.json"]["oneOf"]
    assert {line["properties"]["type"]["const"] for line in lines} == set(ENTRY_TYPES)


def test_a_journal_line_passes_its_schema_and_a_changed_one_does_not() -> None:
    written = schema.build_schemas()["journal.json"]
    line = msgspec.json.decode(encode_entry(1, TS, "hold", Held(1, 1, Amounts(tokens=9))))
    jsonschema_rs.validate(written, line)
    for changed in ({"seq": 0}, {"type": "dream"}, {"crc": "x"}, {"body": {"turn": "one"}}, {"mood": "good"}):
        assert not jsonschema_rs.is_valid(written, line | changed)


@pytest.mark.parametrize(
    "text",
    [b'{"objective":"x"}', b'{"objective":"x","later":1}', b'{"objective":"x","probes":[{"command":[]}]}', b"{}"],
)
def test_the_schema_of_a_contract_file_agrees_with_its_reader(text: bytes) -> None:
    try:
        msgspec.json.decode(text, type=ContractFile)
        accepted = True
    except msgspec.ValidationError:
        accepted = False
    assert jsonschema_rs.is_valid(schema.build_schemas()["contract.json"], msgspec.json.decode(text)) == accepted


@pytest.mark.parametrize("name", ["up.json", "left_over.json"])
def test_a_stale_missing_or_left_over_file_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "FOLDER", tmp_path / "schema")
    schema.write_files()
    assert schema.main(["--check"]) == 0
    (tmp_path / "schema" / name).write_text("{}")
    assert schema.stale_files() == [name]
    assert schema.main(["--check"]) == 1


def test_the_command_checks_and_refuses_what_it_does_not_know() -> None:
    for arguments, code in ((["--check"], 0), ([], 2), (["--wriet"], 2)):
        ran = subprocess.run(
            [sys.executable, "-m", "protocol.schema", *arguments], capture_output=True, timeout=20, check=False
        )
        assert ran.returncode == code, ran.stderr
