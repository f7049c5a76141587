"""A click command that reports every unknown flag at once, and leaves the values to us.

click stops at the first problem. Here an unknown or unfinished flag is noted in `ctx.meta`, taken out, and
the rest parsed again, so that its problem is told together with those of the values.
"""

from __future__ import annotations

import click

PROBLEMS = "supervisor.cli.problems"
"""The key of `ctx.meta` under which a command finds what parsing found: a list of texts."""


class ForgivingCommand(click.Command):
    """A command whose callback runs even if flags are unknown. It must look at `ctx.meta[PROBLEMS]` first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what can be parsed, and note the rest."""
        problems: list[str] = ctx.meta.setdefault(PROBLEMS, [])
        left = list(args)
        while True:
            try:
                return super().parse_args(ctx, list(left))
            except (click.NoSuchOption, click.BadOptionUsage) as error:
                position = _position(left, error.option_name)
                if position is None:
                    raise
                problems.append(" ".join(error.format_message().split()))
                del left[position]


def _position(args: list[str], option: str) -> int | None:
    """Where `option` stands among the arguments before `--`, with or without a value glued to it."""
    end = args.index("--") if "--" in args else len(args)
    for position, given in enumerate(args[:end]):
        short_cluster = len(option) == 2 and given.startswith(option)
        if given == option or given.startswith(option + "=") or short_cluster:
            return position
    return None
