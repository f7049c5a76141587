"""The golden lines under protocol/vectors: written once, read by every implementation of the protocol."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

import protocol
from protocol.codec import Fault, FaultCode, FrameDecoder, down_decoder, encode_frame, up_decoder
from protocol.errors import RemoteProtocolError
from protocol.frames import DOWN_TYPES, MAX_FRAME_BYTES, UP_TYPES, Frame, tag_of
from protocol.journal.envelope import scan
from protocol.schema import build_schemas

FOLDER = Path(protocol.__file__).with_name("vectors")
DECODERS: dict[str, Callable[[int], FrameDecoder[Any]]] = {"down": down_decoder, "up": up_decoder}
TYPES = {"down": {tag_of(t): t for t in DOWN_TYPES}, "up": {tag_of(t): t for t in UP_TYPES}}

VALIDATORS = {d: jsonschema_rs.validator_for(build_schemas()[f"{d}.json"]) for d in TYPES}

Vector = dict[str, Any]


def load(name: str) -> list[Vector]:
    return [msgspec.json.decode(line) for line in (FOLDER / name).read_bytes().splitlines()]


LINES = [*load("down.jsonl"), *load("up.jsonl")]
FRAMES = [vector for vector in LINES if "frame" in vector]
FAULTS = [vector for vector in LINES if "fault" in vector]
STREAMS = load("streams.jsonl")
JOURNALS = load("journal.jsonl")


def told(found: Frame | Fault) -> Vector:
    if isinstance(found, Fault):
        return {"fault": str(found.code)}
    fields = msgspec.json.decode(msgspec.json.encode(found))
    return {"frame": fields.pop("type"), "fields": fields}


def name_of(vector: Vector) -> str:
    return f"{vector.get('direction', 'journal')}: {vector['name']}"


@pytest.mark.parametrize("vector", LINES, ids=name_of)
def test_a_line_gives_the_frame_or_the_fault_that_is_written_beside_it(vector: Vector) -> None:
    (found,) = DECODERS[vector["direction"]](MAX_FRAME_BYTES).feed(vector["line"].encode() + b"\n")
    assert told(found) == {key: vector[key] for key in ("frame", "fields", "fault") if key in vector}


@pytest.mark.parametrize("vector", FRAMES, ids=name_of)
def test_a_frame_that_is_encoded_again_means_the_same(vector: Vector) -> None:
    decoder = DECODERS[vector["direction"]](MAX_FRAME_BYTES)
    (frame,) = decoder.feed(vector["line"].encode() + b"\n")
    assert isinstance(frame, Frame)
    assert decoder.feed(encode_frame(frame)) == [frame]


@pytest.mark.parametrize("vector", STREAMS, ids=name_of)
def test_a_stream_gives_its_frames_and_faults_in_order(vector: Vector) -> None:
    decoder = DECODERS[vector["direction"]](vector.get("max_bytes", MAX_FRAME_BYTES))
    found = [f for chunk in vector["chunks_base64"] for f in decoder.feed(base64.b64decode(chunk))]
    found += decoder.feed_eof() if vector["eof"] else []
    assert [told(f) for f in found] == vector["gives"]


@pytest.mark.parametrize("vector", JOURNALS, ids=name_of)
def test_a_journal_gives_its_entries_and_its_torn_tail_or_its_fault(vector: Vector) -> None:
    content = base64.b64decode(vector["content_base64"])
    if "fault" in vector:
        with pytest.raises(RemoteProtocolError) as caught:
            scan(content)
        assert caught.value.code == vector["fault"]
        return
    found = scan(content)
    assert [{"seq": entry.seq, "type": entry.type} for entry in found.entries] == vector["entries"]
    assert (found.good_bytes, found.torn_bytes) == (vector["good_bytes"], vector["torn_bytes"])


@pytest.mark.parametrize(("direction", "tag"), [(d, tag) for d, types in TYPES.items() for tag in types])
def test_every_frame_has_an_example_with_all_fields_and_one_with_the_required_ones_only(
    direction: str, tag: str
) -> None:
    fields = msgspec.structs.fields(TYPES[direction][tag])
    required = {"type", *(field.name for field in fields if field.required)}
    written = [set(msgspec.json.decode(v["line"])) for v in FRAMES if v["direction"] == direction and v["frame"] == tag]
    assert {"type", *(field.name for field in fields)} in written
    assert required in written


@pytest.mark.parametrize("direction", TYPES)
def test_what_we_send_looks_exactly_like_an_example(direction: str) -> None:
    """Of each frame one golden line is byte for byte what this version writes."""
    exact = set()
    for vector in FRAMES:
        if vector["direction"] == direction:
            (frame,) = DECODERS[direction](MAX_FRAME_BYTES).feed(vector["line"].encode() + b"\n")
            assert isinstance(frame, Frame)
            exact |= {tag_of(frame)} if encode_frame(frame) == vector["line"].encode() + b"\n" else set()
    assert exact == set(TYPES[direction])


def test_every_fault_has_an_example_in_each_direction() -> None:
    lines = {(v["direction"], v["fault"]) for v in FAULTS}
    streams = {g["fault"] for v in STREAMS for g in v["gives"] if "fault" in g}
    assert lines == {(d, f) for d in TYPES for f in ("garbage", "invalid", "unknown_type")}
    assert streams == {str(code) for code in FaultCode} - {"unknown_type"}


@pytest.mark.parametrize("vector", FRAMES, ids=name_of)
def test_the_schema_accepts_what_the_decoder_accepts(vector: Vector) -> None:
    VALIDATORS[vector["direction"]].validate(msgspec.json.decode(vector["line"]))


@pytest.mark.parametrize(
    "vector", [v for v in FAULTS if v["fault"] != "garbage" and "no double" not in v["name"]], ids=name_of
)
def test_the_schema_refuses_what_the_decoder_refuses(vector: Vector) -> None:
    assert not VALIDATORS[vector["direction"]].is_valid(msgspec.json.decode(vector["line"]))


def test_names_are_unique_so_that_a_report_can_point_at_one() -> None:
    for vectors in (LINES, STREAMS, JOURNALS):
        names = [name_of(vector) for vector in vectors]
        assert len(set(names)) == len(names)
