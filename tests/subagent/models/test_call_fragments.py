from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subagent.models.call_fragments import CallFragments
from subagent.models.deltas import CallDelta as D


def assemble(*deltas: D) -> list[tuple[str, str, str]]:
    fragments = CallFragments()
    for delta in deltas:
        fragments.add(delta)
    return [(call.id, call.name, call.arguments) for call in fragments.calls]


A, B = ("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')

STREAMS = {
    "two whole calls that share index 0": [D(0, "a", "f", '{"x":1}'), D(0, "b", "g", '{"y":2}')],
    "two calls in pieces that share index 0": [
        D(0, "a", "f", ""),
        D(0, "", "", '{"x"'),
        D(0, "", "", ":1}"),
        D(0, "b", "g", ""),
        D(0, "", "", '{"y":2}'),
    ],
    "interleaved, the id on the first fragment only": [
        D(0, "a", "f"),
        D(1, "b", "g"),
        D(0, "", "", '{"x"'),
        D(1, "", "", '{"y"'),
        D(0, "", "", ":1}"),
        D(1, "", "", ":2}"),
    ],
    "interleaved, the id on every fragment, no index": [
        D(None, "a", "f"),
        D(None, "b", "g"),
        D(None, "a", "", '{"x":1}'),
        D(None, "b", "", '{"y":2}'),
    ],
    "no index, in order": [
        D(None, "a", "f"),
        D(None, "", "", '{"x":1}'),
        D(None, "b", "g"),
        D(None, "", "", '{"y":2}'),
    ],
    "an indexed call, then one without": [
        D(0, "a", "f"),
        D(0, "", "", '{"x":1}'),
        D(None, "b", "g"),
        D(None, "", "", '{"y":2}'),
    ],
    "one without an index, then an indexed call": [
        D(None, "a", "f", '{"x":1}'),
        D(1, "b", "g"),
        D(1, "", "", '{"y":2}'),
    ],
    "the index only after the first fragment": [
        D(None, "a", "f"),
        D(0, "", "", '{"x":1}'),
        D(None, "b", "g"),
        D(1, "", "", '{"y":2}'),
    ],
    "the id only after the first fragment": [
        D(0, "", "f"),
        D(0, "a", "", '{"x":1}'),
        D(1, "", "g"),
        D(1, "b", "", '{"y":2}'),
    ],
    "id and name repeated on every fragment": [
        D(0, "a", "f", '{"x"'),
        D(0, "a", "f", ":1}"),
        D(0, "a", "f", ""),
        D(1, "b", "g", '{"y"'),
        D(1, "b", "g", ":2}"),
    ],
    "names in pieces": [D(0, "a", "f"), D(0, "", "", '{"x":1}'), D(1, "b", ""), D(1, "", "g"), D(1, "", "", '{"y":2}')],
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_fragments_find_their_call_however_they_are_keyed(stream: list[D]) -> None:
    assert assemble(*stream) == [A, B]


def test_calls_without_any_id_stay_apart_by_index() -> None:
    assert assemble(D(0, "", "f", '{"x":1}'), D(1, "", "g", '{"y":2}')) == [("", "f", '{"x":1}'), ("", "g", '{"y":2}')]


def test_whole_calls_without_id_and_index_stay_apart() -> None:
    assert assemble(D(None, "", "f", "{}"), D(None, "", "g", "{}")) == [("", "f", "{}"), ("", "g", "{}")]


def test_a_repeated_id_at_another_index_is_another_call() -> None:
    assert assemble(D(0, "a", "f", "{}"), D(1, "a", "g", "{}")) == [("a", "f", "{}"), ("a", "g", "{}")]


def test_a_repeated_id_after_a_whole_call_is_another_call() -> None:
    assert assemble(D(0, "a", "f", "{}"), D(0, "a", "f", '{"x":1}')) == [("a", "f", "{}"), ("a", "f", '{"x":1}')]


def test_a_name_that_comes_in_two_pieces_is_one_name() -> None:
    assert assemble(D(0, "a", "read"), D(0, "", "_file", "{}")) == [("a", "read_file", "{}")]


def test_a_fragment_of_nothing_begins_a_call_that_has_nothing() -> None:
    assert assemble(D(0, "", "", '{"x":1}')) == [("", "", '{"x":1}')]


@given(st.lists(st.text('{}":,a1é', min_size=1, max_size=12), min_size=1, max_size=6), st.data())
def test_indexed_calls_survive_any_interleaving(arguments: list[str], data: st.DataObject) -> None:
    queues = []
    for index, text in enumerate(arguments):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
        pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        queues.append([D(index, f"id{index}", f"tool{index}"), *(D(index, "", "", piece) for piece in pieces)])
    deltas = [queue.pop(0) for queue in queues]
    while any(queues):
        deltas.append(data.draw(st.sampled_from([queue for queue in queues if queue])).pop(0))
    assert assemble(*deltas) == [(f"id{n}", f"tool{n}", text) for n, text in enumerate(arguments)]


@given(
    st.lists(
        st.builds(
            D,
            st.none() | st.integers(0, 2),
            st.sampled_from(["", "a", "b"]),
            st.sampled_from(["", "f", "g"]),
            st.sampled_from(["", "{}", '{"x"', ":1}"]),
        )
    )
)
def test_no_fragment_is_lost(deltas: list[D]) -> None:
    calls = assemble(*deltas)
    assert sum(len(call[2]) for call in calls) == sum(len(delta.arguments) for delta in deltas)
    assert len(calls) <= len(deltas)
