from __future__ import annotations

import pytest

from protocol.errors import SpecError
from protocol.frames import Secrets
from protocol.model import ModelSpec
from subagent.models.open import chat_url, open_wire
from subagent.models.openai_chat import OpenAIChat
from subagent.models.text_wire import TextWire


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://127.0.0.1:8/v1", "http://127.0.0.1:8/v1/chat/completions"),
        ("https://h/v1/", "https://h/v1/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/d?api-version=1", "https://h/d/chat/completions?api-version=1"),
        ("http://[::1]:8/v1#x", "http://[::1]:8/v1/chat/completions"),
    ],
)
def test_requests_go_below_the_base_url(base_url: str, url: str) -> None:
    assert chat_url(base_url) == url


@pytest.mark.parametrize(
    "base_url", ["", "h/v1", "ftp://h", "http://", "http://h:x/", "http://h:99999/", "http://h:0/", "http://[::1/"]
)
def test_a_base_url_that_is_none_is_refused_with_the_fix(base_url: str) -> None:
    with pytest.raises(SpecError, match="base URL: must be http://"):
        chat_url(base_url)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://a..b/v1",
        f"http://{'a' * 64}.com/v1",
        f"http://{'a.' * 200}com/v1",
        "http://xn--/v1",
        "http://.../v1",
        "http://[v1.x]:1/v1",
        "http://a b/v1",
        "http://%00/v1",
        f"http://127.0.0.1:1/{'p' * 100_000}",
    ],
)
def test_a_base_url_that_only_a_library_would_have_noticed_is_refused_too(base_url: str) -> None:
    with pytest.raises(SpecError, match="^base URL: ") as refused:
        open_wire(ModelSpec("x", "m", base_url), Secrets(), [], None)
    assert refused.value.field == "base URL"


def test_a_password_in_the_url_is_refused_and_not_quoted() -> None:
    with pytest.raises(SpecError, match="COVEY_API_KEY") as raised:
        chat_url("http://user:hunter2@h/v1")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk-1 ", " sk-1", "sk-é", "sk-1\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_quoted(key: str) -> None:
    with pytest.raises(SpecError, match="API key") as raised:
        open_wire(ModelSpec("x", "m", "http://h/v1"), Secrets(key), [], None)
    assert key not in str(raised.value)


def test_the_tool_style_of_the_model_picks_the_wire() -> None:
    for style, kind in (("native", OpenAIChat), ("text", TextWire)):
        wire = open_wire(ModelSpec("x", "m", "http://h/v1", tool_style=style), Secrets(), [], None)  # type: ignore[arg-type]
        assert isinstance(wire, kind)
        wire.close()
