"""The one meter: what a node of a tree may spend, has spent, holds and has given away.

Theory of operation (DESIGN section 4). Five *consumed* dimensions. For each of them, at every node:

    available = limit - spent - held - granted

    mint     moves from the parent's available into a child's limit     (parent.granted grows)
    hold     sets aside the worst case of a call before it is made      (held grows)
    commit   replaces that hold by what was really used                 (held shrinks, spent grows)
    settle   when a child ends: what it spent becomes ours, the rest is available again

The law: `spent + held + granted <= limit` at every instant, with one exception that is recorded as such:
a provider may use more than the estimate it was given, once a call. A meter is a frozen value; every
operation returns a new one or raises BudgetExceeded and changes nothing. A limit of None is not enforced
(cost without a price, cpu unless set): it is never the same as zero.
"""

from __future__ import annotations

import msgspec

from protocol.errors import CoveyError

DIMENSIONS = ("steps", "tokens", "tool_calls", "cost_microusd", "cpu_s")


class Amounts(msgspec.Struct, frozen=True, forbid_unknown_fields=False):
    """An amount in each consumed dimension: model turns, tokens, calls, millionths of a US dollar, CPU seconds."""

    steps: int = 0
    tokens: int = 0
    tool_calls: int = 0
    cost_microusd: int = 0
    cpu_s: float = 0.0

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

    steps: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    cost_microusd: int | None = None
    cpu_s: float | None = None

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
        super().__init__(f"{dimension}: {wanted:g} wanted, {available:g} available")


class Meter(msgspec.Struct, frozen=True):
    """One node's account. `charged_unknown` is the part of `spent` whose true use nobody could tell."""

    limit: Ceiling
    spent: Amounts = Amounts()
    held: Amounts = Amounts()
    granted: Amounts = Amounts()
    charged_unknown: Amounts = Amounts()

    def committed(self) -> Amounts:
        """spent + held + granted."""
        return self.spent + self.held + self.granted

    def available(self, dimension: str) -> float | None:
        """What is left in a dimension, never below zero; None where it is not enforced."""
        bound = self.limit.of(dimension)
        return None if bound is None else max(0, bound - self.committed().of(dimension))

    def over(self) -> str | None:
        """The first dimension in which more is committed than allowed, or None."""
        committed = self.committed()
        for dimension in DIMENSIONS:
            bound = self.limit.of(dimension)
            if bound is not None and committed.of(dimension) > bound:
                return dimension
        return None

    def spent_out(self) -> str | None:
        """The first dimension whose limit is reached by what is spent, or None."""
        for dimension in DIMENSIONS:
            bound = self.limit.of(dimension)
            if bound is not None and self.spent.of(dimension) >= bound:
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
        self._require_held(held)
        return msgspec.structs.replace(self, held=self.held - held, spent=self.spent + used)

    def mint(self, amounts: Amounts) -> Meter:
        """Move `amounts` to a child. Raises BudgetExceeded if one dimension does not fit."""
        self._require(amounts)
        return msgspec.structs.replace(self, granted=self.granted + amounts)

    def settle(self, granted: Amounts, child: Meter) -> Meter:
        """Take back a child's grant and carry what it spent; its open holds are charged as unknown."""
        closed = child.charge_open_holds()
        return msgspec.structs.replace(
            self,
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
        """Adopt absolute figures that the node itself reported; figures never go back."""
        return msgspec.structs.replace(self, spent=_highest(self.spent, spent), held=held)

    def check_invariants(self) -> None:
        """Raise AssertionError where the law does not hold. A spend over the limit shows nothing else is committed."""
        for dimension in DIMENSIONS:
            for part in (self.spent, self.held, self.granted, self.charged_unknown):
                assert part.of(dimension) >= 0, f"{dimension}: negative"
            assert self.charged_unknown.of(dimension) <= self.spent.of(dimension), f"{dimension}: unknown above spent"

    def _require(self, amounts: Amounts) -> None:
        for dimension in DIMENSIONS:
            wanted = amounts.of(dimension)
            if wanted < 0:
                raise ValueError(f"{dimension}: {wanted} is negative")
            left = self.available(dimension)
            if wanted and left is not None and wanted > left:
                raise BudgetExceeded(dimension, wanted, left)

    def _require_held(self, held: Amounts) -> None:
        for dimension in DIMENSIONS:
            if held.of(dimension) > self.held.of(dimension):
                raise ValueError(f"{dimension}: commits {held.of(dimension)} of {self.held.of(dimension)} held")


def _highest(a: Amounts, b: Amounts) -> Amounts:
    return Amounts(
        max(a.steps, b.steps),
        max(a.tokens, b.tokens),
        max(a.tool_calls, b.tool_calls),
        max(a.cost_microusd, b.cost_microusd),
        max(a.cpu_s, b.cpu_s),
    )
