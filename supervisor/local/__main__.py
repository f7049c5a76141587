"""The embedded model as a process: `python -I -m supervisor.local --parent PID`.

Prints one line on stdout once it serves, {"base_url": "http://127.0.0.1:PORT/v1"}, and ends when its stdin ends
or its parent dies. The engine logs on stdout and stderr by itself: both go to stderr, which the run keeps.
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from protocol.kinship import die_with_parent
from supervisor.local.weights import find_weights

USAGE = "usage: python -I -m supervisor.local --parent PID   (started by a supervisor, not by hand)"
EXIT_USAGE = 2


def main(arguments: list[str]) -> None:
    """Serve until stdin ends. Never returns."""
    weights = find_weights()
    if len(arguments) != 2 or arguments[0] != "--parent" or not arguments[1].isdigit() or weights is None:
        sys.stderr.write(f"{USAGE}\n" if weights else "the weights are not installed\n")
        os._exit(EXIT_USAGE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the supervisor to judge
    if not die_with_parent(int(arguments[1])):
        os._exit(0)
    told_fd = os.dup(1)
    os.dup2(2, 1)
    from supervisor.local.server import start

    server, base_url = start(weights)
    os.write(told_fd, msgspec.json.encode({"base_url": base_url}) + b"\n")
    os.close(told_fd)
    while os.read(0, 4096):
        pass
    del server
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
