"""The agent's loop: ask the brain what next, do it, tell the brain what happened. It decides nothing.

Every turn: control (grants, pause, injects, cancel) -> decide -> call the model | run the batch | check the
answer -> feed. All rules are in subagent.brain; every write is in subagent.run. A cancel that interrupts a
step is fed like any other fact.
"""

from __future__ import annotations

import contextlib
import time
from typing import assert_never

import msgspec

from protocol.journal.entries import CancelSeen, Corrected, Injected
from subagent.answer import AnswerChecker
from subagent.batch import BatchRunner
from subagent.brain.ends import CONTRACT_MISSED, explain
from subagent.brain.events import (
    AnswerChecked,
    Asked,
    AskedCall,
    BatchEnded,
    BatchRefused,
    BrainEvent,
    Cancelled,
    ModelGone,
    Replied,
)
from subagent.brain.kernel import apply, decide
from subagent.brain.progress import digest
from subagent.brain.state import CallModel, CheckAnswer, Done, End, Phase, RefuseBatch, RunTools, Situation, State
from subagent.brain.wrapup import near_limit, wrap_up_text
from subagent.cancel import CancelRaised
from subagent.model_call import ModelCaller, ReplyShape
from subagent.models.types import AssistantTurn, Copying, Message, ToolCall
from subagent.reading import UNUSABLE, Reading
from subagent.run import Run


class Ending(msgspec.Struct, frozen=True):
    """What the loop hands to its caller: the end, the checked answer where there is one, and text worth keeping."""

    end: End
    result: msgspec.Raw | None
    partial: str
    about: str


class Loop:
    """One run, from its first decision to its end."""

    def __init__(
        self, run: Run, caller: ModelCaller, batch: BatchRunner, reading: Reading, checker: AnswerChecker
    ) -> None:
        self._run = run
        self._caller = caller
        self._batch = batch
        self._reading = reading
        self._checker = checker
        self._state = State()
        self._asked: dict[str, ToolCall] = {}
        self._answer = ""
        self._partial = ""
        self._about = ""
        self._missed = ""
        self._result: msgspec.Raw | None = None
        self._warned = False

    @property
    def partial(self) -> str:
        """The last text of the model that says anything."""
        return self._partial

    def run(self) -> Ending:
        """Turn until the brain says that it is done. Raises OSError if the journal cannot be written."""
        while True:
            self._take_control()
            situation = self._run.situation()
            step = decide(self._state, self._run.policy, situation)
            if isinstance(step, Done):
                return self._ending(step.end, situation)
            with contextlib.suppress(CancelRaised):  # the next round acknowledges it
                self._perform(step)

    def _ending(self, end: End, situation: Situation) -> Ending:
        if end.answered:
            return Ending(end, self._result, self._partial, "")
        about = self._missed if end == CONTRACT_MISSED else self._about or explain(end, situation)
        return Ending(end, None, self._partial, about)

    def _perform(self, step: CallModel | RunTools | RefuseBatch | CheckAnswer) -> None:
        match step:
            case CallModel(turn):
                self._call_model(turn)
            case RunTools(calls):
                self._feed(BatchEnded(self._batch.run_all(calls, self._asked)))
                self._end_step()
            case RefuseBatch(calls, dimension):
                self._batch.refuse_all(calls, self._asked, f"not run: the limit of {dimension} is reached")
                self._feed(BatchRefused(dimension))
            case CheckAnswer(declined):
                self._check_answer(declined)
            case _:
                assert_never(step)

    def _feed(self, event: BrainEvent) -> None:
        self._state = apply(self._state, event, self._run.policy)

    # ---------------------------------------------------------------- control, at the safe point of each round

    def _take_control(self) -> None:
        run = self._run
        if (cancel := run.gate.acknowledge()) is not None:
            if self._state.stop is None:
                run.write(CancelSeen(cancel.reason, cancel.dimension))
            self._feed(Cancelled(cancel.reason, cancel.dimension))
            return
        run.take_grant()
        self._wait_while_paused()
        self._take_injects()

    def _wait_while_paused(self) -> None:
        run = self._run
        if not run.control.paused.is_set():
            return
        began_s = time.monotonic()
        run.emit("loop.paused")
        run.control.flush()
        try:
            with run.gate.region():
                while run.control.paused.is_set():
                    run.control.busy_with("wait", run.spawn.limits.deadline_s)
                    run.control.wait_for_change(None)
        except CancelRaised:
            return
        finally:
            run.paused_s += time.monotonic() - began_s
        run.emit("loop.resumed")

    def _take_injects(self) -> None:
        if self._state.phase is not Phase.READY:
            return  # a message never stands between a call and its result, nor behind the last answer
        while self._run.control.injects:
            inject = self._run.control.injects.popleft()
            self._run.write(Injected(inject.id, inject.content, "applied"))
            self._run.conversation.append(Message(role="user", content=inject.content))
            self._run.emit("loop.inject", id=inject.id, applied=True)

    # ---------------------------------------------------------------- the model

    def _call_model(self, turn: int) -> None:
        self._warn_once()
        self._feed(Asked())
        reply = self._caller.ask(turn, self._shape())
        if isinstance(reply, ModelGone):
            self._about = reply.about
            self._feed(reply)
            return
        self._read(reply)
        if not self._state.batch:
            self._end_step()

    def _shape(self) -> ReplyShape:
        """Once an answer was sent back, a constrained model is offered only values that its tools have told."""
        spec = self._run.spawn
        sent_back = self._state.corrections > 0 and self._checker.grounded
        told = self._checker.tool_results() if sent_back or spec.model.copies_arguments else ()
        return ReplyShape(
            may_answer=self._checker.may_answer,
            copying=Copying(told, self._answer) if sent_back else None,
            argument_sources=(spec.contract.objective, *told) if spec.model.copies_arguments else (),
        )

    def _read(self, reply: AssistantTurn) -> None:
        self._partial = reply.text.strip() or self._partial
        if reply.reply_fault is not None:
            detail, nudge = UNUSABLE[reply.reply_fault]
            self._run.conversation.append(Message(role="user", content=nudge))
            self._feed(Replied(digest(reply.text), unusable=detail))
            return
        read = self._reading.read(reply)
        self._asked = {call.id: call for call in read.calls}
        self._answer = read.answer
        self._run.conversation.append(Message(role="assistant", content=reply.text, calls=read.calls))
        self._run.conversation.count(reply.usage)
        calls = tuple(AskedCall(call.id, digest(call.name, call.arguments), read.refusal(call)) for call in read.calls)
        self._feed(Replied(digest(reply.text), calls, finish=read.finish, declined=read.declined or reply.refused))

    def _warn_once(self) -> None:
        run = self._run
        near = None if self._warned else near_limit(run.situation(), run.started_s)
        if near is not None:
            self._warned = True
            run.conversation.append(Message(role="user", content=wrap_up_text(*near)))
            run.emit("budget.warn", dimension=near[0], left=near[1])

    def _end_step(self) -> None:
        state, meter = self._state, self._run.account.meter
        self._run.emit("loop.step", turn=state.turns - 1, calls=meter.spent.tool_calls, tokens=meter.spent.tokens)

    # ---------------------------------------------------------------- the answer

    def _check_answer(self, declined: bool) -> None:
        self._partial = self._answer.strip() or self._partial
        with self._run.gate.region():  # a large answer against large sources takes its time
            verdict = self._checker.check(self._answer)
        problems = () if declined else verdict.problems
        self._result = verdict.result
        if problems:
            self._missed = f"answer {self._state.corrections + 1} did not meet the contract: {len(problems)} problems"
            self._run.write(Corrected(self._state.turns, problems))
            self._run.emit("loop.correction", attempt=self._state.corrections + 1, problems=len(problems))
            self._run.conversation.append(Message(role="user", content=_correction(problems)))
        self._feed(AnswerChecked(len(problems)))


def _correction(problems: tuple[str, ...]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"Your answer was not accepted:\n{listed}\nCheck against the tool results and answer again."
