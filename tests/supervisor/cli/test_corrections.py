"""What the contract's check said, from a journal on disk."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from protocol.journal.entries import Corrected, Paused
from protocol.journal.log import open_journal
from protocol.record import TerminalRecord, Usage
from protocol.status import Detail, TerminalStatus
from supervisor.cli.corrections import last_problems, read_corrections


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    with closing(open_journal(path)) as opened:
        opened.append("corrected", Corrected(1, ("a", "b")))
        opened.append("pause", Paused(True))
        opened.append("corrected", Corrected(2, ("c",)))
    return path


def ended(journal: Path, detail: Detail | None) -> TerminalRecord:
    status = TerminalStatus.STALLED if detail else TerminalStatus.COMPLETED
    return TerminalRecord("r", "r/0", "0", status, detail, None, 1, None, None, Usage(), "", "", str(journal))


def test_every_correction_is_read_in_order(journal):
    assert read_corrections(journal) == (("a", "b"), ("c",))


def test_the_last_problems_are_those_of_a_run_that_ended_on_its_contract_and_of_no_other(journal):
    assert last_problems(ended(journal, Detail.CONTRACT)) == ("c",)
    assert last_problems(ended(journal, Detail.NO_PROGRESS)) == ()
    assert last_problems(ended(journal, None)) == ()


def test_a_journal_that_cannot_be_read_has_no_corrections(journal, tmp_path):
    assert read_corrections(tmp_path / "none") == ()
    assert last_problems(ended(tmp_path, Detail.CONTRACT)) == ()
    journal.write_bytes(b"damaged\n" + journal.read_bytes())
    assert read_corrections(journal) == ()


def test_what_an_agent_put_in_the_place_of_its_journal_is_neither_waited_for_nor_believed(journal):
    with closing(open_journal(journal)) as opened:
        opened.append("corrected", Paused(True))
    assert read_corrections(journal) == ()
    journal.unlink()
    os.mkfifo(journal)
    assert last_problems(ended(journal, Detail.CONTRACT)) == ()
