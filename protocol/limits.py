"""What a node may use: the consumed dimensions as a ceiling, and the bounding ones beside them.

Defaults of a root are DESIGN section 4. Nothing is unlimited by accident and 0 is refused: a limit is a
positive number, or (cost and cpu only) not enforced at all.
"""

from __future__ import annotations

import msgspec

from protocol.budget import MAX_COUNT, Ceiling
from protocol.errors import SpecError

MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """Limits of one agent. Counts are plain numbers; `deadline_s` counts running time from its start.

    `cost_microusd` and `cpu_s` of None are not enforced. `memory_bytes` covers the agent and its tools.
    """

    steps: int = 200
    tokens: int = 1_000_000
    tool_calls: int = 1_000
    deadline_s: float = 3_600.0
    cost_microusd: int | None = None
    cpu_s: float | None = None
    memory_bytes: int = 2_048 * MIB
    depth: int = 4
    breadth: int = 8
    descendants: int = 64
    lifetime_descendants: int = 1_000

    def ceiling(self) -> Ceiling:
        """The consumed dimensions alone, as the meter takes them."""
        return Ceiling(self.steps, self.tokens, self.tool_calls, self.cost_microusd, self.cpu_s)

    def validate(self) -> None:
        """Raise SpecError for the first limit that is zero, negative or past all counting."""
        for field in self.__struct_fields__:
            limit = getattr(self, field)
            if limit is not None and not 0 < limit <= MAX_COUNT:
                raise SpecError(field, f"{limit:.16g} is not a limit: give a number above zero and up to {MAX_COUNT}")
