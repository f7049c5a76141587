"""The gate accepts what the contract asks for, names all that is missing, and still hands over the value."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from protocol.contract import Contract, JsonFormat, Probe
from protocol.errors import SpecError
from subagent.verify.gate import MAX_PROBLEMS, Facts, Gate, Verdict

RECEIPT = JsonFormat(
    msgspec.Raw(
        b'{"type":"object","required":["shop","total"],"properties":{"shop":{"type":"string"},"total":{"type":"number"}}}'
    )
)
NOTHING = Facts()
SOURCES = ("read_file gave: Cafe Roma, EUR 1,200.50",)


def check(contract: Contract, answer: str, facts: Facts = NOTHING) -> Verdict:
    return Gate(contract).check(answer, facts)


def result(verdict: Verdict) -> bytes | None:
    return None if verdict.result is None else bytes(verdict.result)


def test_a_text_is_accepted_as_it_is() -> None:
    assert check(Contract("do"), 'It is "done".\n') == Verdict(msgspec.Raw(b'"It is \\"done\\".\\n"'), ())
    assert check(Contract("do", output_format="markdown"), "# Done").problems == ()


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_text_is_no_answer(answer: str) -> None:
    assert check(Contract("do"), answer).problems == ("the answer is empty: say what you found or did",)


@pytest.mark.parametrize(
    "answer", ['{"shop":"Cafe Roma","total":1200.50}', 'So:\n```json\n{"shop": "Cafe Roma", "total": 1200.50}\n```']
)
def test_a_json_answer_becomes_its_compact_value(answer: str) -> None:
    verdict = check(Contract("do", output_format=RECEIPT, grounded=True), answer, Facts(sources=SOURCES))
    assert verdict.problems == ()
    assert result(verdict) == b'{"shop":"Cafe Roma","total":1200.50}'


@pytest.mark.parametrize(
    ("answer", "told", "kept"),
    [
        ("Cafe Roma", "the answer is not JSON", None),
        ('{"shop":"Cafe Roma"}', '$: "total" is a required property', b'{"shop":"Cafe Roma"}'),
        (
            '{"shop":"Cafe Roma","total":"1"}',
            '$.total: it is not of type "number"',
            b'{"shop":"Cafe Roma","total":"1"}',
        ),
        (
            '{"shop":"Cafe Roma","total":200.5}',
            "$.total is 200.5, which occurs in no",
            b'{"shop":"Cafe Roma","total":200.5}',
        ),
        ('{"shop":"Roma Cafe","total":1200.5}', '$.shop is "Roma Cafe", which', b'{"shop":"Roma Cafe","total":1200.5}'),
    ],
)
def test_what_is_wrong_is_named_and_a_value_that_parses_is_kept(answer: str, told: str, kept: bytes | None) -> None:
    verdict = check(Contract("do", output_format=RECEIPT, grounded=True), answer, Facts(sources=SOURCES))
    assert any(problem.startswith(told) for problem in verdict.problems)
    assert result(verdict) == kept


@pytest.mark.parametrize("output_format", ["text", RECEIPT])
def test_each_missing_artifact_is_named(output_format: JsonFormat) -> None:
    contract = Contract("do", output_format=output_format, artifacts=("out/a.md", "b.md"))
    answer = '{"shop":"x","total":1}'
    assert check(contract, answer, Facts(artifacts_present=("b.md",))).problems == (
        "the file 'out/a.md' does not exist in the workspace: write it before you answer",
    )
    assert check(contract, answer, Facts(artifacts_present=("out/a.md", "b.md"))).problems == ()


def test_all_that_is_wrong_is_told_in_one_pass() -> None:
    contract = Contract("do", output_format=RECEIPT, artifacts=("a.md",), grounded=True)
    verdict = check(contract, '{"shop":"Bar","extra":7}', Facts(sources=SOURCES))
    assert [problem.split(" ")[0] for problem in verdict.problems] == ["$:", "the", "$.shop", "$.extra"]
    assert len(check(contract, "no JSON at all").problems) == 2


def test_a_text_contract_can_be_grounded_too() -> None:
    contract = Contract("do", grounded=True)
    assert check(contract, "They paid 1200.5 EUR.", Facts(sources=SOURCES)).problems == ()
    assert len(check(contract, "They paid 1250 EUR.", Facts(sources=SOURCES)).problems) == 1


def test_a_long_list_of_problems_is_cut_and_said_to_be() -> None:
    schema = JsonFormat(msgspec.Raw(b'{"items":{"type":"string"}}'))
    problems = check(Contract("do", output_format=schema), str(list(range(100)))).problems
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1] == "and more of this kind"


def test_one_gate_checks_many_answers_and_keeps_nothing_of_them() -> None:
    gate = Gate(Contract("do", output_format=RECEIPT))
    bad, good = "{}", '{"shop":"x","total":1}'
    assert [bool(gate.check(answer, Facts()).problems) for answer in (bad, good, bad, good)] == [
        True,
        False,
        True,
        False,
    ]


def test_a_contract_that_cannot_be_checked_is_refused_when_the_gate_is_built() -> None:
    with pytest.raises(SpecError, match=r"contract: output_format\.json: is no JSON Schema"):
        Gate(Contract("do", output_format=JsonFormat(msgspec.Raw(b'{"type":"strin"}'))))
    with pytest.raises(SpecError, match="contract: probes: cannot be run"):
        Gate(Contract("do", probes=(Probe(("true",)),)))


def test_a_text_contract_does_not_pay_for_the_schema_library() -> None:
    script = "import sys; from subagent.verify.gate import Gate; sys.exit('jsonschema_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=20, check=False).returncode == 0
