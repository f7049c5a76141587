"""JSON Schema (2020-12) of everything that leaves a process: frames, record, contract file, journal lines.

Generated from the structs, committed under `protocol/schema/`, and checked by a test, so that the files
can be read without Covey: `python -m protocol.schema --write` after a change, `--check` to compare.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from protocol import PROTOCOL_VERSION
from protocol.contract import ContractFile
from protocol.frames import DownFrame, UpFrame
from protocol.journal.entries import ENTRY_TYPES
from protocol.journal.envelope import JOURNAL_VERSION
from protocol.record import TerminalRecord

FOLDER = Path(__file__).with_name("schema")

Schema = dict[str, Any]
"""A JSON Schema as an object. It is data for other programs: nothing of ours reads a field of it."""


def build_schemas() -> dict[str, Schema]:
    """File name -> schema."""
    return {
        "down.json": _of_type(DownFrame, f"A line from a supervisor, protocol version {PROTOCOL_VERSION}"),
        "up.json": _of_type(UpFrame, f"A line from a child, protocol version {PROTOCOL_VERSION}"),
        "record.json": _of_type(TerminalRecord, "The terminal record of one agent"),
        "contract.json": _of_type(ContractFile, "A contract file"),
        "journal.json": _of_journal(),
    }


def render(schema: Schema) -> bytes:
    """The bytes of a schema file."""
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"


def _of_type(typed: Any, title: str) -> Schema:
    (schema,), definitions = msgspec.json.schema_components([typed], ref_template="#/$defs/{name}")
    return _head(title) | schema | {"$defs": definitions}


def _of_journal() -> Schema:
    """One line of a journal of any kind: the envelope around each body that this version knows."""
    bodies, definitions = msgspec.json.schema_components(ENTRY_TYPES.values(), ref_template="#/$defs/{name}")
    lines = [_line(name, body) for name, body in zip(ENTRY_TYPES, bodies, strict=True)]
    return _head(f"A line of a journal, version {JOURNAL_VERSION}") | {"oneOf": lines, "$defs": definitions}


def _line(name: str, body: Schema) -> Schema:
    properties: Schema = {
        "v": {"const": JOURNAL_VERSION},
        "seq": {"type": "integer", "minimum": 1},
        "ts": {"type": "string", "format": "date-time"},
        "type": {"const": name},
        "body": body,
        "crc": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _head(title: str) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}


def stale_files() -> list[str]:
    """Names of the committed files that differ from what the structs say, missing and left-over ones too."""
    wanted = {name: render(schema) for name, schema in build_schemas().items()}
    found = {path.name: path.read_bytes() for path in FOLDER.glob("*.json")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def write_files() -> None:
    """Write every schema file."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in build_schemas().items():
        (FOLDER / name).write_bytes(render(schema))


def main(arguments: Sequence[str]) -> int:
    """`--write`, or `--check`: exit code 1 if a file is stale."""
    if list(arguments) == ["--write"]:
        write_files()
        return 0
    if list(arguments) != ["--check"]:
        sys.stderr.write("usage: python -m protocol.schema --write | --check\n")
        return 2
    stale = stale_files()
    for name in stale:
        sys.stderr.write(f"protocol/schema/{name} is stale: run python -m protocol.schema --write\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
