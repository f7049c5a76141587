"""What a spawn payload must be beyond its types. Pure."""

from __future__ import annotations

import msgspec
import pytest

from protocol.errors import SpecError
from protocol.frames import Policy
from protocol.limits import Limits
from protocol.testing import minimal_spawn
from subagent.payload import check_policy, check_spawn


def test_the_defaults_are_a_payload_that_can_run() -> None:
    check_spawn(minimal_spawn())


@pytest.mark.parametrize("name", ["repeat_cap", "idle_turns", "model_attempts", "tool_result_bytes"])
def test_a_policy_number_of_zero_is_refused_by_name(name: str) -> None:
    with pytest.raises(SpecError) as refused:
        check_policy(msgspec.structs.replace(Policy(), **{name: 0}))
    assert refused.value.field == name


@pytest.mark.parametrize("name", ["corrections", "reply_retries"])
def test_no_correction_and_no_retry_are_policies(name: str) -> None:
    check_policy(msgspec.structs.replace(Policy(), **{name: 0}))


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(SpecError):
        check_spawn(msgspec.structs.replace(minimal_spawn(), ping_interval_s=seconds))


def test_a_limit_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(SpecError) as refused:
        check_spawn(msgspec.structs.replace(minimal_spawn(), limits=Limits(tokens=0)))
    assert refused.value.field == "tokens"
