"""A JSON value that is carried as its bytes, or None for null.

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
