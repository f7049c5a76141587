"""The demo's job: to take an order from a short text, field by field, by copying. The contract lies beside it."""

from __future__ import annotations

from pathlib import Path

DEMO_FOLDER = Path(__file__).with_name("demo")
CONTRACT_FILE = DEMO_FOLDER / "contract.json"
DEMO_ORDER = "orders/mail.txt"
"""An order on which the model's first answer is wrong, as measured: the check is seen at work."""


def instruction(path: str) -> str:
    """What an agent is told about one order. The wording of the worked examples."""
    return f"Read {path} and extract the order."
