"""One model call of a turn, with its attempts: hold, journal, call, commit.

Order (RULINGS "Journal order"): the hold is durable before the request leaves, the reply before its first tool
runs. A failed attempt costs no step; its tokens count. What failed for good is an event for the brain.
"""

from __future__ import annotations

import random
import time

import msgspec

from protocol.budget import Amounts, BudgetExceeded
from protocol.frames import Event, Throttled
from protocol.journal.entries import CallFailed, CallIntent, Held, Replied
from protocol.status import Detail
from subagent.brain import ends
from subagent.brain.caps import output_cap
from subagent.brain.events import ModelGone
from subagent.cancel import CancelRaised
from subagent.models.failure import gone, past_deadline
from subagent.models.retry import GiveUp, Retry, decide
from subagent.models.types import AssistantTurn, CallOptions, Copying, ModelError, Wire
from subagent.run import Run


class ReplyShape(msgspec.Struct, frozen=True):
    """What a constrained model may reply this turn; the fields are those of CallOptions."""

    may_answer: bool = True
    copying: Copying | None = None
    argument_sources: tuple[str, ...] = ()


class ModelCaller:
    """Calls the model for one run. Raises CancelRaised; every other end of a call is a value."""

    def __init__(self, run: Run, wire: Wire) -> None:
        self._run = run
        self._wire = wire

    def ask(self, turn: int, shape: ReplyShape) -> AssistantTurn | ModelGone:
        """One turn's reply, after at most `policy.model_attempts` attempts."""
        attempt = 1
        while True:
            if not self._run.hears_supervisor():
                return past_deadline("no ping came before the deadline")
            try:
                held = self._hold(turn, attempt)
            except BudgetExceeded as error:
                return _spent(error)
            try:
                return self._call(turn, attempt, held, shape)
            except ModelError as error:
                self._fail(turn, attempt, held, error)
                ruling = self._rule(error, attempt)
                if isinstance(ruling, GiveUp):
                    return gone(error, now_s=time.monotonic(), deadline_s=self._run.deadline_s)
                self._back_off(turn, attempt, error, ruling.delay_s)
                attempt += 1

    def _hold(self, turn: int, attempt: int) -> Amounts:
        run = self._run
        cap = output_cap(run.situation(), run.spawn.model.max_output)
        held = Amounts(steps=1, tokens=run.conversation.prompt_estimate() + cap)
        run.account.hold(held)
        run.write(Held(turn, attempt, held))
        run.emit(
            "intel.call",
            turn=turn,
            attempt=attempt,
            request_bytes=run.conversation.size_bytes,
            estimated_tokens=held.tokens,
        )
        run.report()
        return held

    def _call(self, turn: int, attempt: int, held: Amounts, shape: ReplyShape) -> AssistantTurn:
        run = self._run
        options = CallOptions(
            max_output=held.tokens - run.conversation.prompt_estimate(),
            timeout_s=run.policy.call_timeout_s,
            deadline_s=run.deadline_s,
            may_answer=shape.may_answer,
            copying=shape.copying,
            argument_sources=shape.argument_sources,
            attempt=attempt,
        )
        began_s = time.monotonic()
        reply: AssistantTurn | None = None
        run.control.busy_with("model", run.policy.call_timeout_s)
        try:
            with run.gate.region():
                reply = self._wire.call(run.conversation.encoded, options, self._show)
        except CancelRaised:
            if reply is None:
                self._charge(turn, attempt, held)
            else:  # it came, and the cancel behind it: what it cost is known
                self._accept(turn, held, reply, time.monotonic() - began_s)
            raise
        finally:
            run.control.busy_with("think", run.policy.call_timeout_s)
        self._accept(turn, held, reply, time.monotonic() - began_s)
        return reply

    def _charge(self, turn: int, attempt: int, held: Amounts) -> None:
        run = self._run
        run.account.charge_hold(held)
        run.write(CallFailed(turn, attempt, "cancelled", Amounts(tokens=held.tokens)))
        run.report()

    def _accept(self, turn: int, held: Amounts, reply: AssistantTurn, elapsed_s: float) -> None:
        run, usage = self._run, reply.usage
        used = run.account.commit_turn(held, usage)
        run.write(
            Replied(
                turn=turn,
                text=reply.text,
                calls=tuple(CallIntent(call.id, call.name, call.arguments) for call in reply.calls),
                stop=reply.stop,
                used=used,
                tokens_in=usage.tokens_in,
                tokens_out=usage.tokens_out,
                tokens_cached=usage.tokens_cached,
                estimated=usage.estimated,
                wire_faults=_faults(reply),
            )
        )
        run.emit(
            "intel.result",
            turn=turn,
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            tokens_cached=usage.tokens_cached,
            estimated=usage.estimated,
            stop=reply.stop,
            calls=len(reply.calls),
            text_chars=len(reply.text),
            elapsed_ms=round(elapsed_s * 1000),
        )
        run.report()

    def _fail(self, turn: int, attempt: int, held: Amounts, error: ModelError) -> None:
        run = self._run
        used = run.account.commit_failure(held, error.usage)
        run.write(CallFailed(turn, attempt, error.kind, used))
        run.report()
        if error.retry_after_s is not None:
            run.control.send(Throttled(run.spawn.model.name, error.retry_after_s))

    def _rule(self, error: ModelError, attempt: int) -> Retry | GiveUp:
        return decide(
            error,
            attempt=attempt,
            attempts=self._run.policy.model_attempts,
            now_s=time.monotonic(),
            deadline_s=self._run.deadline_s,
            jitter=random.random(),  # noqa: S311 - jitter, not a secret
        )

    def _back_off(self, turn: int, attempt: int, error: ModelError, delay_s: float) -> None:
        run = self._run
        run.emit("intel.retry", turn=turn, attempt=attempt, kind=error.kind, delay_ms=round(delay_s * 1000))
        run.control.flush()
        run.control.busy_with("wait", delay_s)
        with run.gate.region():
            time.sleep(delay_s)

    def _show(self, text: str) -> None:
        if self._run.spawn.telemetry.deltas:
            with self._run.gate.shielded():
                self._run.control.send(Event("intel.delta", {"text": text}))


def _spent(error: BudgetExceeded) -> ModelGone:
    """Failed attempts used up what a further one would have to hold."""
    end = ends.spent(error.dimension)
    return ModelGone(end.status, end.detail or Detail.TOKENS, about=str(error))


def _faults(reply: AssistantTurn) -> tuple[str, ...]:
    """The typed faults of a reply, for its journal entry."""
    faults = [str(call.fault) for call in reply.calls if call.fault is not None]
    return (*faults, str(reply.reply_fault)) if reply.reply_fault is not None else tuple(faults)
