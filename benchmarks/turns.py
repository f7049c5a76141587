"""The runtime's own time per turn, journal and supervision included, next to a bare httpx loop.

python -m benchmarks.turns [RUNS]
"""

from __future__ import annotations

import sys

from benchmarks.sides import medians, take


def main(runs: int) -> None:
    print("| turns | bare, ms a turn | covey, ms a turn | ratio |")
    print("|---|---|---|---|")
    for turns in (50, 200):
        pairs = [(take("bare", turns), take("covey", turns)) for _ in range(runs)]
        bare = medians([pair[0] for pair in pairs]).per_turn_ms
        covey = medians([pair[1] for pair in pairs]).per_turn_ms
        print(f"| {turns} | {bare:.2f} | {covey:.2f} | {covey / bare:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
