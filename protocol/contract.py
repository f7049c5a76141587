"""What an agent is asked for, and what its answer must satisfy (RULINGS "Surfaces": the contract file)."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec

from protocol.errors import SpecError
from protocol.nesting import MAX_NESTING, is_too_deep

_MAX_NESTING = MAX_NESTING - 1  # a contract travels inside a spawn frame


class JsonFormat(msgspec.Struct, frozen=True):
    """The answer is one JSON value that this JSON Schema accepts. Written {"json": SCHEMA}."""

    json: msgspec.Raw


TextFormat = Literal["text", "markdown"]
OutputFormat = TextFormat | JsonFormat


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

    output_format: TextFormat | JsonFormatInFile = "text"
    probes: tuple[ProbeInFile, ...] = ()


def parse_contract(text: bytes, source: str) -> Contract:
    """Read a contract file. Raises SpecError that names `source` and the field. The schema itself is not compiled."""
    if is_too_deep(text, _MAX_NESTING):
        raise SpecError(source, f"nests deeper than {_MAX_NESTING} levels")
    try:
        msgspec.json.decode(text, type=ContractFile)
        contract = msgspec.json.decode(text.decode(), type=Contract)
    except msgspec.ValidationError as error:
        _check_format(text, source)
        raise SpecError(source, f"{error}; see docs/contract.md for the fields") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SpecError(source, _where_broken(text) or str(error)) from error
    if not contract.objective.strip():
        raise SpecError(f"{source}: objective", "is empty: say what the agent is to do")
    return contract


def _check_format(text: bytes, source: str) -> None:
    """Raise SpecError with the choices if that is what is wrong with a file. What follows a bad field may be broken."""
    try:
        decoded = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return
    given = decoded.get("output_format", "text") if isinstance(decoded, dict) else "text"
    if given not in get_args(TextFormat) and not isinstance(given, dict):
        shown = msgspec.json.encode(given).decode()[:40]
        choices = ", ".join(f'"{name}"' for name in get_args(TextFormat))
        raise SpecError(f"{source}: output_format", f'{shown} is none of {choices}, {{"json": SCHEMA}}')


def _where_broken(text: bytes) -> str | None:
    """The place at which a text stops being JSON; None where the standard library, which counts lines, takes it."""
    import json  # only a broken file needs it

    try:
        json.loads(text.decode())
    except json.JSONDecodeError as found:
        return f"is no JSON: line {found.lineno}, column {found.colno}: {found.msg}"
    except UnicodeDecodeError as found:
        return f"is not UTF-8 (byte {found.start})"
    except ValueError:  # a number that is longer than Python converts
        return None
    return None
