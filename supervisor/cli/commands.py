"""The commands and their flags. Values are texts here: supervisor.cli.planning checks them all in one pass."""

from __future__ import annotations

import click

from supervisor.cli.parsing import PROBLEMS, ForgivingCommand

_EXIT_CODES = """
\b
Exit codes:
  0    completed
  1    crashed, or stalled or looping with nothing usable
  2    usage or configuration error; nothing was started
  3    a usable partial result, or stopped by a signal
  4    the model endpoint is unavailable after retries
  5    refused: the agent concluded that it cannot be done
  7    a limit was spent before any result
  124  the deadline passed with nothing usable
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.option("--version", is_flag=True, help="Print the version and exit.")
@click.pass_context
def covey(ctx: click.Context, version: bool) -> None:
    """Run AI agents as supervised processes."""
    if version:
        from importlib.metadata import version as version_of

        click.echo(f"covey {version_of('covey')}")
        ctx.exit(0)
    if ctx.invoked_subcommand is None:
        raise click.UsageError("no command is given: try 'covey run', 'covey demo' or 'covey doctor'", ctx=ctx)


@covey.command(cls=ForgivingCommand, epilog=_EXIT_CODES, short_help="Run one agent; its answer goes to stdout.")
@click.argument("instruction", nargs=-1)
@click.option("-f", "--file", metavar="FILE", help="Read the instruction from FILE (UTF-8, at most 64 KiB).")
@click.option("--contract", metavar="FILE", help="A contract: objective, format, artifacts (docs/contract.md).")
@click.option("--model", metavar="PROVIDER/NAME", help="The model; else COVEY_MODEL.")
@click.option("--base-url", metavar="URL", help="The endpoint, up to /v1; else COVEY_BASE_URL.")
@click.option("--context-window", metavar="TOKENS", help="The model's window. 0 turns its checks off. [200000]")
@click.option("--workspace", metavar="DIR", help="A folder to read and write. [the current one, read-only]")
@click.option("--steps", metavar="N", help="At most N model turns. [200]")
@click.option("--tokens", metavar="N", help="At most N tokens, in and out. [1000000]")
@click.option("--tool-calls", metavar="N", help="At most N tool calls. [1000]")
@click.option("--deadline", metavar="TIME", help="At most this long: 90s, 10m, 1h30m. [1h]")
@click.option("--run-id", metavar="ID", help="The name of the run, letters, digits, - and _. [a new one]")
@click.option("--json", is_flag=True, help="Print one terminal record instead of the answer.")
@click.option("--log-level", metavar="LEVEL", default="info", help="debug, info, warning or error. [info]")
@click.option("--log-format", metavar="FORMAT", default="auto", help="auto, text or json, on stderr. [auto]")
@click.pass_context
def run(ctx: click.Context, /, instruction: tuple[str, ...], **flags: str | bool | None) -> int:
    """Run one agent on INSTRUCTION (- reads it from standard input).

    stdout is the answer alone, stderr what happens. The key is read from COVEY_API_KEY or from the
    provider's own variable, such as OPENAI_API_KEY. An instruction beside a contract replaces its objective.
    """
    from supervisor.cli.run import run_agent

    return run_agent(instruction, flags, ctx.meta[PROBLEMS])


@covey.command(short_help="See a supervised agent at work on the embedded model.")
def demo() -> int:
    """Run the embedded model on a small job, supervised, its answer checked against a contract.

    Needs the extra `local` and the weights; `./dev demo` installs both.
    """
    from supervisor.cli.demo import run_demo

    return run_demo()


@covey.command(short_help="Print what this machine and this environment offer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor(as_json: bool) -> int:
    """Print what is in force. Exits 1 if something is missing that Covey cannot do without."""
    from supervisor.cli.report import report

    return report(as_json)
