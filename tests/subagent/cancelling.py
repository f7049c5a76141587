"""A process that is cancelled at random moments of its work; run by test_cancel.py.

    python cancelling.py ROUNDS SEED

Each round: the main thread does turns of mixed work (blocking reads, sleeps, pure Python, unshielded writes),
a second thread plays the reader and cancels after a random time, then presses as the reader does. Prints one
JSON line: how many rounds took, how many needed the last resort, the slowest time to acknowledge in ms.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time

from protocol.frames import Cancel
from subagent.cancel import NUDGE_INTERVAL_S, CancelGate, CancelRaised


def work(gate: CancelGate, pipe_fd: int, torn: list[bytes]) -> None:
    """Turns until cancelled: as the loop does, state is changed outside of regions only."""
    while gate.acknowledge() is None:
        try:
            with gate.region():
                os.read(pipe_fd, 1) if random.random() < 0.5 else time.sleep(60)
        except CancelRaised:
            continue
        finally:
            torn.append(b"line")
        try:
            with gate.region():
                sum(i * i for i in range(20_000))
                with gate.shielded():
                    torn.append(b"line")
                time.sleep(0.0005)
        except CancelRaised:
            continue


def one_round(gate: CancelGate, pause_s: float, wake_fd: int) -> float:
    def press() -> None:
        time.sleep(pause_s)
        gate.request(Cancel("request", 5.0))
        while gate.pending:
            gate.nudge()
            time.sleep(NUDGE_INTERVAL_S)

    def feed() -> None:
        while not gate.pending and gate.requested is None:
            os.write(wake_fd, b"x")
            time.sleep(0.0003)

    threads = [threading.Thread(target=press), threading.Thread(target=feed)]
    for thread in threads:
        thread.start()
    read_fd = FDS[0]
    torn: list[bytes] = []
    work(gate, read_fd, torn)
    took_s = time.monotonic() - gate._requested_at_s
    for thread in threads:
        thread.join()
    return took_s


FDS = os.pipe()


def main(rounds: int, seed: int) -> None:
    random.seed(seed)
    slowest_s, late = 0.0, 0
    for _ in range(rounds):
        took_s = one_round(CancelGate(), random.uniform(0, 0.004), FDS[1])
        slowest_s = max(slowest_s, took_s)
        late += took_s > 0.3
    print(json.dumps({"took": rounds, "late": late, "slowest_ms": round(slowest_s * 1000, 1)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
