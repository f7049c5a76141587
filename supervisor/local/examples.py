"""The worked examples that the embedded model is shown: it copies well once it has seen how, and not before."""

from __future__ import annotations

from pathlib import Path

import msgspec

from protocol.model import ActionExample

_FILE = Path(__file__).with_name("examples.json")


def load_examples() -> tuple[ActionExample, ...]:
    """The shipped examples, in the order in which they are shown."""
    return msgspec.json.decode(_FILE.read_bytes(), type=tuple[ActionExample, ...])
