"""The scripted endpoint as a process: `python -I -m supervisor.scripted FILE [--parent PID]`.

Prints one line on stdout once it serves, {"base_url": "http://127.0.0.1:PORT/v1"}, and ends when its stdin ends
or when the parent that it was given dies. Exits 2 for a file that cannot be used.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import NoReturn

import msgspec

from protocol.errors import SpecError
from protocol.kinship import die_with_parent
from supervisor.scripted.replies import parse_replies
from supervisor.scripted.script_file import read_script
from supervisor.scripted.server import ScriptedServer

USAGE = "usage: python -I -m supervisor.scripted FILE [--parent PID]"
EXIT_USAGE = 2
_NEVER_S = 3600.0


def main(arguments: list[str]) -> NoReturn:
    """Serve until stdin ends."""
    try:
        path, parent_pid = _parsed(arguments)
        if parent_pid is not None:
            _belong_to(parent_pid)
        server = ScriptedServer(parse_replies(read_script(path, path), path))
    except (SpecError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(EXIT_USAGE)
    threading.Thread(target=_end_with_stdin, name="stdin", daemon=True).start()
    os.write(1, msgspec.json.encode({"base_url": server.base_url}) + b"\n")
    server.serve(_NEVER_S)
    sys.exit()


def _parsed(arguments: list[str]) -> tuple[str, int | None]:
    match arguments:
        case [path]:
            return path, None
        case [path, "--parent", pid] if pid.isdigit():
            return path, int(pid)
        case _:
            raise SpecError("arguments", USAGE)


def _belong_to(parent_pid: int) -> None:
    """A terminal's Ctrl-C reaches the whole group; the supervisor decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not die_with_parent(parent_pid):
        os._exit(0)


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
