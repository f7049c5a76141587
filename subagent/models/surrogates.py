"""Text that UTF-8 can carry. Models send JSON escapes, and some split an emoji's two halves over two deltas. Pure."""

from __future__ import annotations


def paired(text: str) -> str:
    """`text` with the two halves of each surrogate pair joined. A lone half stays."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def encodable(text: str) -> str:
    """`text` with pairs joined and each lone half replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
