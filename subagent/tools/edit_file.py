"""The tool edit_file: one piece of a text file exchanged for another."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from subagent.tools.arguments import decode_arguments, tool_spec
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.bounded import shown, size_of
from subagent.tools.content import MAX_FILE_BYTES
from subagent.tools.replace import Replacement, image, read_original
from subagent.tools.types import ToolNature, ToolRefused, ToolSpec

_LISTED_PLACES = 5
_NEAR_MISS_CHARS = 1024 * 1024
"""A text is split into words, for a hint at a near miss, only up to this length: each word takes memory."""


class EditFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model gives edit_file."""

    path: Annotated[str, Meta(description="File to change, relative to the workspace.")]
    old: Annotated[str, Meta(min_length=1, description="Text to replace, exactly as it stands in the file, once.")]
    new: Annotated[str, Meta(description="Text to put in its place.")]
    all: Annotated[bool, Meta(description="Replace every occurrence instead of exactly one.")] = False


class EditFile:
    """Exchanges text in a UTF-8 file in one step. Doing it twice is not the same as once."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self.spec: ToolSpec = tool_spec(
            "edit_file",
            "Replace a text that occurs exactly once in a file of the workspace.",
            ToolNature(mutating=True, repeatable=False, parallel_safe=False),
            EditFileArguments,
        )

    def prepare(self, arguments: bytes) -> Replacement:
        wanted = decode_arguments(arguments, EditFileArguments)
        before = self._text(wanted.path)
        after, places = edited(before, wanted)
        data = after.encode()
        told = f"{shown(wanted.path)} has been changed in {places} {'place' if places == 1 else 'places'}"
        return Replacement(self._root, image(wanted.path, before.encode(), data), data, told)

    def _text(self, path: str) -> str:
        try:
            original = read_original(self._root, path)
        except PathRefused as error:
            raise ToolRefused(str(error)) from error
        if original is None:
            raise ToolRefused(f"{shown(path)} does not exist: write_file makes a new file")
        try:
            return original.data.decode()
        except UnicodeDecodeError as error:
            raise ToolRefused(f"{shown(path)} is not UTF-8 text (byte {error.start}) and cannot be edited") from error


def edited(text: str, wanted: EditFileArguments) -> tuple[str, int]:
    """The text after the edit, and in how many places it differs.

    Raises ToolRefused where `old` is not clear, and, before anything is built, where the text would be too long.
    """
    path, places = shown(wanted.path), text.count(wanted.old)
    if wanted.old == wanted.new:
        raise ToolRefused("old and new are the same: the edit would change nothing")
    if places == 0:
        raise ToolRefused(
            f"old: does not occur in {path}{_near_miss(text, wanted.old)}: copy it exactly from read_file"
        )
    if places > 1 and not wanted.all:
        raise ToolRefused(
            f"old: occurs {places} times in {path} ({_lines_of(text, wanted.old)}): "
            "give more of the text around one of them, or all=true"
        )
    size_bytes = size_of(text) + places * (size_of(wanted.new) - size_of(wanted.old))
    if size_bytes > MAX_FILE_BYTES:
        raise ToolRefused(f"{path} would have {size_bytes} bytes, at most {MAX_FILE_BYTES} can be written")
    return text.replace(wanted.old, wanted.new), places


def _near_miss(text: str, old: str) -> str:
    """Why a text that looks right may not be found."""
    if "\r\n" in text and old.replace("\n", "\r\n") in text:
        return ", whose lines end in CR LF"
    if len(text) <= _NEAR_MISS_CHARS and " ".join(old.split()) in " ".join(text.split()):
        return " with this white space"
    return ""


def _lines_of(text: str, old: str) -> str:
    """The numbers of the first lines in which `old` begins."""
    numbers: list[str] = []
    at = text.find(old)
    while at >= 0 and len(numbers) < _LISTED_PLACES:
        numbers.append(str(text.count("\n", 0, at) + 1))
        at = text.find(old, at + len(old))
    return f"lines {', '.join(numbers)}{', …' if at >= 0 else ''}"
