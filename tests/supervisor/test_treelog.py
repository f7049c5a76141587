"""The tree log on disk."""

from __future__ import annotations

import msgspec
import pytest

from protocol.budget import Ceiling
from protocol.journal.entries import Minted, Spawned
from protocol.journal.log import JournalLocked, read_journal
from supervisor.treelog import TreeLog


def test_entries_are_written_under_their_names_in_order(tmp_path):
    log = TreeLog(tmp_path)
    log.append(Minted("0", None, Ceiling(steps=3), 60.0))
    log.append(Spawned("0", 4242, 99))
    log.close()
    entries = read_journal(tmp_path / "tree.jsonl")
    assert [entry.type for entry in entries] == ["mint", "spawn"]
    assert msgspec.json.decode(entries[1].body, type=Spawned) == Spawned("0", 4242, 99)


def test_a_log_has_one_writer(tmp_path):
    log = TreeLog(tmp_path)
    with pytest.raises(JournalLocked):
        TreeLog(tmp_path)
    log.close()
