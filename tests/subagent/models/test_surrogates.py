from __future__ import annotations

import pytest

from subagent.models.surrogates import encodable, paired


@pytest.mark.parametrize(
    ("text", "joined", "clean"),
    [
        ("plain", "plain", "plain"),
        ("é 😀", "é 😀", "é 😀"),
        ("\ud83d\ude00", "😀", "😀"),
        ("a\ud83d", "a\ud83d", "a\ufffd"),
        ("\ude00\ud83d", "\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_meet_and_lone_ones_are_replaced(text: str, joined: str, clean: str) -> None:
    assert paired(text) == joined
    assert encodable(text) == clean
    encodable(text).encode()
