"""A plan and the payload that is minted from it."""

from __future__ import annotations

import pytest

from protocol.contract import Contract
from protocol.errors import SpecError
from protocol.limits import Limits
from supervisor.plan import check_plan, make_payload
from tests.supervisor.running import make_plan


def test_the_payload_names_the_root_of_its_run(tmp_path):
    payload = make_payload(make_plan(tmp_path), "j", 5.0)
    assert (payload.run_id, payload.agent, payload.path, payload.depth) == ("r1", "r1/0", "0", 0)
    assert payload.model.base_url == "http://127.0.0.1:9/v1"


def test_a_services_endpoint_takes_the_place_of_the_plans(tmp_path):
    assert (
        make_payload(make_plan(tmp_path), "j", 5.0, "http://127.0.0.1:1/v1").model.base_url == "http://127.0.0.1:1/v1"
    )


def test_a_plan_in_order_passes(tmp_path):
    check_plan(make_plan(tmp_path, contract=Contract("x" * 900_000)))


def test_limits_and_sizes_are_checked_with_the_field_that_is_wrong(tmp_path):
    with pytest.raises(SpecError, match="deadline_s"):
        check_plan(make_plan(tmp_path, limits=Limits(deadline_s=-1.0)))
    with pytest.raises(SpecError, match=r"contract: .* fill \d+ bytes, 1044480 fit"):
        check_plan(make_plan(tmp_path, contract=Contract("x" * 1_050_000)))
