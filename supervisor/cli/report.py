"""`covey doctor`: the findings as lines or as one JSON object."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click
import msgspec

from protocol.status import EXIT_CRASHED, EXIT_OK
from supervisor.console.rendering import clean
from supervisor.doctor import Finding, examine, is_fit


class _Report(msgspec.Struct, frozen=True):
    ok: bool
    findings: tuple[Finding, ...]


def report(as_json: bool) -> int:
    """Print the findings on stdout. Returns 1 if something required is missing."""
    findings = examine(os.environ)
    fit = is_fit(findings)
    click.echo(msgspec.json.encode(_Report(fit, findings)).decode() if as_json else "\n".join(render(findings)))
    return EXIT_OK if fit else EXIT_CRASHED


def render(findings: Sequence[Finding]) -> list[str]:
    """One line a finding: a mark, its name, and what was found."""
    width = max(len(finding.name) for finding in findings)
    return [f"{_mark(finding):<8} {finding.name:<{width}}  {clean(finding.about)}" for finding in findings]


def _mark(finding: Finding) -> str:
    if finding.ok:
        return "ok"
    return "MISSING" if finding.required else "without"
