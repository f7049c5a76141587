"""The gate between a final answer and `completed`: what the contract asks for that the answer does not give.

Rule-based and pure: the schema, the artifacts and the grounding, never a judgement of one model by another
(DESIGN section 6). Every problem is a sentence that the model is shown, and names the place and the fix.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from protocol.contract import Contract
from protocol.errors import SpecError
from subagent.verify.answer import JsonValue, NoSingleValue, encode_json, parse_json
from subagent.verify.grounded import Sources, json_problems, text_problems

if TYPE_CHECKING:
    from subagent.verify.schema import SchemaCheck

MAX_PROBLEMS = 8
"""How many problems one verdict lists. What else is wrong shows at the next answer."""


class Facts(msgspec.Struct, frozen=True):
    """What is so when the answer comes: which of the contract's artifacts exist, and every text it may rest on."""

    artifacts_present: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class Verdict(msgspec.Struct, frozen=True):
    """`result` is the answer as a JSON value (a string for a text contract), None where there is none.

    It is there even if there are `problems`: sentences for the model. No problem means accepted.
    """

    result: msgspec.Raw | None
    problems: tuple[str, ...]


class Gate:
    """Checks the answers to one contract."""

    def __init__(self, contract: Contract) -> None:
        """Raises SpecError for a schema that cannot be compiled, and for probes, which this gate cannot run."""
        if contract.probes:
            raise SpecError("contract: probes", "cannot be run: take them out")
        self._contract = contract
        schema = contract.schema()
        self._schema = None if schema is None else _schema_check(schema)

    def check(self, answer: str, facts: Facts) -> Verdict:
        """Hold an answer against the contract."""
        if self._schema is None:
            return Verdict(encode_json(answer), _first(self._text_problems(answer, facts)))
        try:
            value = parse_json(answer)
        except NoSingleValue as error:
            return Verdict(None, _first(chain([str(error)], self._missing_artifacts(facts))))
        return Verdict(encode_json(value), _first(self._json_problems(self._schema, value, facts)))

    def _text_problems(self, text: str, facts: Facts) -> Iterator[str]:
        if not text.strip():
            yield "the answer is empty: say what you found or did"
        yield from self._missing_artifacts(facts)
        if self._contract.grounded:
            yield from text_problems(text, Sources(facts.sources))

    def _json_problems(self, schema: SchemaCheck, value: JsonValue, facts: Facts) -> Iterator[str]:
        yield from schema.problems(value)
        yield from self._missing_artifacts(facts)
        if self._contract.grounded:
            yield from json_problems(value, Sources(facts.sources))

    def _missing_artifacts(self, facts: Facts) -> Iterator[str]:
        missing = (path for path in self._contract.artifacts if path not in facts.artifacts_present)
        return (f"the file {path!r} does not exist in the workspace: write it before you answer" for path in missing)


def _schema_check(schema: bytes) -> SchemaCheck:
    from subagent.verify.schema import SchemaCheck  # only a JSON contract pays for the validator's import

    return SchemaCheck(schema, "contract: output_format.json")


def _first(problems: Iterator[str]) -> tuple[str, ...]:
    listed = tuple(islice(problems, MAX_PROBLEMS + 1))
    return listed if len(listed) <= MAX_PROBLEMS else (*listed[:MAX_PROBLEMS], "and more of this kind")
