"""Texts of flags to values, strictly: what is not exactly right is refused with its fix. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from protocol.budget import MAX_COUNT
from protocol.errors import SpecError

LONGEST_S = 365 * 86_400.0

_UNITS_S = (("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001))
_DURATION = re.compile("".join(rf"(?:([0-9]{{1,9}}){unit}(?![a-z]))?" for unit, _ in _UNITS_S))


def parse_limit(flag: str, text: str) -> int:
    """A limit: a whole number above zero. Raises SpecError naming `flag`."""
    number = _whole(flag, text, "above zero")
    if number == 0:
        raise SpecError(flag, "0 is not a limit: give a whole number above zero, or leave it out for the default")
    return number


def parse_window(flag: str, text: str) -> int:
    """A context window in tokens; 0 turns its checks off. Raises SpecError naming `flag`."""
    return _whole(flag, text, "zero or above")


def _whole(flag: str, text: str, wanted: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise SpecError(flag, f"{text[:40]!r} is not a whole number, {wanted}")
    if len(text) > 16 or int(text) > MAX_COUNT:
        raise SpecError(flag, f"is larger than {MAX_COUNT}")
    return int(text)


def parse_duration(flag: str, text: str) -> float:
    """Seconds of "90s", "10m" or "1h30m" (units d h m s ms, falling). Raises SpecError naming `flag`."""
    if text.isascii() and text.isdigit():
        raise SpecError(flag, f"{text[:20]!r} has no unit: write {text[:20]}s for seconds or {text[:20]}m for minutes")
    matched = _DURATION.fullmatch(text) if text else None
    if matched is None:
        raise SpecError(flag, f"{text[:40]!r} is no duration: write it like 90s, 10m or 1h30m")
    seconds = sum(int(count) * unit_s for count, (_, unit_s) in zip(matched.groups(), _UNITS_S, strict=True) if count)
    if not 0 < seconds <= LONGEST_S:
        raise SpecError(flag, f"{text[:40]!r} must be above zero and at most 365d")
    return seconds


def parse_choice(flag: str, text: str, choices: Sequence[str]) -> str:
    """`text` if it is one of `choices`. Raises SpecError with the near match."""
    if text in choices:
        return text
    near = get_close_matches(text.lower(), choices, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise SpecError(flag, f"{text[:40]!r} is none of {', '.join(choices)}{hint}")


def parse_utf8(flag: str, text: str) -> str:
    """An argument as text. Raises SpecError if the shell handed over bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SpecError(flag, "is not UTF-8") from error
    return text
