"""The findings of the doctor as text."""

from __future__ import annotations

from supervisor.cli.report import render
from supervisor.doctor import Finding


def test_each_finding_is_one_clean_line_with_its_mark():
    lines = render(
        [
            Finding("a", True, True, "yes"),
            Finding("longer", False, True, "no\x1b[31m\nsecond"),
            Finding("c", False, False, "not here"),
        ]
    )
    assert lines == [
        "ok       a       yes",
        "MISSING  longer  no[31msecond",
        "without  c       not here",
    ]
