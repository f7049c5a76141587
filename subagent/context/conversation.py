"""The messages of one run, each encoded once, with the size of the next request.

A message never changes once it is here, so a turn costs its new bytes and not the history (perf.md section 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from subagent.models.types import Message, TurnUsage

ESTIMATE_BYTES_PER_TOKEN = 4
HOLD_BYTES_PER_TOKEN = 2


class Conversation:
    """An append-only history. `fixed_bytes` is what every request carries beside the messages."""

    def __init__(self, encode: Callable[[Message], bytes], fixed_bytes: int) -> None:
        self._encode = encode
        self._messages: list[Message] = []
        self._encoded: list[bytes] = []
        self._new_bytes = fixed_bytes
        self._counted_tokens = 0
        self.size_bytes = fixed_bytes

    @property
    def messages(self) -> Sequence[Message]:
        return self._messages

    @property
    def encoded(self) -> Sequence[bytes]:
        """All messages as the wire sends them."""
        return self._encoded

    def append(self, message: Message) -> None:
        """Add one message."""
        encoded = self._encode(message)
        self._messages.append(message)
        self._encoded.append(encoded)
        self._new_bytes += len(encoded)
        self.size_bytes += len(encoded)

    def count(self, usage: TurnUsage) -> None:
        """The provider counted everything that is here now, its own reply included: call it behind that reply."""
        self._counted_tokens = usage.tokens
        self._new_bytes = 0

    def context_tokens(self) -> int:
        """The likely size of the next prompt: what was counted, and bytes/4 of what is new (DESIGN section 6)."""
        return self._counted_tokens + self._new_bytes // ESTIMATE_BYTES_PER_TOKEN

    def prompt_estimate(self) -> int:
        """The high estimate that a hold takes: what was counted, and bytes/2 of what is new (DESIGN section 4)."""
        return self._counted_tokens + self._new_bytes // HOLD_BYTES_PER_TOKEN
