"""The supervisor's own record of a run: mints, processes, settlements, the end (tree.jsonl, DESIGN section 4)."""

from __future__ import annotations

from pathlib import Path

from protocol.journal.entries import NAME_OF, Minted, RunEnded, Settled, Spawned
from protocol.journal.log import open_journal

FILE_NAME = "tree.jsonl"

TreeEntry = Minted | Spawned | Settled | RunEnded


class TreeLog:
    """The log of one run, open for as long as the run is. Its lock goes with it."""

    def __init__(self, run_folder: Path) -> None:
        self._journal = open_journal(run_folder / FILE_NAME)

    def append(self, entry: TreeEntry) -> None:
        """Write one entry. A failing disk is tried once more (RULINGS "The loop"), then OSError."""
        name = NAME_OF[type(entry)]
        try:
            self._journal.append(name, entry)
        except OSError:
            self._journal.append(name, entry)

    def close(self) -> None:
        """Release the log."""
        self._journal.close()
