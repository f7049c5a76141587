from __future__ import annotations

import ssl
import subprocess
import sys
import time

import httpx
import pytest

from protocol.errors import SpecError
from subagent.models.http import MAX_ERROR_BODY_BYTES, HttpEndpoint
from subagent.models.types import ErrorKind, ModelError
from supervisor.scripted.replies import Reply
from supervisor.scripted.server import ScriptedServer


def test_the_body_of_an_error_is_read_up_to_its_bound() -> None:
    with ScriptedServer([Reply(status=500, error="x" * 1_000_000)]) as server:
        endpoint = HttpEndpoint(f"{server.base_url}/chat/completions", {})
        with endpoint.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() + 5) as answer:
            assert len(answer.error_body()) == MAX_ERROR_BODY_BYTES
        endpoint.close()


def test_after_the_deadline_nothing_is_sent() -> None:
    with ScriptedServer([Reply()]) as server:
        endpoint = HttpEndpoint(f"{server.base_url}/chat/completions", {})
        with pytest.raises(ModelError) as raised:
            endpoint.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() - 1)
        assert raised.value.kind is ErrorKind.TRANSPORT
        endpoint.close()


def test_a_proxy_of_the_environment_is_used_but_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([Reply(text="x", repeat=2)]) as server:
        port = server.base_url.split(":")[2].removesuffix("/v1")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("no_proxy", "direct.invalid")
        proxied = HttpEndpoint("http://model.invalid/v1/chat/completions", {})
        with proxied.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() + 5) as answer:
            assert answer.status == 200
        assert server.requests[0].path == "http://model.invalid/v1/chat/completions"
        proxied.close()
        direct = HttpEndpoint("http://direct.invalid/v1/chat/completions", {})
        with pytest.raises(ModelError, match="cannot be reached"):
            direct.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() + 5)
        direct.close()
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
        local = HttpEndpoint(f"{server.base_url}/chat/completions", {})
        with local.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() + 5) as answer:
            assert answer.status == 200
        local.close()


def test_a_proxy_that_cannot_be_used_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(SpecError, match="HTTPS_PROXY"):
        HttpEndpoint("https://model.invalid/v1/chat/completions", {})


def test_opening_a_wire_imports_no_command_line() -> None:
    script = (
        "import sys; from subagent.models.open import open_wire; from protocol.frames import Secrets; "
        "from protocol.model import ModelSpec; open_wire(ModelSpec('x', 'm', 'http://h/v1'), Secrets(), [], None); "
        "print([name for name in ('click', 'rich', 'pygments', 'asyncio') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert result.stdout.strip() == "[]"


def test_only_an_https_endpoint_pays_for_a_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[ssl.SSLContext] = []

    def build() -> ssl.SSLContext:
        built.append(ssl.create_default_context())
        return built[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", build)
    HttpEndpoint("http://127.0.0.1:1/v1", {}).close()
    assert built == []
    HttpEndpoint("https://127.0.0.1:1/v1", {}).close()
    assert len(built) == 1
