"""The Retry-After header, in both of its forms (RFC 9110, section 10.2.3): seconds, or an HTTP date. Pure."""

from __future__ import annotations

import math
from email.utils import mktime_tz, parsedate_tz


def parse_retry_after(value: str, now_s: float) -> float | None:
    """Seconds to wait, never below zero; None if `value` is neither form. `now_s` is Unix time, for the date.

    Fractions of a second are taken too: servers send them, though the RFC has whole ones.
    """
    try:
        seconds = float(value)
    except ValueError:
        return _until(value, now_s)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _until(date: str, now_s: float) -> float | None:
    parsed = parsedate_tz(date)
    if parsed is None:
        return None
    try:
        # The obsolete form without a zone is in UTC, says the RFC; mktime_tz would take it for local time.
        return max(0.0, mktime_tz((*parsed[:9], parsed[9] or 0)) - now_s)
    except (ValueError, OverflowError):
        return None
