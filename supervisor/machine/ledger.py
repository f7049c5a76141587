"""The accounts of one run: what was minted for each agent, what it reported, how it was settled (DESIGN section 4).

The run has an account of its own; every agent's grant is minted from it and settled into it. What an agent
says of its spend is adopted, never believed to be less than before. At an end, what it still held is charged.
"""

from __future__ import annotations

from protocol.budget import MAX_COUNT, Amounts, Ceiling, Meter
from protocol.journal.entries import Minted, Settled


class Ledger:
    """The accounts of one run under one ceiling."""

    def __init__(self, ceiling: Ceiling) -> None:
        self.run = Meter(ceiling)
        self._grants: dict[str, Amounts] = {}
        self._agents: dict[str, Meter] = {}
        self._settled: set[str] = set()

    def mint(self, path: str, limit: Ceiling, deadline_s: float) -> Minted:
        """Grant `limit` to the agent at `path`, once. Raises BudgetExceeded if the run has less left."""
        grant = _amounts(limit)
        self.run = self.run.mint(grant)
        self._grants[path] = grant
        self._agents[path] = Meter(limit)
        return Minted(path=path, parent=None, limit=limit, deadline_s=deadline_s)

    def meter(self, path: str) -> Meter:
        """The account of one agent."""
        return self._agents[path]

    def report(self, path: str, spent: Amounts, held: Amounts) -> Meter:
        """Adopt absolute figures, unless the account is settled. Holds count up to where the sum is still a count."""
        if path not in self._settled:
            spent = self._agents[path].report(spent, Amounts()).spent
            self._agents[path] = self._agents[path].report(spent, _fitting_beside(spent, held))
        return self._agents[path]

    def settle(self, path: str, claimed: Amounts) -> Settled:
        """Close an account. `claimed` is the agent's last word: it may explain an open hold, never lower a figure."""
        open_meter = self._agents[path]
        unexplained = _above(open_meter.committed(), open_meter.report(claimed, Amounts()).spent)
        closed = open_meter.report(claimed, unexplained).charge_open_holds()
        self._agents[path] = closed
        self._settled.add(path)
        self.run = self.run.settle(self._grants[path], closed)
        return Settled(path=path, meter=closed)

    def check_invariants(self) -> None:
        """Raise AssertionError where the law of conservation does not hold."""
        self.run.check_invariants()
        open_grants = Amounts()
        closed_spend = Amounts()
        for path, meter in self._agents.items():
            meter.check_invariants()
            if path in self._settled:
                assert meter.held.is_zero(), f"{path}: settled with an open hold"
                closed_spend += meter.spent
            else:
                open_grants += self._grants[path]
        assert self.run.granted == open_grants, "the run's grants are not those of its open accounts"
        assert self.run.spent == closed_spend, "the run's spend is not that of its settled accounts"


def _amounts(limit: Ceiling) -> Amounts:
    return Amounts(
        limit.steps or 0, limit.tokens or 0, limit.tool_calls or 0, limit.cost_microusd or 0, limit.cpu_s or 0.0
    )


def _fitting_beside(spent: Amounts, held: Amounts) -> Amounts:
    """An agent's holds, no larger than could ever be charged. CPU time is never held: the kernel tells it."""
    return Amounts(
        min(held.steps, MAX_COUNT - spent.steps),
        min(held.tokens, MAX_COUNT - spent.tokens),
        min(held.tool_calls, MAX_COUNT - spent.tool_calls),
        min(held.cost_microusd, MAX_COUNT - spent.cost_microusd),
    )


def _above(amounts: Amounts, known: Amounts) -> Amounts:
    """What `amounts` has more than `known`, in each dimension."""
    return Amounts(
        max(0, amounts.steps - known.steps),
        max(0, amounts.tokens - known.tokens),
        max(0, amounts.tool_calls - known.tool_calls),
        max(0, amounts.cost_microusd - known.cost_microusd),
        max(0.0, amounts.cpu_s - known.cpu_s),
    )
