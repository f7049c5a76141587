"""Which fragment of a stream belongs to which tool call (field report U-20). Pure.

Providers disagree on what identifies a call, so the rules, in this order:
1. A fragment with an id continues the latest call of that id, unless both have an index and they differ.
2. A fragment with an id that is new begins a call, even at an index that is taken: some servers number every
   parallel call 0. It only gives the call at its index that id if the call has none and the fragment names nothing.
3. A fragment without an id continues the latest call at its index; without an index, the call touched last.
   An index that no call has means the call touched last too, if that one has no index and the fragment no name.
4. A fragment that names a function begins a call after all if the call that it would continue is named and
   whole (its arguments are one JSON object) and the fragment brings another name or more arguments.
Nothing is dropped, and nothing is glued together that no rule joins. What a call is worth is judged in `call_checks`.
"""

from __future__ import annotations

from subagent.models.deltas import CallDelta
from subagent.models.strict_json import is_object
from subagent.models.types import MAX_CALL_NAME_CHARS


class CallParts:
    """One call as far as it has come."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self._arguments: list[str] = []

    @property
    def arguments(self) -> str:
        """The argument fragments, joined."""
        return "".join(self._arguments)

    def add(self, delta: CallDelta) -> None:
        """Take a fragment of this call."""
        self.id = self.id or delta.id
        if delta.name != self.name and len(self.name) <= MAX_CALL_NAME_CHARS:  # longer is a fault already
            self.name += delta.name
        if delta.arguments:
            self._arguments.append(delta.arguments)

    def is_whole(self) -> bool:
        """Whether the call is named and its arguments are one JSON object already."""
        return bool(self.name) and is_object(self.arguments)


class CallFragments:
    """The calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self.calls: list[CallParts] = []
        self._last: CallParts | None = None

    def add(self, delta: CallDelta) -> None:
        """Take the next fragment of the stream."""
        call = self._with_id(delta) if delta.id else self._without_id(delta)
        if call is None or _begins_anew(call, delta):
            call = CallParts(delta.index)
            self.calls.append(call)
        call.add(delta)
        self._last = call

    def _with_id(self, delta: CallDelta) -> CallParts | None:
        for call in reversed(self.calls):
            if call.id == delta.id and (None in (call.index, delta.index) or call.index == delta.index):
                return call
        waiting = self._without_id(delta)
        return waiting if waiting is not None and not waiting.id and not delta.name else None

    def _without_id(self, delta: CallDelta) -> CallParts | None:
        if delta.index is None:
            return self._last
        for call in reversed(self.calls):
            if call.index == delta.index:
                return call
        return self._last if self._last is not None and self._last.index is None and not delta.name else None


def _begins_anew(call: CallParts, delta: CallDelta) -> bool:
    brings_more = bool(delta.arguments) or delta.name != call.name
    return bool(delta.name) and brings_more and call.is_whole()
