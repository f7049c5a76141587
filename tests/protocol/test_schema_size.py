"""The size of a schema is that of what a validator visits: references count as often as they are followed."""

from __future__ import annotations

import pytest

from protocol.schema_size import Schema, expanded_size

LEAF = {"type": "string"}
TWICE = {"anyOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}]}
NODE = {"properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}}}


@pytest.mark.parametrize(
    ("schema", "size"),
    [
        ({}, 1),
        ({"enum": [{"a": 1}], "const": {}, "default": {}, "required": ["a"], "properties": 5, "items": True}, 1),
        ({"items": LEAF}, 2),
        ({"anyOf": [LEAF, LEAF, True]}, 3),
        ({"properties": {"enum": LEAF, "$ref": LEAF, "$defs": LEAF}}, 4),
        ({"$defs": {"a": LEAF}}, 1),
        ({"$defs": {"a": LEAF}, "$ref": "#/$defs/a"}, 2),
        ({"$defs": {"a/b~%": LEAF}, "$ref": "#/$defs/a~1b~0%25"}, 2),
        ({"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}, 2),
        ({"$defs": {"a": {"$id": "urn:x", **LEAF}}, "$ref": "urn:x"}, 2),
        ({"$defs": {"a": {"$id": "urn:x", "$ref": "#/$defs/b", "$defs": {"b": LEAF}}}, "$ref": "urn:x"}, 3),
        ({"anyOf": [{"not": LEAF}], "allOf": [{"$ref": "#/anyOf/0/not"}]}, 5),
        ({"$ref": "#/anyOf/7"}, 1),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, 1),
        (
            {"$defs": {"a": TWICE, "b": {"anyOf": [LEAF, LEAF]}}, "anyOf": [{"$ref": "#/$defs/a"}] * 3},
            1 + 3 * (2 + 2 * 4),
        ),
    ],
)
def test_what_is_followed_is_counted_each_time(schema: Schema, size: int) -> None:
    assert expanded_size(schema) == size


def test_a_tree_is_as_large_as_one_node() -> None:
    assert expanded_size({"$ref": "#/$defs/node", "$defs": {"node": NODE}}) == 6
    assert expanded_size({"items": {"$ref": "#"}}) == 3


def test_levels_multiply() -> None:
    defs: dict[str, object] = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"} for _ in range(4)]} for n in range(200)
    }
    assert expanded_size({"$ref": "#/$defs/d0", "$defs": {**defs, "d200": {}}}) > 4**200


def test_a_long_chain_of_references_is_followed_without_recursion() -> None:
    chain: dict[str, object] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(20_000)}
    assert expanded_size({"$ref": "#/$defs/d0", "$defs": {**chain, "d20000": {}}}) == 20_002
