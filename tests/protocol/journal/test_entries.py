from __future__ import annotations

import msgspec
import pytest

from protocol.journal.entries import ENTRY_TYPES, NAME_OF, Started
from protocol.journal.envelope import encode_entry
from protocol.testing import minimal_spawn


def test_every_body_has_one_name_and_every_name_one_body() -> None:
    assert {NAME_OF[body]: body for body in ENTRY_TYPES.values()} == ENTRY_TYPES


@pytest.mark.parametrize("body", ENTRY_TYPES.values(), ids=list(ENTRY_TYPES))
def test_every_body_is_frozen_keeps_unknown_fields_harmless_and_says_what_it_is(body: type[msgspec.Struct]) -> None:
    config = body.__struct_config__
    assert (config.frozen, config.forbid_unknown_fields) == (True, False)
    assert body.__doc__


def test_no_entry_holds_a_secret_by_its_type() -> None:
    line = encode_entry(1, "t", "started", Started(minimal_spawn()))
    assert b'"secrets":null' in line
