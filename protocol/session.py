"""One control link as a pure state machine, for both of its ends (DESIGN sections 1 and 3).

Rules of this file: every move of a link is in the two tables below; it does no IO and reads no clock.

Theory of operation. A link is HANDSHAKE until the child says it is ready, then OPEN, then CLOSING once the
child's `result` has passed, then CLOSED at EOF. Each end holds a Session in its own role, gives it the
bytes that it received, and sends the bytes that it returns. What the peer does wrong comes back as a
`Violation` with the `error` frame that answers it, never as an exception; what *we* do wrong raises
LocalProtocolError and sends nothing. A frame after the end is counted and dropped: no late frame changes
a record (seed of many bugs: supervision.md 3.1 item 8).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from protocol import PROTOCOL_VERSION
from protocol.codec import Fault, FaultCode, down_decoder, encode_frame, up_decoder
from protocol.errors import LocalProtocolError
from protocol.frames import AnyFrame, Error, Ready, Spawn, tag_of

STORY_LENGTH = 16
MAX_ABOUT_CHARS = 200
MAX_ANSWERS = 64
"""Violations of one peer that are answered; later ones are only counted, so that a flood cannot fill our queue."""

ILLEGAL = "illegal"
"""The code of a good frame at a wrong time. The other codes are those of protocol.codec.FaultCode."""

VERSION = "version"
"""The code of a `spawn` or `ready` of a protocol version that is not ours."""

_ANSWERED = frozenset({FaultCode.OVERSIZE, FaultCode.INVALID, ILLEGAL, VERSION})


class Role(StrEnum):
    """Which end of the link we are."""

    SUPERVISOR = "supervisor"
    CHILD = "child"


class LinkState(StrEnum):
    """Where a link is in its life."""

    HANDSHAKE = "handshake"
    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


class Violation(msgspec.Struct, frozen=True):
    """The peer broke the protocol. `reply` is the line to send back, empty where none is due."""

    code: str
    about: str
    reply: bytes = b""


_S = LinkState
_ANY_DOWN = ("ping", "cancel", "throttle", "endpoints", "pause", "resume", "inject", "grant", "reply", "error")
_REPORTS = ("pong", "meter", "event", "throttled", "error")

DOWN_MOVES: dict[tuple[LinkState, str], LinkState] = {
    **{(state, tag): state for state in (_S.HANDSHAKE, _S.OPEN, _S.CLOSING) for tag in _ANY_DOWN},
}
"""(state, frame) -> state for everything after `spawn`, which is counted apart: first, and once.

None of them moves the link, so a child may receive in one thread while another sends.
"""

UP_MOVES: dict[tuple[LinkState, str], LinkState] = {
    **{(state, tag): state for state in (_S.HANDSHAKE, _S.OPEN) for tag in _REPORTS},
    (_S.HANDSHAKE, "ready"): _S.OPEN,
    (_S.OPEN, "request"): _S.OPEN,
    (_S.HANDSHAKE, "result"): _S.CLOSING,
    (_S.OPEN, "result"): _S.CLOSING,
}
"""(state, frame) -> state for what a child sends after `spawn`. A result before ready is a set-up that failed."""

UNSPAWNED_UP = frozenset({"error"})
"""All that a child may send before it was spawned: what its first line was instead."""


class Session:
    """One end of one link. `receive`, `receive_eof` and `send` are its only inputs."""

    def __init__(self, role: Role) -> None:
        self.role = role
        self.state = LinkState.HANDSHAKE
        self.spawned = False
        self.unknown_frames = 0
        self.late_frames = 0
        self.violations = 0
        self._answers = 0
        self._decoder = up_decoder() if role is Role.SUPERVISOR else down_decoder()
        self._story: deque[str] = deque(maxlen=STORY_LENGTH)

    @property
    def story(self) -> tuple[str, ...]:
        """The last moves, oldest first."""
        return tuple(self._story)

    @property
    def unknown_fields(self) -> int:
        """Fields of the peer's frames that this version does not know: skipped and counted."""
        return self._decoder.unknown_fields

    def send(self, frame: AnyFrame) -> bytes:
        """The line to write. Raises LocalProtocolError, with nothing changed, for a frame not ours to send now."""
        target = self._target(frame, ours=True)
        if target is None:
            raise LocalProtocolError(self.state, f"send {tag_of(frame)} as {self.role}", self.story)
        line = encode_frame(frame)
        self._move(frame, target, ours=True)
        return line

    def receive(self, chunk: bytes) -> list[AnyFrame | Violation]:
        """The frames and violations that `chunk` completes. Perform them in order; send each `reply`."""
        return self._admit(self._decoder.feed(chunk))

    def receive_eof(self) -> list[AnyFrame | Violation]:
        """The peer will send no more. The link is CLOSED afterwards; that alone is not the peer's death."""
        admitted = self._admit(self._decoder.feed_eof())
        self.state = LinkState.CLOSED
        self._story.append("eof")
        return admitted

    def _admit(self, decoded: Sequence[AnyFrame | Fault]) -> list[AnyFrame | Violation]:
        admitted: list[AnyFrame | Violation] = []
        for found in decoded:
            if isinstance(found, Fault):
                self._admit_fault(found, admitted)
            else:
                self._admit_frame(found, admitted)
        return admitted

    def _admit_fault(self, fault: Fault, admitted: list[AnyFrame | Violation]) -> None:
        if fault.code is FaultCode.UNKNOWN_TYPE:
            self.unknown_frames += 1
            if self.role is Role.SUPERVISOR or self.spawned:
                return
        admitted.append(self._violation(fault.code, fault.about))

    def _admit_frame(self, frame: AnyFrame, admitted: list[AnyFrame | Violation]) -> None:
        target = self._target(frame, ours=False)
        if target is None and self.state in (LinkState.CLOSING, LinkState.CLOSED):
            self.late_frames += 1
        elif target is None:
            admitted.append(self._violation(ILLEGAL, f"{tag_of(frame)} in state {self.state}"))
        elif isinstance(frame, Spawn | Ready) and frame.protocol != PROTOCOL_VERSION:
            about = f"{tag_of(frame)} of version {frame.protocol}, this end speaks {PROTOCOL_VERSION}"
            admitted.append(self._violation(VERSION, about))
        else:
            self._move(frame, target, ours=False)
            admitted.append(frame)

    def _goes_down(self, *, ours: bool) -> bool:
        return ours == (self.role is Role.SUPERVISOR)

    def _target(self, frame: AnyFrame, *, ours: bool) -> LinkState | None:
        tag = tag_of(frame)
        if not self._goes_down(ours=ours):
            return UP_MOVES.get((self.state, tag)) if self.spawned or tag in UNSPAWNED_UP else None
        if tag == "spawn":
            return self.state if not self.spawned and self.state is LinkState.HANDSHAKE else None
        return DOWN_MOVES.get((self.state, tag)) if self.spawned else None

    def _move(self, frame: AnyFrame, target: LinkState, *, ours: bool) -> None:
        tag = tag_of(frame)
        if not self._goes_down(ours=ours):
            self.state = target
        elif tag == "spawn":
            self.spawned = True
        self._story.append(f"sent {tag}" if ours else f"got {tag}")

    def _violation(self, code: str, about: str) -> Violation:
        self.violations += 1
        self._story.append(f"violation {code}")
        about = about[:MAX_ABOUT_CHARS]
        answer = Error(code=code, about=about)
        if code not in _ANSWERED or self._answers >= MAX_ANSWERS or self._target(answer, ours=True) is None:
            return Violation(code, about)
        self._answers += 1
        return Violation(code, about, encode_frame(answer))

    def check_invariants(self) -> None:
        """Raise AssertionError where the state contradicts itself."""
        if self.state in (LinkState.OPEN, LinkState.CLOSING):
            assert self.spawned, f"{self.state} before spawn"
        assert self._answers <= min(self.violations, MAX_ANSWERS), "more answers than violations"
