"""JSON values that are carried as their bytes: None for null, and never a line end in the middle of a line.

msgspec decodes a field of type `Raw | None` only from null: it refuses every other value. So the decoder is
shown `Raw`, which takes null as well, and the struct turns that null into None after decoding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    RawOrNone = msgspec.Raw | None
else:
    RawOrNone = msgspec.Raw


_NULL = msgspec.Raw(b"null")


def null_is_none(decoded: msgspec.Struct, field: str) -> None:
    """Call it in `__post_init__` for each RawOrNone field."""
    if getattr(decoded, field) == _NULL:
        msgspec.structs.force_setattr(decoded, field, None)


def on_one_line(encoded: bytes) -> bytes:
    """`encoded` JSON without line ends. A Raw value stands as its author wrote it, and may be spread over lines."""
    return msgspec.json.format(encoded, indent=-1) if b"\n" in encoded or b"\r" in encoded else encoded
