"""The tool write_file: a file with exactly this content, new or replaced."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from subagent.tools.arguments import decode_arguments, tool_spec
from subagent.tools.beneath import PathRefused, Root
from subagent.tools.bounded import shown
from subagent.tools.content import MAX_FILE_BYTES
from subagent.tools.replace import Replacement, image, read_original
from subagent.tools.types import ToolNature, ToolRefused, ToolSpec


class WriteFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the model gives write_file."""

    path: Annotated[str, Meta(description="File to write, relative to the workspace. Missing folders are made.")]
    content: Annotated[str, Meta(description="The whole new content of the file.")]


class WriteFile:
    """Writes a whole file in one step. The same call again gives the same file."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self.spec: ToolSpec = tool_spec(
            "write_file",
            "Write a whole file of the workspace, new or instead of what is there.",
            ToolNature(mutating=True, repeatable=True, parallel_safe=False),
            WriteFileArguments,
        )

    def prepare(self, arguments: bytes) -> Replacement:
        wanted = decode_arguments(arguments, WriteFileArguments)
        data = wanted.content.encode()
        if len(data) > MAX_FILE_BYTES:
            raise ToolRefused(f"content: has {len(data)} bytes, at most {MAX_FILE_BYTES} can be written")
        try:
            original = read_original(self._root, wanted.path)
        except PathRefused as error:
            raise ToolRefused(str(error)) from error
        told = "a new file" if original is None else f"instead of {len(original.data)} bytes before"
        return Replacement(
            self._root,
            image(wanted.path, original.data if original else None, data),
            data,
            f"{shown(wanted.path)} has been written: {len(data)} bytes, {told}",
        )
