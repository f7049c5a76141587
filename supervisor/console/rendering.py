"""Events to lines. Pure: what a child says is cut and cleaned here before a terminal sees it.

An event's own fields never stand in the place of ts, level, event, run, agent, path or pid.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from protocol.frames import EventValue
from supervisor.observer import LogEvent

LONGEST_VALUE = 1_000
"""Characters of one field that are shown; fields hold counts and words, never content."""

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal acts on, all but newline and tab."""


def json_line(event: LogEvent) -> bytes:
    """The event as one JSON object on a line: the canonical keys first, then its own fields."""
    line: dict[str, EventValue] = {
        "ts": event.ts,
        "level": event.level,
        "event": event.event,
        "run": event.run,
        "agent": event.agent,
        "path": event.path,
        "pid": event.pid,
    }
    for name, value in event.fields.items():
        line.setdefault(name, _shortened(value) if isinstance(value, str) else value)
    return msgspec.json.encode(line) + b"\n"


def text_line(event: LogEvent) -> str:
    """The event for people, without a line end: time, level, name, agent, fields."""
    fields = " ".join(f"{clean(name)}={_shown(value)}" for name, value in event.fields.items())
    return f"{clean(event.ts)[11:19]} {event.level:<7} {clean(event.event)} [{clean(event.path)}] {fields}".rstrip()


def clean(text: str) -> str:
    """`text` on one line, with every control, direction and private character taken out, and cut."""
    if text.isascii() and text.isprintable() and len(text) <= LONGEST_VALUE:
        return text
    return "".join(c for c in _shortened(text) if unicodedata.category(c) not in _INVISIBLE)


def without_controls(text: str) -> str:
    """A text of many lines without what a terminal would act on."""
    return _CONTROL.sub("", text)


def escape_controls(encoded: str) -> str:
    """The same JSON value, with what a terminal would act on written as escapes."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def _shortened(text: str) -> str:
    """Cut, and without lone surrogates, which no encoder takes."""
    cut = text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
    return cut.encode("utf-8", "replace").decode()


def _shown(value: EventValue) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    shown = clean(str(value))
    return f'"{shown}"' if " " in shown or not shown else shown
