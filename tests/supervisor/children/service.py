"""Fake services, one behaviour each: `service.py BEHAVIOUR --parent PID`."""

from __future__ import annotations

import os
import signal
import sys
import time

from protocol.kinship import die_with_parent

LINE = '{"base_url":"http://127.0.0.1:4711/v1"}'


def until_eof() -> None:
    while os.read(0, 65536):
        pass


def serves() -> None:
    print(LINE, flush=True)
    until_eof()


def chatters() -> None:
    print(LINE, flush=True)
    for _ in range(2_000):
        print("x" * 1_000)
        print("y" * 1_000, file=sys.stderr)
    until_eof()


def stays() -> None:
    """Deaf to the end of its stdin, and to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(LINE, flush=True)
    time.sleep(600)


def fails() -> None:
    print("cannot bind", file=sys.stderr)
    sys.exit(3)


def misspeaks() -> None:
    print("Listening on port 4711", flush=True)
    until_eof()


def hangs() -> None:
    time.sleep(600)


if __name__ == "__main__":
    if not die_with_parent(int(sys.argv[-1])):
        os._exit(0)
    globals()[sys.argv[1]]()
