"""The command line of Covey. The guard calls `main`; exit codes are those of RULINGS "Ends".

Imports click and nothing else at the top: a command pays only for what it uses.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import suppress

import click

from protocol.status import EXIT_OK, EXIT_PARTIAL, EXIT_USAGE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code. `argv` is without the program's name."""
    from supervisor.cli.commands import covey
    from supervisor.cli.problems import UsageProblems

    _interrupt_on(signal.SIGTERM, signal.SIGHUP)
    try:
        code = covey.main(args=None if argv is None else list(argv), prog_name="covey", standalone_mode=False)
    except UsageProblems as error:
        return _refuse("covey run", error.problems)
    except click.UsageError as error:
        return _refuse(error.ctx.command_path if error.ctx else "covey", [error.format_message()])
    except (click.Abort, KeyboardInterrupt):
        with suppress(OSError):
            click.echo("covey: interrupted before the run began", err=True)
        return EXIT_PARTIAL
    return code if isinstance(code, int) else EXIT_OK


def _interrupt_on(*numbers: signal.Signals) -> None:
    """Before a run begins, these end the command as Ctrl-C does. What our caller ignores (nohup) stays ignored."""
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _refuse(command: str, problems: Sequence[str]) -> int:
    with suppress(OSError):  # stderr may be a pipe that nobody reads: the code says it too
        _explain(command, problems)
    return EXIT_USAGE


def _explain(command: str, problems: Sequence[str]) -> None:
    for problem in sorted(problems, key=lambda told: "\n" in told):  # the lists of choices last
        click.echo(f"{command}: {problem}", err=True)
    click.echo(f"Try '{command} --help'.", err=True)
