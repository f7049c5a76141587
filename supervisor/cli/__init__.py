"""The command line of Covey. The guard calls `main`; exit codes are those of RULINGS "Ends".

Imports click and nothing else at the top: a command pays only for what it uses.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout

import click

from protocol.status import EXIT_OK, EXIT_PARTIAL, EXIT_USAGE
from supervisor.cli.interruption import Interrupted, let_signals_interrupt
from supervisor.cli.streams import put, tell


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code. `argv` is without the program's name."""
    try:
        let_signals_interrupt()
        return _run_command(argv)
    except (click.Abort, Interrupted):
        tell(["covey: interrupted before the run began"])
        return EXIT_PARTIAL


def _run_command(argv: Sequence[str] | None) -> int:
    """What a command prints (help, a version, findings) is gathered and written at its end, here alone.

    The answer of a run does not pass through here: supervisor.cli.delivery writes it.
    """
    from supervisor.cli.commands import covey
    from supervisor.cli.problems import UsageProblems

    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            code = covey.main(args=None if argv is None else list(argv), prog_name="covey", standalone_mode=False)
    except UsageProblems as error:
        return _refuse(error.command, error.problems)
    except click.UsageError as error:
        return _refuse(error.ctx.command_path if error.ctx else "covey", [error.format_message()])
    return put(printed.getvalue().encode("utf-8", "replace"), code if isinstance(code, int) else EXIT_OK)


def _refuse(command: str, problems: Sequence[str]) -> int:
    choices_last = sorted(problems, key=lambda told: "\n" in told)
    tell([*(f"{command}: {problem}" for problem in choices_last), f"Try '{command} --help'."])
    return EXIT_USAGE
