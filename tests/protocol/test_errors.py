from __future__ import annotations

import pytest

from protocol.budget import BudgetExceeded
from protocol.errors import CoveyError, LocalProtocolError, ProtocolError, RemoteProtocolError, SpecError
from protocol.journal.log import JournalLocked


@pytest.mark.parametrize(
    "error", [ProtocolError, LocalProtocolError, RemoteProtocolError, SpecError, BudgetExceeded, JournalLocked]
)
def test_every_error_that_we_raise_on_purpose_has_one_base(error: type[Exception]) -> None:
    assert issubclass(error, CoveyError)


def test_who_is_at_fault_is_in_the_type() -> None:
    assert issubclass(LocalProtocolError, ProtocolError)
    assert issubclass(RemoteProtocolError, ProtocolError)
    assert not issubclass(LocalProtocolError, RemoteProtocolError)
    assert issubclass(JournalLocked, RemoteProtocolError)


def test_a_local_error_shows_state_input_and_story_where_there_is_one() -> None:
    assert str(LocalProtocolError("open", "spawn")) == "spawn is illegal in state open"
    assert str(LocalProtocolError("open", "spawn", ["a", "b"])) == "spawn is illegal in state open; before that: a, b"
