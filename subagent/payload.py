"""What a spawn payload must be beyond its types, checked before anything is opened. Pure."""

from __future__ import annotations

import math

from protocol.errors import SpecError
from protocol.frames import Policy, Spawn

_AT_LEAST_ONE = ("repeat_cap", "idle_turns", "model_attempts", "tool_result_bytes")
_AT_LEAST_ZERO = ("corrections", "reply_retries")


def check_spawn(spawn: Spawn) -> None:
    """Raise SpecError for the first value that no run can have."""
    spawn.limits.validate()
    _check_seconds("ping_interval_s", spawn.ping_interval_s)
    if not spawn.journal or "\0" in spawn.journal:
        raise SpecError("journal", "is no path")
    check_policy(spawn.policy)


def check_policy(policy: Policy) -> None:
    """Raise SpecError for the first number of a policy that no run can have."""
    _check_seconds("call_timeout_s", policy.call_timeout_s)
    for least, names in ((1, _AT_LEAST_ONE), (0, _AT_LEAST_ZERO)):
        for name in names:
            number = getattr(policy, name)
            if number < least:
                raise SpecError(name, f"{number} must be {least} or more")


def _check_seconds(name: str, seconds: float) -> None:
    if not (math.isfinite(seconds) and seconds > 0):
        raise SpecError(name, f"{seconds} is not a time: give seconds above zero")
