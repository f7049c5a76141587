"""The tool list_dir: what is in a folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta

from subagent.tools.arguments import decode_arguments, tool_spec
from subagent.tools.beneath import PathRefused, Root, refusal
from subagent.tools.bounded import body_room, fill_lines, printable, shown, with_note
from subagent.tools.types import READ_ONLY, ToolFailed, ToolSpec

MAX_ENTRIES = 50_000
"""How many entries of one folder are looked at."""


class ListDirArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model gives list_dir."""

    path: Annotated[str, Meta(description="Folder to list, relative to the workspace.")] = "."
    after: Annotated[str, Meta(description="Show only names that sort after this one.")] = ""


class ListDir:
    """Lists the names in one folder, sorted, within `result_bytes`."""

    def __init__(self, root: Root, result_bytes: int) -> None:
        self._root = root
        self._result_bytes = result_bytes
        self.spec: ToolSpec = tool_spec(
            "list_dir",
            "List a folder of the workspace: folders end in '/', files show their size.",
            READ_ONLY,
            ListDirArguments,
        )

    def prepare(self, arguments: bytes) -> _ListDirCall:
        return _ListDirCall(self._root, self._result_bytes, decode_arguments(arguments, ListDirArguments))


@dataclass(frozen=True)
class _ListDirCall:
    root: Root
    result_bytes: int
    wanted: ListDirArguments
    image: None = None

    def run(self) -> str:
        path = self.wanted.path
        try:
            with self.root.folder(path) as fd, os.scandir(fd) as found:
                entries = list(islice(found, MAX_ENTRIES + 1))
                return self._listing(sorted(entries[:MAX_ENTRIES], key=lambda entry: entry.name), len(entries))
        except PathRefused as error:
            raise ToolFailed(str(error)) from error
        except OSError as error:
            raise ToolFailed(str(refusal(path, error))) from error

    def _listing(self, entries: list[os.DirEntry[str]], found: int) -> str:
        if not entries:
            return "[the folder is empty]"
        behind = [entry for entry in entries if entry.name > self.wanted.after]
        lines = fill_lines(map(_line, behind), body_room(self.result_bytes))
        notes = []
        if not behind:
            notes.append(f"none of the {len(entries)} entries sorts after {shown(self.wanted.after)}")
        elif len(lines) < len(behind):
            last = printable(behind[len(lines) - 1].name)
            notes.append(f"{len(behind) - len(lines)} more entries; after={shown(last)} goes on")
        if found > MAX_ENTRIES:
            notes.append(f"the folder has more than {MAX_ENTRIES} entries; the others were not looked at")
        return with_note("\n".join(lines), "; ".join(notes), self.result_bytes)


def _line(entry: os.DirEntry[str]) -> str:
    name = printable(entry.name)
    if entry.is_symlink():
        return f"{name} (symbolic link)"
    if entry.is_dir(follow_symlinks=False):
        return f"{name}/"
    if entry.is_file(follow_symlinks=False):
        try:
            return f"{name} ({entry.stat(follow_symlinks=False).st_size} bytes)"
        except FileNotFoundError:
            return f"{name} (just deleted)"
    return f"{name} (FIFO, socket or device)"
