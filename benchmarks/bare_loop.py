"""The floor: httpx and msgspec alone, a growing history, one tool. No journal, no supervisor, no checks.

python bare_loop.py BASE_URL
"""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import msgspec

SCHEMA = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def ask(client: httpx.Client, url: str, messages: list[dict]) -> dict:
    body = {"model": "m", "messages": messages, "tools": [SCHEMA], "stream": True}
    message: dict = {"role": "assistant", "content": None}
    with client.stream("POST", url, content=msgspec.json.encode(body)) as response:
        for line in response.iter_lines():
            if not line.startswith("data: ") or line == "data: [DONE]":
                continue
            choices = msgspec.json.decode(line[6:])["choices"]
            if choices:
                add(message, choices[0]["delta"])
    return message


def add(message: dict, delta: dict) -> None:
    if delta.get("content"):
        message["content"] = (message["content"] or "") + delta["content"]
    for call in delta.get("tool_calls", ()):
        have = message.setdefault("tool_calls", [])
        if "id" in call:
            have.append({"id": call["id"], "type": "function", "function": dict(call["function"])})
        else:
            have[call["index"]]["function"]["arguments"] += call["function"]["arguments"]


def main(base_url: str) -> None:
    client = httpx.Client(timeout=60)
    messages: list[dict] = [{"role": "user", "content": "go"}]
    while True:
        message = ask(client, base_url + "/chat/completions", messages)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            path = msgspec.json.decode(call["function"]["arguments"])["path"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": Path(path).read_text()})
    print(message["content"])


if __name__ == "__main__":
    main(sys.argv[1])
