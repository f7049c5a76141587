"""How deep JSON may nest. A fixed bound: an interpreter's own differs by version, thread and stack.

What passes here can be decoded, validated and printed by everything behind it without a recursion error.
"""

from __future__ import annotations

from itertools import accumulate

MAX_NESTING = 128
"""Levels of arrays and objects in one line; a frame itself is the first."""

_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(byte for byte in range(256) if byte not in b"[{]}")


def is_too_deep(text: bytes, levels: int = MAX_NESTING) -> bool:
    """Whether a JSON text nests deeper than `levels`. Linear, and next to nothing for a text with few brackets."""
    if text.count(b"[") + text.count(b"{") <= levels:
        return False
    outside_strings = text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    steps = memoryview(b"".join(outside_strings).translate(_STEPS, _OTHERS)).cast("b")
    return max(accumulate(steps), default=0) > levels
