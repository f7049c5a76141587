"""The tool read_file: the text of a file, whole or by lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from subagent.tools.arguments import decode_arguments, tool_spec
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.bounded import body_room, shown, with_note
from subagent.tools.content import MAX_FILE_BYTES, Content, read_content
from subagent.tools.lines import Part, count_lines, line_start, whole_lines
from subagent.tools.types import READ_ONLY, ToolFailed, ToolSpec


class ReadFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model gives read_file."""

    path: Annotated[str, Meta(description="File to read, relative to the workspace.")]
    offset_line: Annotated[int, Meta(ge=1, description="First line to show, counted from 1.")] = 1
    limit_lines: Annotated[int, Meta(ge=1, description="How many lines to show at most.")] | UnsetType = UNSET


class ReadFile:
    """Shows a file's text as it is, within `result_bytes`; a last line in brackets tells what is not shown."""

    def __init__(self, root: Root, result_bytes: int) -> None:
        self._root = root
        self._result_bytes = result_bytes
        self.spec: ToolSpec = tool_spec(
            "read_file",
            "Read a text file of the workspace. A long file is shown in parts: go on with offset_line.",
            READ_ONLY,
            ReadFileArguments,
        )

    def prepare(self, arguments: bytes) -> _ReadFileCall:
        return _ReadFileCall(self._root, self._result_bytes, decode_arguments(arguments, ReadFileArguments))


@dataclass(frozen=True)
class _ReadFileCall:
    root: Root
    result_bytes: int
    wanted: ReadFileArguments
    image: None = None

    def run(self) -> str:
        try:
            content = read_content(self.root, self.wanted.path)
        except PathRefused as error:
            raise ToolFailed(str(error)) from error
        if content.binary:
            raise ToolFailed(
                f"{shown(self.wanted.path)} is a binary file of {content.size_bytes} bytes: it has no text"
            )
        return show_lines(content, self.wanted, self.result_bytes) if content.data else "[the file is empty]"


def show_lines(content: Content, wanted: ReadFileArguments, result_bytes: int) -> str:
    """The wanted lines of a text, at most `result_bytes`. Raises ToolFailed if they begin past its end."""
    data, first = content.data, wanted.offset_line
    total = count_lines(data)
    if first > total:
        raise ToolFailed(f"{shown(wanted.path)} has {total} lines: there is no line {first}")
    start = line_start(data, 0, first - 1)
    end = len(data) if wanted.limit_lines is UNSET else line_start(data, start, wanted.limit_lines)
    part = whole_lines(data[start:end], body_room(result_bytes))
    notes = [_position(part, first, total)]
    if part.replaced:
        notes.append("bytes that are not UTF-8 are shown as \N{REPLACEMENT CHARACTER}")
    if not content.whole:
        notes.append(f"only the first {MAX_FILE_BYTES} of the file's {content.size_bytes} bytes can be read")
    return with_note(part.text, "; ".join(filter(None, notes)), result_bytes)


def _position(part: Part, first: int, total: int) -> str:
    """Where in the file `part` stands and how to go on; empty for a file that is shown from its start to its end."""
    if part.mid_line:
        rest = f"; offset_line={first + 1} goes on behind it" if first < total else ""
        return f"line {first} of {total} is too long and is cut here, search finds text in the rest of it{rest}"
    last = first + part.lines - 1
    if last < total:
        return f"lines {first} to {last} of {total} are shown; offset_line={last + 1} goes on"
    return f"lines {first} to {last} of {total} are shown" if first > 1 else ""
