"""What a JSON Schema finds wrong with an answer, as sentences that name the place, what is expected and what came."""

from __future__ import annotations

from collections.abc import Iterator

import jsonschema_rs

from protocol.schema_check import compile_schema
from subagent.verify.answer import JsonValue
from subagent.verify.sentence import cut, place, shown_value

_FORMS = 4
"""How many of the forms that anyOf or oneOf allow are told of."""

_Kind = jsonschema_rs.ValidationErrorKind


class SchemaCheck:
    """One compiled schema."""

    def __init__(self, schema: bytes, source: str) -> None:
        """Raises SpecError that names `source`."""
        self._validator = compile_schema(schema, source)

    def problems(self, value: JsonValue) -> Iterator[str]:
        """A sentence for each error; none if the schema accepts the value."""
        return (_sentence(error) for error in self._validator.iter_errors(value))


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    told = f"{place(error.instance_path)}: {cut(error.message)}"
    if not isinstance(error.instance, dict | list) or isinstance(error.kind, _Kind.Type):
        told += f" (got {shown_value(error.instance)})"
    if isinstance(error.kind, _Kind.AnyOf | _Kind.OneOfNotValid):
        forms = [_sentence(form[0]) for form in error.kind.context[:_FORMS] if form]
        told += f": either {' or '.join(forms)}"
    return told
