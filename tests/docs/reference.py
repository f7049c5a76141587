"""How a field of a struct is written in the tables of docs/protocol.md."""

from __future__ import annotations

from typing import Any

import msgspec

from protocol.budget import MAX_COUNT
from protocol.schema import build_schemas

Schema = dict[str, Any]

ENDS = {"TerminalStatus": "status", "Detail": "detail", "Abort": "abort"}
ANNOTATIONS = ("default", "description", "title")
COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_COUNT}


def definitions() -> dict[str, Schema]:
    """Every struct of the frames and of the record, by name."""
    schemas = build_schemas()
    found = {
        name: schema
        for file in ("down.json", "up.json", "record.json")
        for name, schema in schemas[file]["$defs"].items()
    }
    return {name: schema for name, schema in found.items() if "properties" in schema}


def rows(definition: Schema) -> list[tuple[str, str, str]]:
    """(field, type, default) of each field but `type`, as the tables have them."""
    return [
        (f"`{field}`", type_of(schema), "required" if field in definition["required"] else default_of(schema))
        for field, schema in definition["properties"].items()
        if field != "type"
    ]


def default_of(schema: Schema) -> str:
    default = schema.get("default", {})
    if isinstance(default, dict) and default:
        return "its defaults"
    return f"`{msgspec.json.encode(default).decode()}`"


def type_of(schema: Schema) -> str:
    shape = {key: value for key, value in schema.items() if key not in ANNOTATIONS}
    if not shape:
        return "any JSON"
    if shape == COUNT:
        return "count"
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{ENDS[name]}](#ends)" if name in ENDS else f"[{name}](#{name.lower()})"
    if "anyOf" in shape:
        return " or ".join(map(type_of, shape["anyOf"]))
    if "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape["enum"])
    return _plain(shape)


def _plain(shape: Schema) -> str:
    match shape:
        case {"type": "array", "items": items}:
            return f"array of {type_of(items)}"
        case {"type": "object", "additionalProperties": {"anyOf": _}}:
            return "object of scalars"
        case {"type": "number", "minimum": 0}:
            return "number ≥ 0"
        case {"type": "number", "exclusiveMinimum": 0}:
            return "number > 0"
    return str(shape["type"])
