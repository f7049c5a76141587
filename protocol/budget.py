"""The one meter: what a node of a tree may spend, has spent, holds and has given away.

Theory of operation (DESIGN section 4). Five *consumed* dimensions. For each of them, at every node:

    available = limit - spent - held - granted

    mint     moves from the parent's available into a child's limit     (parent.granted grows)
    hold     sets aside the worst case of a call before it is made      (held grows)
    commit   replaces that hold by what was really used                 (held shrinks, spent grows)
    settle   when a child ends: what it spent becomes ours, the rest is available again

The law: `spent + held + granted <= limit + overshoot` at every instant. The overshoot is zero until a
provider uses more than the estimate that was held for its call, and then records the most by which the
limit was ever passed; a hold or a mint never adds to it. A meter is a frozen value; every operation returns
a new one or raises BudgetExceeded and changes nothing. A limit of None is not enforced (cost without a
price, cpu unless set): it is never the same as zero.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec

from protocol.errors import CoveyError

DIMENSIONS = ("steps", "tokens", "tool_calls", "cost_microusd", "cpu_s")

MAX_COUNT = 2**53 - 1
"""The largest whole number on the wire: the largest that every JSON reader keeps exact."""

Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
NumberT = TypeVar("NumberT", int, float)


def whole_microseconds(seconds: float) -> float:
    """`seconds` rounded to 1e-6. Sums of such values, rounded again, are exact: cpu time never drifts."""
    return round(seconds, 6)


class Amounts(msgspec.Struct, frozen=True):
    """An amount in each consumed dimension: model turns, tokens, calls, millionths of a US dollar, CPU seconds.

    `cpu_s` is kept in whole microseconds. Nothing negative can be decoded.
    """

    steps: Count = 0
    tokens: Count = 0
    tool_calls: Count = 0
    cost_microusd: Count = 0
    cpu_s: Seconds = 0.0

    def __post_init__(self) -> None:
        if self.cpu_s:
            msgspec.structs.force_setattr(self, "cpu_s", whole_microseconds(self.cpu_s))

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(
            self.steps + other.steps,
            self.tokens + other.tokens,
            self.tool_calls + other.tool_calls,
            self.cost_microusd + other.cost_microusd,
            self.cpu_s + other.cpu_s,
        )

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(
            self.steps - other.steps,
            self.tokens - other.tokens,
            self.tool_calls - other.tool_calls,
            self.cost_microusd - other.cost_microusd,
            self.cpu_s - other.cpu_s,
        )

    def of(self, dimension: str) -> float:
        """The amount in one dimension, by name."""
        amount: float = getattr(self, dimension)
        return amount

    def is_zero(self) -> bool:
        return not any(self.of(d) for d in DIMENSIONS)


class Ceiling(msgspec.Struct, frozen=True):
    """An upper bound in each consumed dimension, units as in Amounts. None is not enforced."""

    steps: Count | None = None
    tokens: Count | None = None
    tool_calls: Count | None = None
    cost_microusd: Count | None = None
    cpu_s: Seconds | None = None

    def __post_init__(self) -> None:
        if self.cpu_s:
            msgspec.structs.force_setattr(self, "cpu_s", whole_microseconds(self.cpu_s))

    def of(self, dimension: str) -> float | None:
        """The bound in one dimension, by name."""
        bound: float | None = getattr(self, dimension)
        return bound


class BudgetExceeded(CoveyError):
    """An amount does not fit. `dimension` is the first that fails, in the order of DIMENSIONS."""

    def __init__(self, dimension: str, wanted: float, available: float) -> None:
        self.dimension = dimension
        self.wanted = wanted
        self.available = available
        super().__init__(f"{dimension}: {wanted} wanted, {available} available")


class Meter(msgspec.Struct, frozen=True):
    """One node's account. `charged_unknown` is the part of `spent` whose true use nobody could tell.

    `overshoot` is the most by which a limit was ever passed, where it is enforced.
    """

    limit: Ceiling
    spent: Amounts = Amounts()
    held: Amounts = Amounts()
    granted: Amounts = Amounts()
    charged_unknown: Amounts = Amounts()
    overshoot: Amounts = Amounts()

    def committed(self) -> Amounts:
        """spent + held + granted."""
        return self.spent + self.held + self.granted

    def available(self, dimension: str) -> float | None:
        """What is left in a dimension, never below zero; None where it is not enforced."""
        bound = self.limit.of(dimension)
        return None if bound is None else max(0, whole_microseconds(bound - self.committed().of(dimension)))

    def over(self) -> str | None:
        """The first dimension in which more is committed than allowed, or None."""
        committed = self.committed()
        for dimension in DIMENSIONS:
            bound = self.limit.of(dimension)
            if bound is not None and committed.of(dimension) > bound:
                return dimension
        return None

    def hold(self, amounts: Amounts) -> Meter:
        """Set `amounts` aside. Raises BudgetExceeded if one dimension does not fit."""
        self._require(amounts)
        return msgspec.structs.replace(self, held=self.held + amounts)

    def release(self, held: Amounts) -> Meter:
        """Give back a hold that was not used at all."""
        return self.commit(held, Amounts())

    def commit(self, held: Amounts, used: Amounts) -> Meter:
        """Replace a hold by what was used, which may be more than was held: reported use is a fact."""
        _require_part("held", held, self.held)
        _require_positive(used)
        return self._after(held=self.held - held, spent=self.spent + used)

    def mint(self, amounts: Amounts) -> Meter:
        """Move `amounts` to a child. Raises BudgetExceeded if one dimension does not fit."""
        self._require(amounts)
        return msgspec.structs.replace(self, granted=self.granted + amounts)

    def settle(self, granted: Amounts, child: Meter) -> Meter:
        """Take back a child's grant and carry what it spent; its open holds are charged as unknown.

        Raises ValueError for a child that has grants out itself: the deepest settle first, or spend is lost.
        """
        _require_part("granted", granted, self.granted)
        if not child.granted.is_zero():
            raise ValueError("the child has grants out: settle what is below it first")
        closed = child.charge_open_holds()
        return self._after(
            granted=self.granted - granted,
            spent=self.spent + closed.spent,
            charged_unknown=self.charged_unknown + closed.charged_unknown,
        )

    def charge_open_holds(self) -> Meter:
        """At an end that nobody saw coming: what was held counts as spent, and is marked as unknown."""
        return msgspec.structs.replace(
            self,
            held=Amounts(),
            spent=self.spent + self.held,
            charged_unknown=self.charged_unknown + self.held,
        )

    def report(self, spent: Amounts, held: Amounts) -> Meter:
        """Adopt absolute figures that the node itself reported; what is spent never goes back."""
        _require_positive(spent)
        _require_positive(held)
        return self._after(spent=_highest(self.spent, spent), held=held)

    def regrant(self, limit: Ceiling, granted: Amounts) -> Meter:
        """Adopt a new limit and what is minted from it, both absolute. A limit below what is committed is recorded."""
        return self._after(limit=limit, granted=granted)

    def check_invariants(self) -> None:
        """Raise AssertionError where the law does not hold."""
        excess = _excess(self.committed(), self.limit)
        for dimension in DIMENSIONS:
            for part in (self.spent, self.held, self.granted, self.charged_unknown, self.overshoot):
                assert part.of(dimension) >= 0, f"{dimension}: negative"
            assert self.charged_unknown.of(dimension) <= self.spent.of(dimension), f"{dimension}: unknown above spent"
            assert excess.of(dimension) <= self.overshoot.of(dimension), f"{dimension}: committed above the limit"

    def _after(self, **changes: Amounts | Ceiling) -> Meter:
        """This meter with changes that reported use brought about: an excess over the limit is recorded."""
        changed = msgspec.structs.replace(self, **changes)
        overshoot = _highest(changed.overshoot, _excess(changed.committed(), changed.limit))
        return msgspec.structs.replace(changed, overshoot=overshoot)

    def _require(self, amounts: Amounts) -> None:
        _require_positive(amounts)
        for dimension in DIMENSIONS:
            wanted = amounts.of(dimension)
            left = self.available(dimension)
            if wanted and left is not None and wanted > left:
                raise BudgetExceeded(dimension, wanted, left)


def _require_positive(amounts: Amounts) -> None:
    for dimension in DIMENSIONS:
        if amounts.of(dimension) < 0:
            raise ValueError(f"{dimension}: {amounts.of(dimension)} is negative")


def _require_part(name: str, part: Amounts, whole: Amounts) -> None:
    _require_positive(part)
    for dimension in DIMENSIONS:
        if part.of(dimension) > whole.of(dimension):
            raise ValueError(f"{dimension}: takes {part.of(dimension)} out of {whole.of(dimension)} {name}")


def _excess(committed: Amounts, limit: Ceiling) -> Amounts:
    """What is committed above each limit that is enforced."""
    return Amounts(
        _above(committed.steps, limit.steps),
        _above(committed.tokens, limit.tokens),
        _above(committed.tool_calls, limit.tool_calls),
        _above(committed.cost_microusd, limit.cost_microusd),
        _above(committed.cpu_s, limit.cpu_s),
    )


def _above(amount: NumberT, bound: NumberT | None) -> NumberT:
    return amount - min(amount, amount if bound is None else bound)


def _highest(a: Amounts, b: Amounts) -> Amounts:
    return Amounts(
        max(a.steps, b.steps),
        max(a.tokens, b.tokens),
        max(a.tool_calls, b.tool_calls),
        max(a.cost_microusd, b.cost_microusd),
        max(a.cpu_s, b.cpu_s),
    )
