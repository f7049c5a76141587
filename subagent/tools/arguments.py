"""What the model gives a tool: a typed struct, checked field by field, and the JSON Schema generated from it."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec

from subagent.tools.bounded import shown
from subagent.tools.types import ToolNature, ToolRefused, ToolSpec

ShapeT = TypeVar("ShapeT", bound=msgspec.Struct)

_LISTED_PROBLEMS = 8


def tool_spec(name: str, description: str, nature: ToolNature, shape: type[msgspec.Struct]) -> ToolSpec:
    """The spec of a tool whose arguments are a `shape`."""
    return ToolSpec(name, description, msgspec.json.encode(parameters_schema(shape)), nature)


def parameters_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a flat struct: one object, no $ref, nothing that is not in `shape`."""
    _, components = msgspec.json.schema_components([shape])
    schema = components[shape.__name__]
    return {key: schema[key] for key in ("type", "properties", "required", "additionalProperties") if key in schema}


def decode_arguments(arguments: bytes, shape: type[ShapeT]) -> ShapeT:
    """`arguments` as a `shape`. Raises ToolRefused that names each bad field, what it takes and what it got.

    No bytes at all count as {}, and null as leaving an optional field out: models write both.
    """
    given = _object(arguments, shape)
    fields = _fields(shape)
    problems = [f"there is no argument {shown(name)}" for name in given if name not in fields]
    values: dict[str, Any] = {}
    for name, field in fields.items():
        raw = given.get(name)
        if raw is None or (bytes(raw) == b"null" and not field.required):
            problems += [f"{name} is missing"] if field.required else []
            continue
        try:
            values[name] = msgspec.json.decode(raw, type=field.type)
        except msgspec.DecodeError as error:
            problems.append(f"{name}: {error}; received {_shown_json(raw)}")
    if problems:
        raise ToolRefused(f"{'; '.join(problems[:_LISTED_PROBLEMS])}. {_usage(shape)}")
    return shape(**values)


@cache
def _fields(shape: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.name: field for field in msgspec.structs.fields(shape)}


def _object(arguments: bytes, shape: type[msgspec.Struct]) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(arguments.strip() or b"{}", type=dict[str, msgspec.Raw])
    except msgspec.ValidationError as error:
        raise ToolRefused(f"the arguments must be one JSON object: {error}. {_usage(shape)}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolRefused(f"the arguments are not JSON that can be read: {error}. {_usage(shape)}") from error


def _usage(shape: type[msgspec.Struct]) -> str:
    schema = parameters_schema(shape)
    required = schema.get("required", ())
    parts = [
        f"{name} ({about['type']}{'' if name in required else ', optional'})"
        for name, about in schema["properties"].items()
    ]
    return f"Arguments: {', '.join(parts)}"


def _shown_json(raw: msgspec.Raw) -> str:
    return shown(bytes(raw).decode(errors="replace"))
