"""Ids for calls: ours, whatever the provider sent."""

from __future__ import annotations

import secrets
import string

_ALPHABET = string.ascii_lowercase + string.digits


def fresh_call_id() -> str:
    """A new id: nine letters and digits, which is what the strictest provider takes (Mistral).

    At random, 46 bits of it: nothing has to remember which ids a conversation has used.
    """
    return "".join(secrets.choice(_ALPHABET) for _ in range(9))
