"""Compiling the JSON Schema of a contract, before a run starts and again where its answer is checked.

Apart from protocol.contract so that only who needs a schema pays for the validator's import (about 20 ms).
A schema is closed: a `$ref` to anything outside it is refused, never fetched.
"""

from __future__ import annotations

from typing import NoReturn

import jsonschema_rs
import msgspec

from protocol.errors import SpecError

Validator = jsonschema_rs.Validator

_SHOWN_CHARS = 80


def compile_schema(schema: bytes, source: str) -> Validator:
    """The validator of an encoded JSON Schema: its draft by `$schema`, else 2020-12; formats are checked.

    Raises SpecError that names `source`, the place in the schema and what is wrong there. Beside a `$ref` that
    leads nowhere these are an unknown `$schema`, and nesting over 255 levels. Errors of the validator call the
    value that they are about "it", and carry it as `instance`.
    """
    try:
        decoded = msgspec.json.decode(schema, type=dict[str, object])
        return jsonschema_rs.validator_for(decoded, retriever=_refuse, mask="it", validate_formats=True)
    except jsonschema_rs.ValidationError as error:
        place = "".join(f"[{part!r}]" for part in error.instance_path)
        value = "" if error.instance is None else f" = {str(error.instance)[:_SHOWN_CHARS]!r}"
        raise SpecError(source, f"is no JSON Schema that can be used: schema{place}{value}: {error.message}") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(source, f"is no JSON Schema that can be used: {error}") from error


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} lies outside the schema: put what it refers to under $defs")
