"""The tables: every pair of state and event is either a move or is refused, with nothing changed."""

from __future__ import annotations

import pytest

from protocol.errors import LocalProtocolError
from supervisor.machine import events
from supervisor.machine.agent import AgentLife
from supervisor.machine.events import ChildEvent
from supervisor.machine.life import Life
from supervisor.machine.service import ServiceLife
from supervisor.machine.settings import DEFAULT_SETTINGS
from supervisor.machine.states import ChildState

CHILD_EVENTS = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, ChildEvent) and kind is not ChildEvent
]


@pytest.mark.parametrize("life", [AgentLife, ServiceLife])
def test_every_live_state_ends_by_an_exit_and_every_end_by_a_reaping(life: type[Life]):
    for state in (ChildState.STARTING, ChildState.READY, ChildState.STOPPING):
        assert (state, events.ChildExited) in life.moves
    for kind in (events.OrphansSwept, events.ChildReaped):
        assert [state for state, event in life.moves if event is kind] == [ChildState.EXITED]


@pytest.mark.parametrize("life", [AgentLife, ServiceLife])
def test_nothing_moves_a_child_that_was_never_spawned(life: type[Life]):
    assert [event for state, event in life.moves if state is ChildState.STOPPED] == []


def test_every_event_moves_some_life():
    moved = {event for life in (AgentLife, ServiceLife) for _, event in life.moves}
    assert moved == set(CHILD_EVENTS)


@pytest.mark.parametrize("kind", CHILD_EVENTS)
def test_an_unborn_child_takes_only_the_answer_to_its_spawn(kind: type[ChildEvent]):
    service = ServiceLife("s", 30.0, DEFAULT_SETTINGS)
    service.start(0.0)
    event = kind(**dict.fromkeys(kind.__struct_fields__) | {"child": "s", "incarnation": 1})
    if kind in (events.ChildSpawned, events.SpawnFailed):
        service.require_possible(event)
        return
    with pytest.raises(LocalProtocolError):
        service.require_possible(event)
