"""Every file below a folder of the workspace, in a fixed order, within a bound, by no symbolic link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

from subagent.tools.beneath import PathRefused, Root

MAX_VISITED = 20_000
"""How many files and folders one walk looks at."""

SKIPPED_FOLDERS = frozenset({".git"})


class Walk:
    """One walk. `cut` is set when the bound was reached, `unreadable` counts folders that could not be listed."""

    def __init__(self, root: Root, max_visited: int = MAX_VISITED) -> None:
        self.cut = False
        self.unreadable = 0
        self._root = root
        self._left = max_visited

    def files(self, path: str) -> Iterator[str]:
        """The regular files below the folder `path`: those of a folder by name, then its folders by name."""
        folders = [path]
        while folders:
            folder = folders.pop()
            files, inner = self._entries(folder)
            yield from (_joined(folder, name) for name in files)
            folders += [_joined(folder, name) for name in reversed(inner)]

    def _entries(self, folder: str) -> tuple[list[str], list[str]]:
        """The names of the files and of the folders in one folder, sorted."""
        try:
            with self._root.folder(folder) as fd, os.scandir(fd) as found:
                entries = list(islice(found, self._left + 1))
        except (PathRefused, OSError):  # a folder without permission, or gone by now, is counted and passed by
            self.unreadable += 1
            return [], []
        self.cut = self.cut or len(entries) > self._left
        entries = entries[: self._left]
        self._left -= len(entries)
        files = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
        inner = (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        return files, sorted(name for name in inner if name not in SKIPPED_FOLDERS)


def _joined(folder: str, name: str) -> str:
    return name if folder in (".", "./") else f"{folder.rstrip('/')}/{name}"
