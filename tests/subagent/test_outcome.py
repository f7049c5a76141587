"""Outcomes: small values inline, large ones behind a reference that leads nowhere else."""

from __future__ import annotations

import msgspec
import pytest

from protocol.artifacts import read_artifact
from protocol.budget import Amounts
from protocol.errors import RemoteProtocolError
from protocol.frames import Cancel
from protocol.limits import Limits
from protocol.record import ArtifactRef
from protocol.status import Detail, TerminalStatus
from subagent.account import Account
from subagent.brain import ends
from subagent.loop import Ending
from subagent.outcome import cut_text, last_words, make_outcome


def answer(text: str) -> Ending:
    return Ending(ends.COMPLETED, msgspec.Raw(msgspec.json.encode(text)), text, "")


def test_a_small_result_travels_inline(tmp_path) -> None:
    outcome = make_outcome(answer("hi"), Account(Limits()), tmp_path, ())
    assert bytes(outcome.result or b"") == b'"hi"'
    assert (outcome.result_ref, outcome.partial) == (None, None)


def test_a_result_over_64_kib_travels_as_a_reference_that_works(tmp_path) -> None:
    outcome = make_outcome(answer("é" * 50_000), Account(Limits()), tmp_path, ())
    assert outcome.result is None
    assert outcome.result_ref is not None
    assert msgspec.json.decode(read_artifact(tmp_path, outcome.result_ref)) == "é" * 50_000


@pytest.mark.parametrize("ref", ["sha256:../../etc/passwd", "/etc/passwd", "sha256:" + "0" * 64, "sha256:" + "A" * 64])
def test_a_reference_that_is_malformed_or_missing_is_refused(tmp_path, ref: str) -> None:
    with pytest.raises(RemoteProtocolError):
        read_artifact(tmp_path, ArtifactRef(ref, 10))


def test_an_artifact_that_was_changed_is_refused(tmp_path) -> None:
    outcome = make_outcome(answer("x" * 70_000), Account(Limits()), tmp_path, ())
    assert outcome.result_ref is not None
    stored = tmp_path / "artifacts" / outcome.result_ref.ref.removeprefix("sha256:")
    stored.write_bytes(b"y" * outcome.result_ref.size_bytes)
    with pytest.raises(RemoteProtocolError):
        read_artifact(tmp_path, outcome.result_ref)


def test_without_an_answer_the_last_text_is_the_partial(tmp_path) -> None:
    outcome = make_outcome(Ending(ends.NO_PROGRESS, None, "half", "why"), Account(Limits()), tmp_path, ("i1",))
    assert (outcome.result, outcome.partial, outcome.about, outcome.dropped_injects) == (None, "half", "why", ("i1",))


def test_last_words_charge_what_was_held() -> None:
    account = Account(Limits())
    account.hold(Amounts(steps=1, tokens=700))
    outcome = last_words(Cancel("deadline", 5.0), account, "so far")
    assert (outcome.status, outcome.detail, outcome.partial) == (TerminalStatus.DEADLINE, Detail.WALL_CLOCK, "so far")
    assert outcome.usage.charged_unknown == 700


def test_text_is_cut_between_characters() -> None:
    cut = cut_text("é" * 40_000)
    assert len(cut.encode()) <= 64 * 1024
    assert set(cut) == {"é"}
