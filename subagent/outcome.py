"""The outcome of a run as it goes up: small values inline, large ones behind a reference."""

from __future__ import annotations

from pathlib import Path

import msgspec

from protocol.artifacts import write_artifact
from protocol.frames import MAX_INLINE_BYTES, Cancel
from protocol.record import Outcome
from subagent.account import Account
from subagent.brain.ends import stopped
from subagent.brain.state import Stop
from subagent.loop import Ending


def make_outcome(ending: Ending, account: Account, folder: Path, dropped_injects: tuple[str, ...]) -> Outcome:
    """What the agent says of its end. A result over 64 KiB is stored in `folder`; raises OSError if it cannot be."""
    end, result = ending.end, ending.result
    outcome = Outcome(
        status=end.status,
        detail=end.detail,
        abort=end.abort,
        result=result,
        partial=None if result is not None else cut_text(ending.partial) or None,
        usage=account.usage(),
        dropped_injects=dropped_injects,
        about=ending.about,
    )
    if result is not None and len(bytes(result)) > MAX_INLINE_BYTES:
        ref = write_artifact(folder, bytes(result))
        return msgspec.structs.replace(outcome, result=None, result_ref=ref)
    return outcome


def last_words(cancel: Cancel, account: Account, partial: str) -> Outcome:
    """The outcome of a main thread that did not answer a cancel: open holds are charged, the last text is kept."""
    end = stopped(Stop(cancel.reason, cancel.dimension))
    account.meter = account.meter.charge_open_holds()
    return Outcome(end.status, end.detail, partial=cut_text(partial) or None, usage=account.usage())


def cut_text(text: str) -> str:
    """At most 64 KiB of text, cut between characters."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= MAX_INLINE_BYTES else encoded[:MAX_INLINE_BYTES].decode("utf-8", "ignore")
