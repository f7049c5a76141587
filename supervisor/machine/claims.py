"""What an agent may say of its own end (RULINGS "Ends"). What contradicts itself is no end that it may choose."""

from __future__ import annotations

import msgspec

from protocol.record import Outcome
from protocol.status import Abort, Detail, TerminalStatus

_D = Detail
_S = TerminalStatus

CLAIMS: dict[tuple[TerminalStatus, Abort | None], frozenset[Detail | None]] = {
    (_S.COMPLETED, None): frozenset({None}),
    (_S.REFUSED, None): frozenset({_D.DECLINED, _D.BLOCKED, _D.REJECTED, _D.FAILED}),
    (_S.EXHAUSTED_STEPS, None): frozenset({_D.STEPS, _D.TOOL_CALLS}),
    (_S.EXHAUSTED_TOKENS, None): frozenset({_D.TOKENS, _D.COST, _D.CPU, _D.CONTEXT_WINDOW}),
    (_S.DEADLINE, None): frozenset({_D.WALL_CLOCK}),
    (_S.STALLED, None): frozenset(
        {_D.NO_PROGRESS, _D.CONTRACT, _D.EMPTY, _D.TRUNCATED, _D.PAUSED, _D.MALFORMED, _D.PLAN_PARTIAL}
    ),
    (_S.LOOP_DETECTED, None): frozenset({_D.REPEATED_CALL}),
    (_S.CANCELLED, None): frozenset({_D.SIGNAL, _D.REQUEST, _D.PARENT}),
    (_S.CRASHED, None): frozenset(
        {_D.BUG, _D.IO, _D.SETUP, _D.OOM, _D.STUCK, _D.OUTPUT, _D.INTERRUPTED, _D.INDETERMINATE}
    ),
    (_S.CRASHED, Abort.INTELLIGENCE_UNAVAILABLE): frozenset(
        {_D.AUTH, _D.REJECTED_REQUEST, _D.RATE_LIMIT, _D.SERVER, _D.TRANSPORT, _D.TIMEOUT, _D.MALFORMED}
    ),
    (_S.CRASHED, Abort.MCP_UNAVAILABLE): frozenset(
        {_D.AUTH, _D.SETUP, _D.SERVER, _D.TRANSPORT, _D.TIMEOUT, _D.MALFORMED}
    ),
}
"""(status, abort) -> details. `killed`, `exit` and `spawn` are missing: they are seen from outside alone."""


def contradiction(outcome: Outcome, json_contract: bool) -> str | None:
    """What is wrong with an agent's word on its end, or None. It quotes nothing but words of the closed sets."""
    details = CLAIMS.get((outcome.status, outcome.abort))
    if details is None:
        return f"{outcome.status} with abort {outcome.abort}"
    if outcome.detail not in details:
        beside = "" if outcome.abort is None else f" and abort {outcome.abort}"
        return f"{outcome.status} with detail {outcome.detail or 'none'}{beside}"
    if outcome.result is None:
        return "completed without a result" if outcome.status is _S.COMPLETED else None
    if not json_contract and not _is_text(outcome.result):
        return "a result that is no text, and a contract that asks for text"
    return None


def _is_text(result: msgspec.Raw) -> bool:
    try:
        msgspec.json.decode(result, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
