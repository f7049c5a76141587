"""Identical calls with an identical result (RULINGS "The loop").

With a cap of 3: calls 1 to 3 run, 4 to 6 are refused with a text that says so, past 6 the run ends as
loop_detected. A changed result resets the count, so honest polling and reading fifty files trip nothing.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Repeat(msgspec.Struct, frozen=True):
    """How often one call (`key` = digest of name and arguments) has had the same result in a row."""

    key: str
    result: str
    count: int


class Repeats(msgspec.Struct, frozen=True):
    """All calls of a run so far, in order of first use."""

    seen: tuple[Repeat, ...] = ()

    def count(self, key: str) -> int:
        """How often this call has had the same result in a row, refusals included."""
        return next((r.count for r in self.seen if r.key == key), 0)

    def ran(self, key: str, result: str) -> Repeats:
        """The call ran (or was answered) with a result of this digest."""
        previous = next((r for r in self.seen if r.key == key), None)
        count = previous.count + 1 if previous is not None and previous.result == result else 1
        return self._put(Repeat(key, result, count))

    def refused(self, key: str) -> Repeats:
        """The call was refused for being repeated."""
        previous = next(r for r in self.seen if r.key == key)
        return self._put(Repeat(key, previous.result, previous.count + 1))

    def _put(self, repeat: Repeat) -> Repeats:
        if not any(r.key == repeat.key for r in self.seen):
            return Repeats((*self.seen, repeat))
        return Repeats(tuple(repeat if r.key == repeat.key else r for r in self.seen))


class Ruling(StrEnum):
    """What becomes of a call that is asked for again."""

    RUN = "run"
    REFUSE = "refuse"
    LOOP = "loop"


def rule(count: int, cap: int) -> Ruling:
    """The ruling for a call whose same result was seen `count` times already."""
    if count < cap:
        return Ruling.RUN
    return Ruling.REFUSE if count < 2 * cap else Ruling.LOOP
