"""Both ends of a control link in memory: for tests of either side, so that neither imports the other.

A `Link` holds a supervisor's and a child's Session and carries every line from one to the other, in chunks
of any size, answers to violations included. What each end was given lies in `child_got` and
`supervisor_got`, in order.
"""

from __future__ import annotations

from collections.abc import Callable

from protocol.contract import Contract
from protocol.frames import AnyFrame, Ready, Spawn
from protocol.limits import Limits
from protocol.model import ModelSpec
from protocol.session import Role, Session, Violation

Got = AnyFrame | Violation
Carry = Callable[[bytes], list[Got]]


def minimal_spawn(objective: str = "Say hello.") -> Spawn:
    """A spawn payload with nothing but what is required."""
    return Spawn(
        run_id="r1",
        agent="root",
        path="0",
        depth=0,
        contract=Contract(objective),
        model=ModelSpec("scripted", "test", "http://127.0.0.1:1/v1"),
        limits=Limits(),
        journal="/nowhere/journal.jsonl",
    )


class Link:
    """Two sessions back to back. `chunk_bytes` is the size of the pieces that arrive."""

    def __init__(self, chunk_bytes: int = 65_536) -> None:
        self.supervisor = Session(Role.SUPERVISOR)
        self.child = Session(Role.CHILD)
        self.child_got: list[Got] = []
        self.supervisor_got: list[Got] = []
        self._chunk_bytes = chunk_bytes

    def open(self, spawn: Spawn | None = None) -> None:
        """The handshake: spawn goes down, ready comes up."""
        self.send_down(spawn or minimal_spawn())
        self.send_up(Ready(pid=1))

    def send_down(self, frame: AnyFrame) -> list[Got]:
        """Send as the supervisor. What the child was given by it, which is also kept in `child_got`."""
        return self.put_down(self.supervisor.send(frame))

    def send_up(self, frame: AnyFrame) -> list[Got]:
        """Send as the child. What the supervisor was given by it, which is also kept in `supervisor_got`."""
        return self.put_up(self.child.send(frame))

    def put_down(self, stream: bytes) -> list[Got]:
        """Give the child bytes as they are, good or bad; its answers go up."""
        got = self._give(self.child, stream, self.child_got)
        self._carry_answers(got, self.put_up)
        return got

    def put_up(self, stream: bytes) -> list[Got]:
        """Give the supervisor bytes as they are, good or bad; its answers go down."""
        got = self._give(self.supervisor, stream, self.supervisor_got)
        self._carry_answers(got, self.put_down)
        return got

    def close_down(self) -> list[Got]:
        """EOF on the child's stdin."""
        return _keep(self.child.receive_eof(), self.child_got)

    def close_up(self) -> list[Got]:
        """EOF on the child's stdout."""
        return _keep(self.supervisor.receive_eof(), self.supervisor_got)

    def check_invariants(self) -> None:
        """Raise AssertionError where one end contradicts itself."""
        self.supervisor.check_invariants()
        self.child.check_invariants()

    def _give(self, end: Session, stream: bytes, kept: list[Got]) -> list[Got]:
        size = self._chunk_bytes
        pieces = (stream[start : start + size] for start in range(0, len(stream), size))
        return _keep([got for piece in pieces for got in end.receive(piece)], kept)

    def _carry_answers(self, got: list[Got], carry: Carry) -> None:
        for found in got:
            if isinstance(found, Violation) and found.reply:
                carry(found.reply)


def _keep(got: list[Got], kept: list[Got]) -> list[Got]:
    kept.extend(got)
    return got
