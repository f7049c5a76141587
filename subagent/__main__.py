"""Entry of a subagent process: `python -I -m subagent --parent PID`, control link on stdin and stdout."""

from __future__ import annotations

import os
import sys
import traceback

from protocol.record import Outcome
from protocol.status import Detail, TerminalStatus
from subagent.boot import bind_to, take_channel
from subagent.cancel import CancelGate
from subagent.control import Control

USAGE = "usage: python -I -m subagent --parent PID   (started by a supervisor, not by hand)"


def main(arguments: list[str]) -> None:
    """Become the subagent of the process PID. Never returns."""
    if len(arguments) != 2 or arguments[0] != "--parent" or not arguments[1].isdigit():
        print(USAGE, file=sys.stderr)  # noqa: T201 - the one message for somebody at a shell
        os._exit(2)
    bind_to(int(arguments[1]))
    control = Control(*take_channel(), CancelGate())
    control.start()
    # The slow imports (httpx, the schema validator) run while the payload is still on its way.
    from subagent.agent import run_agent

    try:
        run_agent(control.wait_for_spawn(), control)
    except Exception as bug:  # noqa: BLE001 - the top of the process: a bug of ours still has a typed end
        # Its message may hold content or a secret; its type and place are enough.
        print(type(bug).__name__, *traceback.format_tb(bug.__traceback__), sep="\n", file=sys.stderr)  # noqa: T201
        control.end(Outcome(TerminalStatus.CRASHED, Detail.BUG, about=type(bug).__name__))
    sys.stderr.flush()
    os._exit(0)  # 25 ms sooner than an orderly exit, and nothing is left to do


if __name__ == "__main__":
    main(sys.argv[1:])
