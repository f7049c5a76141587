from __future__ import annotations

import math

import msgspec
import pytest

from protocol.budget import Ceiling
from protocol.errors import SpecError
from protocol.limits import Limits


def test_the_defaults_are_those_of_a_root() -> None:
    Limits().validate()
    assert Limits().ceiling() == Ceiling(steps=200, tokens=1_000_000, tool_calls=1_000, cost_microusd=None, cpu_s=None)
    assert (Limits().deadline_s, Limits().memory_bytes) == (3_600.0, 2 * 1024**3)
    assert (Limits().depth, Limits().breadth, Limits().descendants, Limits().lifetime_descendants) == (4, 8, 64, 1_000)


@pytest.mark.parametrize("field", Limits.__struct_fields__)
@pytest.mark.parametrize("limit", [0, -1, math.inf, -math.inf, math.nan, 10**30])
def test_a_limit_that_limits_nothing_or_everything_is_refused_by_name(field: str, limit: float) -> None:
    with pytest.raises(SpecError, match="give a number above zero") as caught:
        msgspec.structs.replace(Limits(), **{field: limit}).validate()
    assert caught.value.field == field


def test_cost_and_cpu_may_be_left_unenforced() -> None:
    Limits(cost_microusd=None, cpu_s=None).validate()
    Limits(cost_microusd=1, cpu_s=0.001).validate()
