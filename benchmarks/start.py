"""How long `covey run` takes beyond the endpoint's own time, next to a bare httpx loop. One text reply.

python -m benchmarks.start [RUNS]
"""

from __future__ import annotations

import sys

from benchmarks.sides import medians, take


def main(runs: int) -> None:
    taken = {"bare": [], "covey": []}
    for _ in range(runs):
        for side, into in taken.items():
            into.append(take(side, turns=0))
    print("| side | spawn to first request, ms | last reply to exit, ms | spawn to exit, ms |")
    print("|---|---|---|---|")
    middle = {side: medians(found) for side, found in taken.items()}
    for side, m in middle.items():
        print(f"| {side} | {m.to_request_ms:.0f} | {m.to_exit_ms:.0f} | {m.total_ms:.0f} |")
    ratio = middle["covey"].to_request_ms / middle["bare"].to_request_ms
    print(f"\ncovey over bare, to the first request: {ratio:.2f} (median of {runs})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
