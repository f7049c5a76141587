"""What this agent has used and holds: the meter of protocol.budget, with the detail that a record shows.

Arithmetic only. The run journals a hold before the request leaves and reports the meter after each change.
"""

from __future__ import annotations

from protocol.budget import Amounts, Meter
from protocol.frames import Grant
from protocol.limits import Limits
from protocol.record import Usage
from subagent.models.types import TurnUsage


class Account:
    """The account of one agent."""

    def __init__(self, limits: Limits) -> None:
        self.meter = Meter(limits.ceiling())
        self._tokens_in = 0
        self._tokens_out = 0
        self._tokens_cached = 0
        self._tokens_estimated = 0

    def hold(self, amounts: Amounts) -> None:
        """Set aside the worst case of a call. Raises BudgetExceeded."""
        self.meter = self.meter.hold(amounts)

    def commit_turn(self, held: Amounts, used: TurnUsage) -> Amounts:
        """An accepted reply: one step and its tokens. Returns what was committed."""
        return self._commit(held, used, steps=1)

    def commit_failure(self, held: Amounts, used: TurnUsage | None) -> Amounts:
        """A failed attempt costs no step; its tokens count where there were any."""
        return self._commit(held, used or TurnUsage(0, 0), steps=0)

    def charge_hold(self, held: Amounts) -> None:
        """Nobody can tell what an interrupted call used: all that was held for it is charged, and marked."""
        tokens = Amounts(tokens=held.tokens)
        self.meter = self.meter.release(held).hold(tokens).charge_open_holds()

    def count_call(self) -> None:
        """One tool call is about to run."""
        call = Amounts(tool_calls=1)
        self.meter = self.meter.hold(call).commit(call, call)

    def adopt(self, grant: Grant) -> None:
        """The supervisor changed the grant: absolute figures."""
        self.meter = self.meter.regrant(grant.limit, grant.granted)

    def usage(self) -> Usage:
        """The figures of a record. The supervisor fills in what only it can know: cpu_s and tree_tokens."""
        spent, unknown = self.meter.spent, self.meter.charged_unknown
        return Usage(
            steps=spent.steps,
            tokens=spent.tokens,
            tokens_in=self._tokens_in,
            tokens_out=self._tokens_out,
            tokens_cached=self._tokens_cached,
            tokens_estimated=self._tokens_estimated + unknown.tokens,
            charged_unknown=unknown.tokens,
            tree_tokens=spent.tokens + self.meter.granted.tokens,
            tool_calls=spent.tool_calls,
        )

    def _commit(self, held: Amounts, used: TurnUsage, steps: int) -> Amounts:
        self._tokens_in += used.tokens_in
        self._tokens_out += used.tokens_out
        self._tokens_cached += used.tokens_cached
        self._tokens_estimated += used.tokens if used.estimated else 0
        amounts = Amounts(steps=steps, tokens=used.tokens)
        self.meter = self.meter.commit(held, amounts)
        return amounts
