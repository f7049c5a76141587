"""Unknown flags: all of them are noted, and the rest is parsed as if they were not there."""

from __future__ import annotations

import click
import pytest

from supervisor.cli.parsing import PROBLEMS, ForgivingCommand

SEEN: list[dict[str, object]] = []


@click.command(cls=ForgivingCommand)
@click.argument("words", nargs=-1)
@click.option("-f", "--file")
@click.option("--steps")
@click.option("--json", is_flag=True)
@click.pass_context
def command(ctx, **params):
    SEEN.append({**params, "problems": list(ctx.meta[PROBLEMS])})


def parse(*args: str) -> dict[str, object]:
    SEEN.clear()
    command.main(args=list(args), standalone_mode=False)
    return SEEN[0]


def test_a_good_command_line_has_no_problems():
    assert parse("a", "--steps", "5", "-f", "x", "--json") == {
        "words": ("a",), "steps": "5", "file": "x", "json": True, "problems": [],
    }  # fmt: skip


def test_every_unknown_flag_is_noted_with_its_near_match_and_known_ones_still_count():
    seen = parse("--stpes=3", "--jsn", "--steps", "5", "-q")
    assert seen["steps"] == "5"
    problems = seen["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 3
    assert "--stpes" in problems[0]
    assert "--steps" in problems[0]
    assert "--json" in problems[1]
    assert "-q" in problems[2]


def test_a_flag_without_its_value_is_noted():
    assert "--steps" in str(parse("a", "--steps")["problems"])


def test_what_stands_behind_the_double_dash_is_no_flag():
    seen = parse("--", "--stpes", "-")
    assert (seen["words"], seen["problems"]) == (("--stpes", "-"), [])


def test_a_negative_value_belongs_to_its_flag():
    assert parse("--steps", "-5")["steps"] == "-5"


def test_a_value_given_to_a_switch_is_noted():
    assert "--json" in str(parse("--json=yes")["problems"])


@pytest.mark.parametrize("args", [["--a", "--b", "--c", "--d"], ["-xyz"], ["--=", "--f"], ["-x", "--", "-x"]])
def test_parsing_always_ends(args):
    assert parse(*args)["problems"]
