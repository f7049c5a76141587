"""One batch of tool calls: intent before effect, outcome before the next model call, one outcome for each call.

Calls run in the order in which they were asked for; a failing call does not stop the rest. Results reach the
model in request order. Source: DESIGN section 6 "Tools", RULINGS "The loop" and "Journal order".
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from protocol.journal.entries import CallOutcome, Intent, Outcomed
from subagent.brain.events import CallEnded
from subagent.brain.progress import digest
from subagent.brain.state import PlannedCall
from subagent.cancel import CancelRaised
from subagent.models.types import Message, ToolCall
from subagent.run import Run
from subagent.tools.finish import FINISH
from subagent.tools.registry import Registry
from subagent.tools.types import PreparedCall, Tool, ToolFailed, ToolNature, ToolRefused

TOOL_DUE_S = 60.0
"""How long a workspace tool may be busy before silence counts against it."""

_STOPPED = "not run: the run was stopped first"
_UNHEARD = "not run: the supervisor was not heard of before the deadline"


class BatchRunner:
    """Runs batches for one run. After a cancel every call still has its outcome in the journal."""

    def __init__(self, run: Run, registry: Registry) -> None:
        self._run = run
        self._registry = registry

    def run_all(self, planned: Sequence[PlannedCall], asked: Mapping[str, ToolCall]) -> tuple[CallEnded, ...]:
        """Run or refuse each call, in order. Raises CancelRaised once every call has its outcome."""
        ended: list[CallEnded] = []
        while len(ended) < len(planned):
            left = planned[len(ended) :]
            if not self._may_begin(left, asked):
                return (*ended, *self.refuse_all(left, asked, _UNHEARD))
            try:
                ended.append(self._answer(left[0], asked[left[0].id]))
            except CancelRaised:
                self.refuse_all(left[1:], asked, _STOPPED)
                raise
        return tuple(ended)

    def refuse_all(
        self, planned: Sequence[PlannedCall], asked: Mapping[str, ToolCall], text: str
    ) -> tuple[CallEnded, ...]:
        """Run none of these; each is answered with `text`."""
        return tuple(self._end(asked[call.id], "not_executed", text, 0.0) for call in planned)

    def _may_begin(self, left: Sequence[PlannedCall], asked: Mapping[str, ToolCall]) -> bool:
        """Whether the supervisor is there to see the next effect; all that is left is answered if it cancels us."""
        try:
            return self._run.hears_supervisor()
        except CancelRaised:
            self.refuse_all(left, asked, _STOPPED)
            raise

    def _answer(self, planned: PlannedCall, call: ToolCall) -> CallEnded:
        if planned.refusal is not None:
            return self._end(call, "rejected", planned.refusal, 0.0)
        tool = self._registry.find(call.name)
        if isinstance(tool, str):
            return self._end(call, "rejected", tool, 0.0)
        try:
            prepared = tool.prepare(call.arguments.encode())
        except ToolRefused as refused:
            return self._end(call, "rejected", f"not run: {refused}", 0.0)
        return self._execute(call, tool, prepared)

    def _execute(self, call: ToolCall, tool: Tool, prepared: PreparedCall) -> CallEnded:
        run, nature = self._run, tool.spec.nature
        run.account.count_call()
        image = prepared.image
        run.write(
            Intent(
                call_id=call.id,
                tool=call.name,
                mutating=nature.mutating,
                repeatable=nature.repeatable,
                path=image.path if image else None,
                before_sha256=image.before_sha256 if image else None,
                after_sha256=image.after_sha256 if image else None,
            )
        )
        run.emit("tool.call", call_id=call.id, tool=call.name, args_bytes=len(call.arguments))
        run.report()
        began_s = time.monotonic()
        run.control.busy_with("tool", TOOL_DUE_S)
        content: str | None = None
        try:
            with run.gate.region():
                content = prepared.run()
        except ToolFailed as failed:
            return self._end(call, "error", f"error: {failed}", began_s)
        except CancelRaised:
            self._end_interrupted(call, content, nature, began_s)
            raise
        finally:
            run.control.busy_with("think", TOOL_DUE_S)
        return self._end(call, "ok", content, began_s, found=not nature.mutating)

    def _end_interrupted(self, call: ToolCall, content: str | None, nature: ToolNature, began_s: float) -> None:
        """A cancel that came behind the effect leaves it what it is: done."""
        if content is not None:
            self._end(call, "ok", content, began_s)
        elif nature.mutating:
            self._end(call, "unknown_effect", "interrupted, its outcome is unknown", began_s)
        else:
            self._end(call, "not_executed", "interrupted; it changed nothing", began_s)

    def _named(self, call: ToolCall) -> str:
        """A tool's name for a log: what is not offered is the model's own words, and those are content."""
        offered = call.name == FINISH or not isinstance(self._registry.find(call.name), str)
        return call.name if offered else "unknown"

    def _end(
        self, call: ToolCall, outcome: CallOutcome, content: str, began_s: float, *, found: bool = False
    ) -> CallEnded:
        run = self._run
        run.write(Outcomed(call.id, outcome, content))
        run.conversation.append(Message("tool", content, call_id=call.id, tool=call.name, is_source=found))
        run.emit(
            "tool.result",
            call_id=call.id,
            tool=self._named(call),
            outcome=outcome,
            result_bytes=len(content.encode()),
            elapsed_ms=round((time.monotonic() - began_s) * 1000) if began_s else 0,
        )
        return CallEnded(call.id, digest(outcome, content))
