"""How large a JSON Schema is once its references are followed. Pure.

A validator visits what a `$ref` leads to each time, so a few lines that refer to each other several times, level by
level, can stand for billions of subschemas. The validator holds the interpreter while it works: nothing could
stop it. Counted is what one value may be held against in the worst case; lists in the value multiply it.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

MAX_SUBSCHEMAS = 10_000
"""About a quarter of a second for the validator, if every one of them fails."""

_NAMES = ("$id", "$anchor", "$dynamicAnchor")
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_NO_SCHEMAS = frozenset({"$defs", "definitions", "enum", "const", "default", "examples"})
"""Values, and schemas that count only where something refers to them."""


Schema = dict[str, object]
"""A decoded JSON Schema: its keys are the standard's, so it has no struct."""


def expanded_size(schema: Schema) -> int:
    """The number of subschemas with every reference followed. One that leads back to where it stands counts once.

    So the schema of a tree is small. References that lead nowhere, or to another document, count as nothing.
    """
    references = _References(schema)
    sizes: dict[int, int] = {}
    entered: set[int] = set()
    pending = [schema]
    while pending:
        part = pending[-1]
        if id(part) in sizes:
            pending.pop()
            continue
        inner = list(_applied(part, references))
        if id(part) in entered:
            sizes[id(part)] = 1 + sum(sizes.get(id(each), 1) for each in inner)
        else:
            entered.add(id(part))
            pending += [each for each in inner if id(each) not in entered]
    return sizes[id(schema)]


def _applied(schema: Schema, references: _References) -> Iterator[Schema]:
    """The subschemas that a value is held against with `schema`, its own and those that it refers to."""
    for keyword, value in schema.items():
        if keyword in _REFERENCES and isinstance(value, str):
            found: list[object] = [references.find(value)]
        elif keyword in _NAMED and isinstance(value, dict):
            found = list(value.values())
        elif keyword in _NO_SCHEMAS:
            continue
        else:
            found = value if isinstance(value, list) else [value]
        yield from (part for part in found if isinstance(part, dict))


class _References:
    """Finds what the references of a document lead to inside it."""

    def __init__(self, document: Schema) -> None:
        self._document = document
        self._named: dict[str, Schema] = {}
        pending: list[object] = [document]
        while pending:
            part = pending.pop()
            if isinstance(part, dict):
                self._named.update((name, part) for key in _NAMES if isinstance(name := part.get(key), str))
            pending += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()

    def find(self, reference: str) -> object:
        """What is there, or None. A pointer is tried from the document, then from each part that has an `$id`."""
        base, _, fragment = unquote(reference).partition("#")
        if not fragment.startswith("/"):
            return self._named.get(fragment or base, None if fragment or base else self._document)
        starts = [self._named.get(base)] if base else [self._document, *self._named.values()]
        found = (_at(start, fragment) for start in starts)
        return next((part for part in found if part is not None), None)


def _at(value: object, pointer: str) -> object:
    """What a JSON pointer (RFC 6901) leads to from `value`, or None."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
