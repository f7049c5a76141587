from __future__ import annotations

import hashlib
import threading
import time

import httpx
import pytest

from supervisor.scripted.replies import Reply
from supervisor.scripted.server import ScriptedServer


def ask(server: ScriptedServer, text: str = "hi", **options: object) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **options}
    return httpx.post(
        f"{server.base_url}/chat/completions",
        json=body,
        headers={"authorization": "Bearer k3y"},
        timeout=10,
        trust_env=False,
    )


def test_a_script_is_served_streamed_and_whole_and_then_ends() -> None:
    with ScriptedServer([Reply(text="one"), Reply(text="two")]) as server:
        streamed = ask(server, stream=True)
        assert streamed.headers["content-type"] == "text/event-stream"
        assert streamed.text.endswith("data: [DONE]\n\n")
        assert ask(server).json()["choices"][0]["message"]["content"] == "two"
        ended = ask(server)
        assert (ended.status_code, ended.json()["error"]["code"]) == (410, "script_ended")


def test_an_error_has_its_status_headers_and_body() -> None:
    with ScriptedServer([Reply(status=429, headers={"Retry-After": "3"}, error={"code": "slow"})]) as server:
        answer = ask(server)
        assert (answer.status_code, answer.headers["retry-after"], answer.json()) == (
            429,
            "3",
            {"error": {"code": "slow"}},
        )


def test_an_unmet_expectation_is_a_418_and_is_told_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer([Reply(expect=("notes.txt",))]) as server:
        assert ask(server).status_code == 418
    assert "request 1 does not hold 'notes.txt'" in capfd.readouterr().err


def test_what_was_asked_can_be_read_and_the_key_cannot() -> None:
    with ScriptedServer([Reply(text="x"), Reply(cut="connection")]) as server:
        ask(server, "first")
        with pytest.raises(httpx.RemoteProtocolError):
            ask(server, "second")
        told = httpx.get(server.base_url.removesuffix("/v1") + "/requests", trust_env=False)
        assert b"k3y" not in told.content
        assert [(request["status"], request["body"]["messages"][0]["content"]) for request in told.json()] == [
            (200, "first"),
            (0, "second"),
        ]
        assert {request["bearer_sha256"] for request in told.json()} == {hashlib.sha256(b"k3y").hexdigest()}


def test_no_key_is_told_as_none_and_a_body_that_is_no_json_as_its_text() -> None:
    with ScriptedServer([Reply(text="x")]) as server:
        httpx.post(f"{server.base_url}/chat/completions", content=b"plain", trust_env=False)
        assert server.requests[0].bearer_sha256 is None
        assert bytes(server.requests[0].body) == b'"plain"'


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("POST", "/v1/messages", 404), ("POST", "/v1/chat/completions", 413)],
)
def test_anything_else_is_refused_and_uses_no_reply_up(method: str, path: str, status: int) -> None:
    with ScriptedServer([Reply(text="x")]) as server:
        content = b"" if status == 413 else b"{}"
        url = server.base_url.removesuffix("/v1") + path
        assert httpx.request(method, url, content=content, trust_env=False).status_code == status
        assert ask(server).status_code == 200


def test_agents_that_ask_at_once_share_the_script() -> None:
    with ScriptedServer([Reply(text=str(number), delay_s=0.05) for number in range(16)]) as server:
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda: answers.append(ask(server).json()["choices"][0]["message"]["content"]))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert sorted(answers, key=int) == [str(number) for number in range(16)]


def test_closing_ends_a_delay_and_an_open_connection_at_once() -> None:
    server = ScriptedServer([Reply(text="late", delay_s=60.0)])
    failed = threading.Event()

    def wait() -> None:
        with pytest.raises(httpx.HTTPError):
            ask(server)
        failed.set()

    with server:
        threading.Thread(target=wait, daemon=True).start()
        deadline_s = time.monotonic() + 10
        while not server.requests and time.monotonic() < deadline_s:
            time.sleep(0.005)
        began_s = time.monotonic()
    assert failed.wait(5)
    assert time.monotonic() - began_s < 5


def test_one_connection_serves_many_requests() -> None:
    with ScriptedServer([Reply(text="x", repeat="forever")]) as server, httpx.Client(trust_env=False) as client:
        for _ in range(5):
            client.post(f"{server.base_url}/chat/completions", json={"stream": True})
        assert server.connections == 1
