"""The JSON Schema of what a constrained text model may reply: one of its tools' calls, or the final answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from subagent.models.types import ToolSchema

_TEXT_ANSWER = b'{"type":"string"}'


class ActionSchemas(msgspec.Struct, frozen=True):
    """Two JSON Schemas, encoded: of any action, and of tool actions alone (the same where there is no tool)."""

    any_action: bytes
    tool_action: bytes

    @classmethod
    def compose(cls, tools: Sequence[ToolSchema], answer_schema: bytes | None) -> ActionSchemas:
        """The schemas for `tools` and an answer that satisfies `answer_schema` (None: any string)."""
        definitions: dict[str, object] = {}
        calls = [_call(tool, _embedded(tool.name, bytes(tool.parameters), definitions)) for tool in tools]
        final = _final(_embedded("answer", answer_schema or _TEXT_ANSWER, definitions))
        return cls(_one_of([*calls, final], definitions), _one_of(calls or [final], definitions))

    def for_call(self, may_answer: bool) -> bytes:
        """The schema of one call."""
        return self.any_action if may_answer else self.tool_action


def _one_of(choices: list[object], definitions: dict[str, object]) -> bytes:
    schema: dict[str, object] = {"oneOf": choices}
    if definitions:
        schema["$defs"] = definitions
    return msgspec.json.encode(schema)


def _call(tool: ToolSchema, parameters: object) -> object:
    return _object({"action": {"const": "tool"}, "tool": {"const": tool.name}, "args": parameters})


def _final(answer: object) -> object:
    return _object({"action": {"const": "final"}, "answer": answer})


def _object(properties: dict[str, object]) -> object:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _embedded(name: str, schema: bytes, definitions: dict[str, object]) -> object:
    """`schema` as part of a larger one. Where it refers to itself it moves to `$defs`, and its references with it."""
    decoded = msgspec.json.decode(schema)
    if b'"$ref"' not in schema:
        return decoded
    key = f"{name}_schema"
    definitions[key] = _rebased(decoded, f"#/$defs/{key}")
    return {"$ref": f"#/$defs/{key}"}


def _rebased(schema: object, root: str) -> object:
    if isinstance(schema, list):
        return [_rebased(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _rebased_reference(key, value, root) for key, value in schema.items()}


def _rebased_reference(key: str, value: object, root: str) -> object:
    if key == "$ref" and isinstance(value, str) and value.startswith("#"):
        return root + value[1:]
    return _rebased(value, root)
