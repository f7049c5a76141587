"""The tool search: where a literal text occurs in the files of a folder.

Literal, not a regular expression: a pattern could run for ever and, holding the interpreter, could not be
stopped. Bounded by counts (files, bytes, matches), never by a clock, so the same call gives the same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from subagent.tools.arguments import decode_arguments, tool_spec
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.bounded import body_room, printable, size_of, with_note
from subagent.tools.content import MAX_FILE_BYTES, read_content
from subagent.tools.literal import find_lines
from subagent.tools.name_glob import MAX_GLOB_CHARS, Glob
from subagent.tools.types import READ_ONLY, ToolFailed, ToolRefused, ToolSpec
from subagent.tools.walk import MAX_VISITED, Walk

MAX_MATCHES = 1_000
MAX_SEARCHED_BYTES = 256 * 1024 * 1024
MAX_TEXT_CHARS = 1_024
"""The text is looked for in every file, so its own length counts as often as there are files."""


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model gives search."""

    text: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_TEXT_CHARS,
            description="Text to find, taken literally: no regular expression.",
        ),
    ]
    path: Annotated[str, Meta(description="Folder or file to search, relative to the workspace.")] = "."
    glob: (
        Annotated[
            str,
            Meta(max_length=MAX_GLOB_CHARS, description="Only files whose name matches, such as *.py or src/**/*.py."),
        ]
        | UnsetType
    ) = UNSET
    ignore_case: Annotated[bool, Meta(description="Treat upper and lower case as equal.")] = False


class Search:
    """Finds lines with a literal text. Passes by binary files, symbolic links and .git."""

    def __init__(self, root: Root, result_bytes: int) -> None:
        self._root = root
        self._result_bytes = result_bytes
        self.spec: ToolSpec = tool_spec(
            "search",
            "Find a literal text (no regular expression) in the workspace's text files; gives path:line: text.",
            READ_ONLY,
            SearchArguments,
        )

    def prepare(self, arguments: bytes) -> _SearchCall:
        wanted = decode_arguments(arguments, SearchArguments)
        if "\n" in wanted.text:
            raise ToolRefused("text: must be part of one line, and has a line end in it: search for one line of it")
        return _SearchCall(self._root, self._result_bytes, wanted)


@dataclass(frozen=True)
class _SearchCall:
    root: Root
    result_bytes: int
    wanted: SearchArguments
    image: None = None

    def run(self) -> str:
        walk = Walk(self.root)
        glob = None if self.wanted.glob is UNSET else Glob(self.wanted.glob)
        findings = _Findings(body_room(self.result_bytes))
        try:
            files = walk.files(self.wanted.path) if self.root.is_folder(self.wanted.path) else [self.wanted.path]
        except PathRefused as error:
            raise ToolFailed(str(error)) from error
        for path in files:
            if findings.full:
                break
            if glob is None or glob.matches(path):
                self._search_file(path, findings)
        return with_note("\n".join(findings.lines), "; ".join(_summary(findings, walk)), self.result_bytes)

    def _search_file(self, path: str, findings: _Findings) -> None:
        try:
            content = read_content(self.root, path)
        except PathRefused:
            findings.unreadable += 1
            return
        findings.searched_bytes += len(content.data)
        if content.binary:
            findings.binary += 1
            return
        findings.files += 1
        findings.partly_searched += 0 if content.whole else 1
        for number, line in find_lines(content.data, self.wanted.text, ignore_case=self.wanted.ignore_case):
            findings.add(f"{printable(path)}:{number}: {line}")
            if findings.more:
                break


@dataclass
class _Findings:
    """What one search has found so far, and what it has left out."""

    room_bytes: int
    lines: list[str] = field(default_factory=list)
    more: bool = False
    searched_bytes: int = 0
    files: int = 0
    binary: int = 0
    unreadable: int = 0
    partly_searched: int = 0

    @property
    def full(self) -> bool:
        return self.more or self.searched_bytes >= MAX_SEARCHED_BYTES

    def add(self, line: str) -> None:
        """Keep a line, or note that there was one more than fits."""
        size_bytes = size_of(line) + 1
        self.more = len(self.lines) == MAX_MATCHES or (size_bytes > self.room_bytes and bool(self.lines))
        if not self.more:
            self.room_bytes -= size_bytes
            self.lines.append(line)


def _summary(findings: _Findings, walk: Walk) -> Iterator[str]:
    """The parts of the closing note."""
    if findings.more:
        yield f"the first {len(findings.lines)} matches are shown and there are more; path or glob narrows the search"
    else:
        yield f"{len(findings.lines)} matches in {findings.files} text files"
    if findings.binary:
        yield f"{findings.binary} binary files passed by"
    if unreadable := findings.unreadable + walk.unreadable:
        yield f"{unreadable} files or folders could not be read"
    if findings.partly_searched:
        yield f"{findings.partly_searched} files searched in their first {MAX_FILE_BYTES} bytes only"
    if walk.cut:
        yield f"stopped after {MAX_VISITED} files and folders; path narrows the search"
    if findings.searched_bytes >= MAX_SEARCHED_BYTES:
        yield f"stopped after {MAX_SEARCHED_BYTES} bytes; path or glob narrows the search"
