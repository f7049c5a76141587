from __future__ import annotations

import re

import pytest

from protocol.events import EVENTS, FAMILIES, LEVELS, check_event, is_logged


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_accepts_its_own_fields_all_or_none(name: str) -> None:
    assert check_event(name, dict.fromkeys(EVENTS[name].fields, 1)) is None
    assert check_event(name, {}) is None


def test_a_name_that_is_not_in_the_vocabulary_is_refused() -> None:
    assert check_event("loop.invented", {}) == "no event 'loop.invented'"
    assert check_event("x" * 5_000, {}) == f"no event {'x' * 40!r}"


def test_a_field_that_the_event_does_not_have_is_refused_without_its_value() -> None:
    assert check_event("loop.paused", {"secret": "hunter2"}) == "loop.paused has no field 'secret'"
    assert len(check_event("loop.paused", {"k" * 5_000: 1}) or "") < 100


@pytest.mark.parametrize(("name", "kind"), EVENTS.items(), ids=list(EVENTS))
def test_every_event_has_a_family_a_known_level_and_says_what_happened(name: str, kind) -> None:  # type: ignore[no-untyped-def]  # EventKind
    assert re.fullmatch(r"[a-z]+\.[a-z_]+", name)
    assert kind.level in LEVELS
    assert kind.meaning
    assert len(set(kind.fields)) == len(kind.fields)


def test_a_log_passes_its_level_and_what_is_graver() -> None:
    assert [level for level in LEVELS if is_logged(level, "warning")] == ["warning", "error"]
    assert all(is_logged(level, "debug") for level in LEVELS)


def test_every_name_is_of_a_closed_family() -> None:
    assert {name.split(".")[0] for name in EVENTS} <= set(FAMILIES)
    assert len(set(FAMILIES)) == len(FAMILIES)
