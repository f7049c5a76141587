"""The conversation: each message encoded once, and an honest size of the next request."""

from __future__ import annotations

from subagent.context.conversation import Conversation
from subagent.models.types import Message, TurnUsage


def make(fixed_bytes: int = 400) -> tuple[Conversation, list[Message]]:
    encoded: list[Message] = []

    def encode(message: Message) -> bytes:
        encoded.append(message)
        return message.content.encode()

    return Conversation(encode, fixed_bytes), encoded


def test_a_message_is_encoded_once_however_often_it_is_sent() -> None:
    conversation, encoded = make()
    conversation.append(Message("user", "x" * 100))
    for _ in range(3):
        assert list(conversation.encoded) == [b"x" * 100]
    assert len(encoded) == 1


def test_before_the_first_count_the_estimate_is_bytes() -> None:
    conversation, _ = make(fixed_bytes=400)
    conversation.append(Message("user", "x" * 600))
    assert conversation.context_tokens() == 250
    assert conversation.prompt_estimate() == 500
    assert conversation.size_bytes == 1000


def test_after_a_count_only_new_bytes_are_estimated() -> None:
    conversation, _ = make()
    conversation.append(Message("user", "x" * 600))
    conversation.append(Message("assistant", "y" * 80))
    conversation.count(TurnUsage(tokens_in=210, tokens_out=20))
    assert conversation.context_tokens() == 230
    conversation.append(Message("tool", "z" * 400))
    assert conversation.context_tokens() == 330
    assert conversation.prompt_estimate() == 430
