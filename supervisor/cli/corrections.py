"""What the contract's check had to say of the answers of a run, from the agent's journal."""

from __future__ import annotations

from pathlib import Path

import msgspec

from protocol.errors import RemoteProtocolError
from protocol.journal.entries import Corrected
from protocol.journal.log import read_journal
from protocol.record import TerminalRecord
from protocol.status import Detail


def read_corrections(journal: Path) -> tuple[tuple[str, ...], ...]:
    """The problems of each answer that was not accepted, oldest first; none where the journal cannot be read."""
    try:
        corrected = [entry.body for entry in read_journal(journal) if entry.type == "corrected"]
        return tuple(msgspec.json.decode(body, type=Corrected).problems for body in corrected)
    except (OSError, RemoteProtocolError, msgspec.DecodeError):
        return ()


def last_problems(record: TerminalRecord) -> tuple[str, ...]:
    """What was wrong with the last answer of a run that ended on its contract; nothing for any other end."""
    corrections = read_corrections(Path(record.journal)) if record.detail == Detail.CONTRACT else ()
    return corrections[-1] if corrections else ()
