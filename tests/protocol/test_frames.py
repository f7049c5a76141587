from __future__ import annotations

import typing

import pytest

from protocol import PROTOCOL_VERSION
from protocol.codec import encode_frame
from protocol.frames import (
    DOWN_TYPES,
    MAX_FRAME_BYTES,
    MAX_INLINE_BYTES,
    UP_TYPES,
    DownFrame,
    Frame,
    Secrets,
    UpFrame,
    tag_of,
)
from protocol.testing import minimal_spawn


def test_the_tuples_of_types_are_the_unions() -> None:
    assert set(DOWN_TYPES) == set(typing.get_args(DownFrame))
    assert set(UP_TYPES) == set(typing.get_args(UpFrame))


def test_tags_are_distinct_in_each_direction_and_only_error_goes_both_ways() -> None:
    down, up = [tag_of(t) for t in DOWN_TYPES], [tag_of(t) for t in UP_TYPES]
    assert len(set(down)) == len(down)
    assert len(set(up)) == len(up)
    assert set(down) & set(up) == {"error"}


@pytest.mark.parametrize("frame_type", [*DOWN_TYPES, *UP_TYPES], ids=tag_of)
def test_every_frame_says_what_it_means_and_cannot_be_changed(frame_type: type[Frame]) -> None:
    assert frame_type.__doc__
    assert frame_type.__struct_config__.frozen


def test_a_secret_is_in_no_repr() -> None:
    secrets = Secrets("hunter2")
    assert "hunter2" not in repr(secrets)
    assert "hunter2" not in f"{secrets!s}"


def test_a_secret_is_in_its_frame_and_nowhere_else_on_the_line() -> None:
    line = encode_frame(minimal_spawn())
    assert b'"secrets":null' in line


def test_the_version_and_the_bounds_are_those_of_the_public_protocol() -> None:
    assert (PROTOCOL_VERSION, MAX_FRAME_BYTES, MAX_INLINE_BYTES) == (1, 1_048_576, 65_536)
