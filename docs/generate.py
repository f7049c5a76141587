"""Writes what the pages say about tables of the code: `python docs/generate.py --write`, or `--check`.

docs/events.md is generated whole. In docs/protocol.md what stands between `<!-- generated: NAME -->` and
`<!-- end: NAME -->` is. A test runs the check (tests/docs/test_protocol.py).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from protocol.events import EVENTS
from protocol.frames import DOWN_TYPES, UP_TYPES, tag_of
from protocol.session import DOWN_MOVES, UNSPAWNED_UP, UP_MOVES, LinkState
from protocol.status import Abort, TerminalStatus, exit_code

FOLDER = Path(__file__).parent


def link_diagram() -> str:
    """The moves that change the state of a link, as a Mermaid diagram."""
    moves = [f"    {before} --> {after}: {tag}" for (before, tag), after in UP_MOVES.items() if before is not after]
    closing = [f"    {state} --> closed: EOF" for state in LinkState if state is not LinkState.CLOSED]
    lines = ["stateDiagram-v2", "    [*] --> handshake", *moves, *closing, "    closed --> [*]"]
    return "\n".join(["```mermaid", *lines, "```"])


def legal_frames() -> str:
    """Which frame is legal when, both directions."""
    places = ["before spawn", LinkState.HANDSHAKE, LinkState.OPEN, LinkState.CLOSING]
    rows = ["| direction | frame | " + " | ".join(places) + " |", "|---|---|" + "---|" * len(places)]
    for direction, types in (("down", DOWN_TYPES), ("up", UP_TYPES)):
        for tag in map(tag_of, types):
            cells = [_cell(direction, tag, place) for place in places]
            rows.append(f"| {direction} | `{tag}` | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(direction: str, tag: str, place: str) -> str:
    unspawned = place == "before spawn"
    if tag == "spawn":
        return "yes" if unspawned else ""
    if unspawned:
        return "yes" if direction == "up" and tag in UNSPAWNED_UP else ""
    state = LinkState(place)
    target = (DOWN_MOVES if direction == "down" else UP_MOVES).get((state, tag))
    if target is None:
        return ""
    return "yes" if target is state else f"→ {target}"


def exit_codes() -> str:
    """The exit code of every end."""
    rows = ["| status | with a usable partial | without |", "|---|---|---|"]
    rows += [f"| `{s}` | {exit_code(s, None, True)} | {exit_code(s, None, False)} |" for s in TerminalStatus]
    crashed = TerminalStatus.CRASHED
    rows += [
        f"| `{crashed}` with abort `{a}` | {exit_code(crashed, a, True)} | {exit_code(crashed, a, False)} |"
        for a in Abort
    ]
    return "\n".join(rows)


def events_page() -> str:
    """The whole of docs/events.md."""
    intro = """\
# Events

Generated from `protocol/events.py` by `python docs/generate.py --write`.

This is the closed vocabulary of what Covey reports. A line of the log on stderr carries one of these names,
and so does an `event` frame of a child ([protocol.md](protocol.md)). A name or a field that is not here is not
passed on. No field holds content: lengths, counts, digests and typed words only. The one exception is
`intel.delta`, which exists for display, is sent only when it was asked for, and is never logged or journalled.
"""
    rows = ["| event | level | fields | what happened |", "|---|---|---|---|"]
    for name, kind in EVENTS.items():
        fields = ", ".join(f"`{field}`" for field in kind.fields)
        rows.append(f"| `{name}` | {kind.level} | {fields} | {kind.meaning} |")
    return "\n".join([intro, *rows, ""])


def protocol_page() -> str:
    """docs/protocol.md with its generated parts as they should be."""
    text = (FOLDER / "protocol.md").read_text()
    for name, part in (("diagram", link_diagram()), ("legal", legal_frames()), ("exit codes", exit_codes())):
        between = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- end: {name} -->)", re.DOTALL)
        text, replaced = between.subn(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", text)
        if replaced != 1:
            raise SystemExit(f"docs/protocol.md has {replaced} parts named {name!r}, one is needed")
    return text


def main(arguments: list[str]) -> int:
    """`--write`, or `--check`: exit code 1 if a page is stale."""
    if arguments not in (["--write"], ["--check"]):
        sys.stderr.write("usage: python docs/generate.py --write | --check\n")
        return 2
    stale = 0
    for name, text in (("protocol.md", protocol_page()), ("events.md", events_page())):
        page = FOLDER / name
        if arguments == ["--write"]:
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            sys.stderr.write(f"docs/{name} is stale: run python docs/generate.py --write\n")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
