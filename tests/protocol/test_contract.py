from __future__ import annotations

import msgspec
import pytest

from protocol.contract import Contract, JsonFormat, Probe, parse_contract
from protocol.errors import SpecError

FULL = b"""{
  "objective": "Extract the fields.",
  "output_format": {"json": {"type": "object"}},
  "boundaries": ["do not guess"],
  "tool_guidance": "read first",
  "artifacts": ["report.md"],
  "probes": [{"command": ["true"], "timeout_s": 5}],
  "grounded": true
}
"""


def test_a_full_contract_file_is_read_field_by_field() -> None:
    contract = parse_contract(FULL, "task.json")
    assert type(contract) is Contract
    assert isinstance(contract.output_format, JsonFormat)
    assert contract.schema() == b'{"type": "object"}'
    assert contract.probes == (Probe(("true",), 5.0),)
    assert (contract.boundaries, contract.tool_guidance) == (("do not guess",), "read first")
    assert (contract.artifacts, contract.grounded) == (("report.md",), True)


def test_a_contract_of_nothing_but_an_objective_asks_for_text() -> None:
    contract = parse_contract(b'{"objective":"x"}', "task.json")
    assert contract == Contract("x")
    assert contract.schema() is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b'{"objective":"x","objektive":"y"}', "unknown field `objektive`"),
        (
            b'{"objective":"x","probes":[{"command":["true"],"timeout":5}]}',
            "unknown field `timeout` - at `$.probes[0]`",
        ),
        (b'{"objective":"x","output_format":{"json":{},"jsonn":{}}}', "unknown field `jsonn` - at `$.output_format`"),
        (
            b'{"objective":"x","output_format":"yaml"}',
            'output_format: "yaml" is none of "text", "markdown", {"json": SCHEMA}',
        ),
        (b'{"objective":"x","output_format":5}', 'output_format: 5 is none of "text"'),
        (b'{"objective":"x","output_format":["text"]}', 'output_format: ["text"] is none of "text"'),
        (b'{"objective":"x","output_format":{"schema":{}}}', "unknown field `schema`"),
        (b'{"objective":"x","probes":[{"command":[]}]}', "length >= 1 - at `$.probes[0].command`"),
        (b'{"objective":"x","probes":[{"command":["true"],"timeout_s":0}]}', "> 0.0 - at `$.probes[0].timeout_s`"),
        (b'{"output_format":"text"}', "missing required field `objective`"),
        (b'{"objective":7}', "Expected `str`, got `int` - at `$.objective`"),
        (b'{"objective":" \\n "}', "objective: is empty: say what the agent is to do"),
        (b"", "is no JSON: line 1, column 1: Expecting value"),
        (b"objective: x", "is no JSON: line 1, column 1: Expecting value"),
        (b'{\n "objective": "x"\n "grounded": true}', "is no JSON: line 3, column 2: Expecting ',' delimiter"),
        (b'{"objective":NaN}', "malformed"),
        (b'{"objective":' + b"9" * 5_000 + b"}", "Number out of range"),
        (b'{"objective":5,"output_format":', "Expected `str`, got `int` - at `$.objective`"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"objective":"\xff"}', "is not UTF-8 (byte 14)"),
        (b'{"objective":"x","output_format":{"json":{"const":"\xff"}}}', "utf-8"),
        (
            b'{"objective":"x","output_format":{"json":' + b"[" * 126 + b"]" * 126 + b"}}",
            "nests deeper than 127 levels",
        ),
        (b"[" * 100_000, "nests deeper than 127 levels"),
    ],
    ids=lambda part: part[-40:].decode("utf-8", "replace") if isinstance(part, bytes) else part[:40],
)
def test_a_contract_file_that_cannot_be_used_is_refused_naming_file_and_field(text: bytes, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_contract(text, "task.json")
    assert problem.lower() in str(caught.value).lower()
    assert caught.value.field.startswith("task.json")


def test_a_frame_ignores_what_a_file_refuses() -> None:
    text = (
        b'{"objective":"x","later":1,"probes":[{"command":["true"],"later":1}],"output_format":{"json":{},"later":1}}'
    )
    assert msgspec.json.decode(text, type=Contract).probes == (Probe(("true",)),)


def test_every_contract_that_is_read_fits_into_a_spawn_frame() -> None:
    from protocol.codec import down_decoder, encode_frame
    from protocol.testing import minimal_spawn

    deepest = b'{"objective":"x","output_format":{"json":' + b"[" * 125 + b"]" * 125 + b"}}"
    spawn = msgspec.structs.replace(minimal_spawn(), contract=parse_contract(deepest, "task.json"))
    assert down_decoder().feed(encode_frame(spawn)) == [spawn]
