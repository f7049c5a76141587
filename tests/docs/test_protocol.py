"""docs/protocol.md and docs/events.md against the code: every frame, field, type, default and move."""

from __future__ import annotations

import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from protocol.codec import FaultCode, encode_frame
from protocol.events import EVENTS
from protocol.frames import (
    DOWN_TYPES,
    MAX_FRAME_BYTES,
    MAX_INLINE_BYTES,
    UP_TYPES,
    AnyFrame,
    Cancel,
    CancelReason,
    Ping,
    Result,
    tag_of,
)
from protocol.nesting import MAX_NESTING
from protocol.session import (
    ILLEGAL,
    MAX_ABOUT_CHARS,
    MAX_ANSWERS,
    UP_MOVES,
    VERSION,
    LinkState,
    Role,
    Session,
    Violation,
)
from protocol.status import Abort, Detail, TerminalStatus
from protocol.testing import minimal_spawn
from tests.docs.reference import definitions, rows

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text()
FRAME_HEADINGS = {t.__name__: f"`{tag_of(t)}`" for t in (*DOWN_TYPES, *UP_TYPES)}
SECTIONS: dict[str, str] = dict(re.findall(r"^##+ (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE))


def section_of(struct: str) -> str:
    heading = "The terminal record" if struct == "TerminalRecord" else FRAME_HEADINGS.get(struct, struct)
    return SECTIONS[heading]


def written_rows(section: str) -> list[tuple[str, str, str]]:
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    return [(row[0], row[1], row[2]) for row in cells]


@pytest.mark.parametrize(("name", "definition"), definitions().items(), ids=list(definitions()))
def test_every_field_is_in_its_table_with_its_type_and_its_default(name: str, definition) -> None:  # type: ignore[no-untyped-def]  # a schema
    assert written_rows(section_of(name)) == rows(definition)


@pytest.mark.parametrize("name", definitions())
def test_every_field_has_a_meaning(name: str) -> None:
    for line in section_of(name).splitlines():
        assert not line.startswith("| `") or re.search(r"\w", line.strip("|").split(" | ")[3])


def test_what_is_generated_is_not_stale() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


def test_every_move_of_a_link_is_in_the_diagram() -> None:
    moves = [(before, tag, after) for (before, tag), after in UP_MOVES.items() if before is not after]
    assert len(moves) == 3
    for before, tag, after in moves:
        assert f"{before} --> {after}: {tag}" in PAGE
    assert all(f"{state} --> closed: EOF" in PAGE for state in LinkState if state is not LinkState.CLOSED)


def test_every_code_of_a_violation_is_explained() -> None:
    for code in (*FaultCode, ILLEGAL, VERSION):
        assert f"| `{code}` |" in SECTIONS["Violations"]


def test_every_status_detail_and_abort_is_in_the_table_of_ends() -> None:
    for word in (*TerminalStatus, *Detail, *Abort):
        assert f"`{word}`" in SECTIONS["Ends"], word


def test_every_reason_of_a_cancel_is_explained() -> None:
    for reason in typing.get_args(CancelReason):
        assert f"| `{reason}` |" in SECTIONS["Cancel"]


def test_the_bounds_on_the_page_are_those_of_the_code() -> None:
    for bound in (
        f"{MAX_FRAME_BYTES:,} bytes",
        f"{MAX_INLINE_BYTES:,} bytes",
        f"{MAX_NESTING} levels",
        f"{MAX_ANSWERS} a link",
        f"{MAX_ABOUT_CHARS} characters",
    ):
        assert bound in SECTIONS["Sizes"]


def test_every_link_inside_the_page_leads_somewhere() -> None:
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in SECTIONS}
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= anchors


def test_every_event_is_on_its_page_with_its_fields() -> None:
    page = (ROOT / "docs" / "events.md").read_text()
    for name, kind in EVENTS.items():
        (row,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", page, re.MULTILINE)
        assert re.findall(r"`(\w+)`", row.split(" | ")[2]) == list(kind.fields)


# ---------------------------------------------------------------- the child that the page shows, as a process


@pytest.fixture
def child():  # type: ignore[no-untyped-def]  # a process
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    yield process
    process.kill()
    process.communicate(timeout=10)


def next_frame(child, session: Session) -> AnyFrame | Violation:  # type: ignore[no-untyped-def]  # a process
    (got,) = session.receive(child.stdout.readline())
    return got


def tell(child, line: bytes) -> None:  # type: ignore[no-untyped-def]  # a process
    child.stdin.write(line)
    child.stdin.flush()


def test_the_child_on_the_page_lives_by_the_rules_of_the_page(child) -> None:  # type: ignore[no-untyped-def]  # a process
    session = Session(Role.SUPERVISOR)
    tell(child, session.send(minimal_spawn()))
    assert [tag_of(next_frame(child, session)) for _ in range(2)] == ["ready", "meter"]  # type: ignore[arg-type]  # no violations
    tell(child, session.send(Ping(7)))
    assert getattr(next_frame(child, session), "seq", None) == 7
    tell(child, session.send(Cancel("request", 5.0)))
    got = next_frame(child, session)
    assert isinstance(got, Result)
    assert (got.outcome.status, got.outcome.detail) == ("cancelled", "request")
    assert child.wait(timeout=10) == 0
    assert session.violations == 0


def test_the_child_on_the_page_exits_with_2_if_anything_comes_before_spawn(child) -> None:  # type: ignore[no-untyped-def]  # a process
    tell(child, encode_frame(Ping(1)))
    assert child.wait(timeout=10) == 2


def test_the_child_on_the_page_ends_with_its_stdin(child) -> None:  # type: ignore[no-untyped-def]  # a process
    session = Session(Role.SUPERVISOR)
    tell(child, session.send(minimal_spawn()))
    next_frame(child, session)
    child.stdin.close()
    child.stdin = None
    assert child.wait(timeout=10) == 0
