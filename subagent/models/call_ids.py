"""Ids for calls that came without a usable one."""

from __future__ import annotations

import os


def fresh_call_id() -> str:
    """A new id: nine letters and digits, which is what the strictest provider takes (Mistral), and at random."""
    return "c" + os.urandom(4).hex()
