from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.tool_names import ToolNames, legal_name


@pytest.mark.parametrize(
    ("name", "legal"), [("read_file", "read_file"), ("a.b/c", "a_b_c"), ("é", "_"), ("", "_"), ("x" * 70, "x" * 64)]
)
def test_a_name_is_made_legal(name: str, legal: str) -> None:
    assert legal_name(name) == legal


def test_a_legal_name_keeps_itself_beside_one_that_becomes_it() -> None:
    names = ToolNames(["a.b", "a_b", "a b"])
    assert names.to_wire("a_b") == "a_b"
    assert {names.to_wire(name) for name in ("a.b", "a b")} == {"a_b_2", "a_b_3"}
    assert [names.from_wire(names.to_wire(name)) for name in ("a.b", "a_b", "a b")] == ["a.b", "a_b", "a b"]


def test_a_name_that_a_model_made_up_stays_what_it_is() -> None:
    assert ToolNames(["f"]).from_wire("rm -rf") == "rm -rf"
    assert ToolNames(["f"]).to_wire("rm -rf") == "rm_-rf"


@given(st.lists(st.text(max_size=80), unique=True, max_size=10))
def test_all_names_are_legal_distinct_and_come_back(offered: list[str]) -> None:
    names = ToolNames(offered)
    wire = [names.to_wire(name) for name in offered]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in wire)
    assert [names.from_wire(name) for name in wire] == offered
