"""What an agent is asked for, and what its answer must satisfy (RULINGS "Surfaces": the contract file)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from protocol.errors import SpecError
from protocol.nesting import MAX_NESTING, is_too_deep

_MAX_NESTING = MAX_NESTING - 1  # a contract travels inside a spawn frame


class JsonFormat(msgspec.Struct, frozen=True):
    """The answer is one JSON value that this JSON Schema accepts. Written {"json": SCHEMA}."""

    json: msgspec.Raw


OutputFormat = Literal["text", "markdown"] | JsonFormat


class Probe(msgspec.Struct, frozen=True):
    """A command whose exit code 0 is required of a finished run. Bounded by `timeout_s` seconds."""

    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 60.0


class Contract(msgspec.Struct, frozen=True):
    """One task. `artifacts` are paths in the workspace that must exist when the agent says it is done.

    `grounded`: every string and number of the answer occurs in a tool result or in the objective.
    """

    objective: str
    output_format: OutputFormat = "text"
    boundaries: tuple[str, ...] = ()
    tool_guidance: str = ""
    artifacts: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = ()
    grounded: bool = False

    def schema(self) -> bytes | None:
        """The JSON Schema of the answer, encoded, or None where the answer is text."""
        return bytes(self.output_format.json) if isinstance(self.output_format, JsonFormat) else None


class JsonFormatInFile(JsonFormat, frozen=True, forbid_unknown_fields=True):
    """JsonFormat as a user writes it."""


class ProbeInFile(Probe, frozen=True, forbid_unknown_fields=True):
    """Probe as a user writes it."""


class ContractFile(Contract, frozen=True, forbid_unknown_fields=True):
    """The same, as a file: a frame ignores unknown fields, a file that a user wrote refuses them at every level."""

    output_format: Literal["text", "markdown"] | JsonFormatInFile = "text"
    probes: tuple[ProbeInFile, ...] = ()


def parse_contract(text: bytes, source: str) -> Contract:
    """Read a contract file. Raises SpecError that names `source` and the field. The schema itself is not compiled."""
    if is_too_deep(text, _MAX_NESTING):
        raise SpecError(source, f"nests deeper than {_MAX_NESTING} levels")
    try:
        msgspec.json.decode(text, type=ContractFile)
        contract = msgspec.json.decode(text.decode(), type=Contract)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SpecError(source, f"{error}; see docs/contract.md for the fields") from error
    if not contract.objective.strip():
        raise SpecError(f"{source}: objective", "is empty: say what the agent is to do")
    return contract
