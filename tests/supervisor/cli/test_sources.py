"""Where the task comes from."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest

from protocol.contract import Contract, JsonFormat
from protocol.errors import SpecError
from protocol.frames import MAX_INLINE_BYTES
from supervisor.cli.sources import TaskFlags, read_contract, read_task


def refusal(flags: TaskFlags) -> str:
    with pytest.raises(SpecError) as caught:
        read_task(flags)
    return str(caught.value)


@pytest.fixture
def write(tmp_path):
    def write(content: object, name: str = "file") -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)

    return write


@pytest.fixture
def stdin(monkeypatch):
    return lambda content: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))


def test_an_argument_a_file_and_standard_input_give_the_same_task(write, stdin):
    for flags in (TaskFlags("Grüße"), TaskFlags(file=write("\ufeffGrüße".encode()))):
        assert read_task(flags) == Contract("Grüße")
    for flags in (TaskFlags("-"), TaskFlags(file="-")):
        stdin("Grüße".encode())
        assert read_task(flags) == Contract("Grüße")


def test_an_instruction_beside_a_contract_replaces_its_objective(write):
    contract = write({"objective": "old", "grounded": True, "artifacts": ["a/b.txt"]})
    assert read_task(TaskFlags("new", contract=contract)) == Contract("new", grounded=True, artifacts=("a/b.txt",))
    assert read_task(TaskFlags(contract=contract)).objective == "old"


def test_no_source_and_two_sources_are_refused(write):
    assert "is missing" in refusal(TaskFlags())
    assert "given twice" in refusal(TaskFlags("a", file=write(b"b")))


@pytest.mark.parametrize(
    ("content", "part"), [(b"", "is empty"), (b" \n\t", "is empty"), (b"ok \xff", "is not UTF-8 (byte 3)")]
)
def test_a_file_without_a_task_in_it_is_refused(write, content, part):
    assert part in refusal(TaskFlags(file=write(content)))


def test_an_argument_without_a_task_in_it_is_refused():
    assert "is empty" in refusal(TaskFlags(""))
    assert "is not UTF-8" in refusal(TaskFlags("a\udcff"))
    assert "is longer" in refusal(TaskFlags("x" * (MAX_INLINE_BYTES + 1)))
    assert read_task(TaskFlags("x" * MAX_INLINE_BYTES)).objective


def test_a_longer_source_is_refused_and_not_read_to_its_end(write, stdin):
    assert f"is longer than {MAX_INLINE_BYTES} bytes" in refusal(TaskFlags(file=write(b"x" * (MAX_INLINE_BYTES + 1))))
    assert f"is longer than {MAX_INLINE_BYTES} bytes" in refusal(TaskFlags(file="/dev/zero"))
    stdin(b"x" * (MAX_INLINE_BYTES + 1))
    assert refusal(TaskFlags("-")).startswith("standard input: ")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    assert "No such file" in refusal(TaskFlags(file=str(tmp_path / "none")))
    assert "cannot read" in refusal(TaskFlags(file=str(tmp_path)))
    assert "cannot read" in refusal(TaskFlags(contract="a\0b"))


@pytest.mark.parametrize(
    ("contract", "part"),
    [
        ({"objective": ""}, "objective"),
        ({"objctive": "x"}, "objctive"),
        ({"objective": "x", "output_format": "html"}, "output_format"),
        ({"objective": "x", "grounded": "yes"}, "grounded"),
        ({"objective": "x", "probes": [{"command": ["true"]}]}, "take the probes out"),
        ({"objective": "x", "artifacts": ["../out"]}, "inside the workspace"),
        ({"objective": "x", "artifacts": ["/out"]}, "inside the workspace"),
        ({"objective": "x", "artifacts": [""]}, "inside the workspace"),
        ({"objective": "x", "output_format": {"json": {"type": "strin"}}}, "no JSON Schema that can be used"),
        (
            {"objective": "x", "output_format": {"json": {"$ref": "http://127.0.0.1:1/x"}}},
            "lies outside the schema",
        ),
        ({"objective": "x", "output_format": {"json": 5}}, "no JSON Schema that can be used"),
        ([], "array"),
    ],
)
def test_a_contract_that_cannot_be_kept_is_refused_with_its_field(write, contract, part):
    path = write(contract)
    with pytest.raises(SpecError) as caught:
        read_contract(path)
    assert path in str(caught.value)
    assert part in str(caught.value)


def test_a_json_contract_is_read_with_its_schema(write):
    contract = read_contract(write({"objective": "x", "output_format": {"json": {"type": "object"}}}))
    assert isinstance(contract.output_format, JsonFormat)
    assert contract.schema() == b'{"type": "object"}'
