"""Compiling the JSON Schema of a contract, before a run starts and again where its answer is checked.

Apart from protocol.contract so that only who needs a schema pays for the validator's import (about 20 ms).
A schema is closed: a `$ref` to anything outside it is refused, never fetched.
"""

from __future__ import annotations

import jsonschema_rs
import msgspec

from protocol.errors import SpecError
from protocol.schema_size import MAX_SUBSCHEMAS, Schema, expanded_size

Validator = jsonschema_rs.Validator

_SHOWN_CHARS = 80
_HERE = "covey:///"
"""Where the schema is said to lie: a `$ref` to a file beside it leads there, and so to us."""

_TYPES = "array, boolean, integer, null, number, object, string, or a list of these"


class _Outside:
    """Refuses everything that the schema would have fetched, and remembers what that was."""

    def __init__(self) -> None:
        self.uris: list[str] = []

    def __call__(self, uri: str) -> None:
        self.uris.append(uri.removeprefix(_HERE))
        raise ValueError


def compile_schema(schema: bytes, source: str) -> Validator:
    """The validator of an encoded JSON Schema: its draft by `$schema`, else 2020-12; formats are checked.

    Raises SpecError that names `source`, the place in the schema and what is wrong there. Beside a `$ref` that
    leads nowhere these are an unknown `$schema`, nesting over 255 levels, and over MAX_SUBSCHEMAS subschemas once
    references are followed. Errors of the validator call the value that they are about "it", and carry it as
    `instance`.
    """
    outside = _Outside()
    try:
        decoded = msgspec.json.decode(schema, type=dict[str, object])
        _check_size(decoded, source)
        return jsonschema_rs.validator_for(decoded, retriever=outside, base_uri=_HERE, mask="it", validate_formats=True)
    except jsonschema_rs.ValidationError as error:
        if outside.uris and outside.uris[0] != decoded.get("$schema"):
            problem = f"{outside.uris[0]} lies outside the schema: put what it refers to under $defs"
            raise SpecError(source, problem) from error
        raise SpecError(source, f"is no JSON Schema that can be used: {_describe(error)}") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(source, f"is no JSON Schema that can be used: {error}") from error


def _check_size(schema: Schema, source: str) -> None:
    if expanded_size(schema) > MAX_SUBSCHEMAS:
        problem = f"over {MAX_SUBSCHEMAS} subschemas; let fewer of them refer to the same one"
        raise SpecError(source, f"is too large once its references are followed: {problem}")


def _describe(error: jsonschema_rs.ValidationError) -> str:
    place = "".join(f"[{part!r}]" for part in error.instance_path)
    value = "" if error.instance is None else f" = {str(error.instance)[:_SHOWN_CHARS]!r}"
    is_unknown_type = list(error.schema_path[-2:]) == ["type", "anyOf"]
    return f"schema{place}{value}: {f'it is none of {_TYPES}' if is_unknown_type else error.message}"
