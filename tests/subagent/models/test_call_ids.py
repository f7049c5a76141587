from __future__ import annotations

import re
import string

from subagent.models.call_ids import fresh_call_id


def test_ids_are_nine_letters_and_digits_and_differ() -> None:
    ids = {fresh_call_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch("[a-z0-9]{9}", call_id) for call_id in ids)
    assert set("".join(ids)) == set(string.ascii_lowercase + string.digits)
