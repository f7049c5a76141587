"""Holds an answer against its contract: gathers the facts of this run, and asks the verify gate."""

from __future__ import annotations

from collections.abc import Callable

from protocol.frames import Spawn
from subagent.context.conversation import Conversation
from subagent.verify.gate import Facts, Gate, Verdict


class AnswerChecker:
    """Checks answers of one run. `artifact_exists` looks into the workspace."""

    def __init__(self, spawn: Spawn, conversation: Conversation, artifact_exists: Callable[[str], bool]) -> None:
        self._contract = spawn.contract
        self._given = (spawn.contract.objective, *(piece.text for piece in spawn.seed))
        self._conversation = conversation
        self._artifact_exists = artifact_exists
        self._gate = Gate(spawn.contract)

    @property
    def may_answer(self) -> bool:
        """Whether an answer can be right yet: a grounded one needs a tool result to be grounded in."""
        return not self._contract.grounded or any(m.role == "tool" for m in self._conversation.messages)

    @property
    def grounded(self) -> bool:
        """Whether every value of the answer must occur in its sources."""
        return self._contract.grounded

    def tool_results(self) -> tuple[str, ...]:
        """What the tools of this run have found, oldest first."""
        return tuple(m.content for m in self._conversation.messages if m.is_source)

    def check(self, answer: str) -> Verdict:
        """The verdict on an answer."""
        facts = Facts(
            artifacts_present=tuple(path for path in self._contract.artifacts if self._artifact_exists(path)),
            sources=(*self.tool_results(), *self._given),
        )
        return self._gate.check(answer, facts)
