"""All problems in one pass."""

from __future__ import annotations

import pytest

from protocol.errors import SpecError
from supervisor.cli.problems import Problems, UsageProblems


def wrong() -> int:
    raise SpecError("--x", "is wrong")


def test_problems_are_collected_and_told_together_in_order():
    found = Problems(["first"])
    assert found.take(lambda: 7, 0) == 7
    assert found.take(wrong, 1) == 1
    with pytest.raises(UsageProblems) as caught:
        found.stop_if_any()
    assert caught.value.problems == ("first", "--x: is wrong")


def test_no_problem_stops_nothing():
    found = Problems()
    found.take(lambda: 7, 0)
    found.stop_if_any()


def test_problems_know_their_command():
    assert UsageProblems(["x"]).command == "covey run"
    assert UsageProblems(["x"], "covey demo").command == "covey demo"
