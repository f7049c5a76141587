"""Names of runs and agents: their shape, and nothing else.

A run id names a folder, so its alphabet is closed (supervision.md check 93: ids like `../../x` must never
reach a path). An agent's path is minted by the supervisor: `0` is the root, `0.2` its second child.
"""

from __future__ import annotations

import re
from typing import NewType

from protocol.errors import SpecError

RunId = NewType("RunId", str)
AgentPath = NewType("AgentPath", str)

ROOT_PATH = AgentPath("0")

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_RUN_ID_DIGITS = 17


def parse_run_id(text: str) -> RunId:
    """`text` as a run id. Raises SpecError unless it is 1 to 64 letters, digits, `-` or `_`."""
    if not _RUN_ID.fullmatch(text):
        raise SpecError("run id", f"{text[:80]!r}: give 1 to 64 letters, digits, '-' or '_', the first no '-' or '_'")
    return RunId(text)


def make_run_id(at_ms: int, entropy: bytes) -> RunId:
    """A new run id that sorts by time until the year 3000: `at_ms` is Unix milliseconds, `entropy` 5 random bytes."""
    number = (at_ms << 40) | int.from_bytes(entropy[:5], "big")
    digits = []
    while number:
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return RunId("r" + "".join(reversed(digits)).rjust(_RUN_ID_DIGITS, _ALPHABET[0]))
