from __future__ import annotations

import re
import ssl
import subprocess
import sys
import time
from pathlib import Path

import httpcore
import httpx
import pytest

from protocol.errors import SpecError
from subagent.models.connection import BoundedBackend
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


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://127.0.0.1:1",
        "https://127.0.0.1:1",
        "ftp://u:hunter2@x",
        "http://",
        " ",
        "http://u:hunter2@a b:1",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://a..b:1",
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    with pytest.raises(SpecError, match="^HTTP_PROXY: ") as refused:
        HttpEndpoint("http://model.invalid/v1/chat/completions", {})
    assert "hunter2" not in str(refused.value)


def test_a_proxy_for_all_schemes_is_not_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    HttpEndpoint("http://model.invalid/v1/chat/completions", {}).close()


def test_of_a_refusal_by_a_proxy_its_status_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([Reply(text="x")]) as server:
        monkeypatch.setenv("https_proxy", server.base_url.removesuffix("/v1"))
        endpoint = HttpEndpoint("https://model.invalid/v1/chat/completions", {})
        with pytest.raises(ModelError) as raised:
            endpoint.post(b"{}", timeout_s=5.0, deadline_s=time.monotonic() + 5)
        endpoint.close()
    assert raised.value.kind is ErrorKind.TRANSPORT
    assert re.fullmatch("model.invalid cannot be reached: the proxy answered [45][0-9]{2}", raised.value.about)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_ca_file_that_cannot_be_used_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with pytest.raises(SpecError, match="^SSL_CERT_FILE: cannot be loaded .*: give a file in PEM format"):
        HttpEndpoint("https://model.invalid/v1/chat/completions", {})
    HttpEndpoint("http://model.invalid/v1/chat/completions", {}).close()


@pytest.mark.parametrize(("host", "port"), [("a..b", 80), ("a" * 64, 80), ("x\0y", 80), ("127.0.0.1", 99_999)])
def test_an_address_that_no_socket_takes_is_no_connection(host: str, port: int) -> None:
    with pytest.raises(httpcore.ConnectError):
        BoundedBackend().connect_tcp(host, port, timeout=1.0)


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
