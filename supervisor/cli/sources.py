"""Where the task comes from: an argument, a file, standard input or a contract. Bounded, UTF-8, never empty."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import msgspec

from protocol.contract import Contract, JsonFormat, parse_contract
from protocol.errors import SpecError
from protocol.frames import MAX_INLINE_BYTES

MAX_CONTRACT_BYTES = 256 * 1024
"""A contract travels whole inside the `spawn` frame, whose line ends at 1 MiB."""

STDIN = "-"
_STDIN_NAME = "standard input"


class TaskFlags(msgspec.Struct, frozen=True):
    """What the command line says of the task. None: not given."""

    instruction: str | None = None
    file: str | None = None
    contract: str | None = None


def read_task(flags: TaskFlags) -> Contract:
    """The one contract that the flags make. An instruction beside a contract replaces its objective.

    Raises SpecError for no source, for two, and for one that cannot be used. Reads standard input only
    when nothing else is wrong with the sources.
    """
    if flags.instruction is not None and flags.file is not None:
        raise SpecError("INSTRUCTION", "is given twice: as an argument and with -f; keep one of them")
    contract = None if flags.contract is None else read_contract(flags.contract)
    if flags.instruction is None and flags.file is None:
        if contract is None:
            raise SpecError(
                "INSTRUCTION",
                "is missing: give it as an argument, with -f FILE, as - for standard input, or in a --contract",
            )
        return contract
    objective = _read_instruction(flags)
    return Contract(objective) if contract is None else msgspec.structs.replace(contract, objective=objective)


def read_contract(path: str) -> Contract:
    """A contract file, its schema compiled, its artifacts inside the workspace. Raises SpecError naming the field."""
    contract = parse_contract(_read_file("--contract", path, MAX_CONTRACT_BYTES), path)
    if contract.probes:
        raise SpecError(f"{path}: probes", "commands cannot be run by this version: take the probes out")
    for artifact in contract.artifacts:
        if not artifact or artifact.startswith("/") or ".." in artifact.split("/"):
            raise SpecError(f"{path}: artifacts", f"{artifact!r} must be a path inside the workspace")
    if isinstance(contract.output_format, JsonFormat):
        from protocol.schema_check import compile_schema  # its library is loaded for a JSON contract only

        compile_schema(bytes(contract.output_format.json), f"{path}: output_format")
    return contract


def _read_instruction(flags: TaskFlags) -> str:
    if STDIN in (flags.instruction, flags.file):
        return _as_instruction(_STDIN_NAME, _read_standard_input())
    if flags.file is not None:
        return _as_instruction(f"-f {flags.file}", _read_file("-f", flags.file, MAX_INLINE_BYTES))
    return _as_instruction("INSTRUCTION", os.fsencode(flags.instruction or ""))


def _read_standard_input() -> bytes:
    if sys.stdin is None:  # Python's way to say that the caller closed it
        raise SpecError(_STDIN_NAME, "is closed: give the instruction as an argument or with -f FILE")
    try:
        return sys.stdin.buffer.read(MAX_INLINE_BYTES + 1)
    except OSError as error:
        raise SpecError(_STDIN_NAME, f"cannot be read: {error.strerror}") from error


def _as_instruction(source: str, raw: bytes) -> str:
    if len(raw) > MAX_INLINE_BYTES:
        raise SpecError(
            source, f"is longer than {MAX_INLINE_BYTES} bytes: put it in a file of the workspace, and name that file"
        )
    try:
        instruction = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(source, f"is not UTF-8 (byte {error.start})") from error
    if not instruction.strip():
        raise SpecError(source, "is empty: say what the agent is to do")
    return instruction


def _read_file(flag: str, path: str, max_bytes: int) -> bytes:
    """At most one byte more than `max_bytes` of a file or a pipe."""
    try:
        with Path(path).open("rb") as opened:
            if stat.S_ISDIR(os.fstat(opened.fileno()).st_mode):
                raise IsADirectoryError
            content = opened.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such file"
        raise SpecError(flag, f"cannot read {path!r}: {reason}") from error
    if len(content) > max_bytes:
        raise SpecError(flag, f"{path!r} is longer than {max_bytes} bytes")
    return content
