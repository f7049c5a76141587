"""`covey demo`: the embedded model takes an order from a short text, and the contract's check watches it.

It is an ordinary run, with the words around it that a first-time reader needs. All of them go to stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from protocol.journal.entries import Corrected
from protocol.journal.log import read_journal
from supervisor.cli.delivery import deliver
from supervisor.cli.planning import RunFlags, plan_run
from supervisor.cli.run import supervise_shown
from supervisor.local.demo_job import CONTRACT_FILE, DEMO_FOLDER, DEMO_ORDER, instruction

MODEL = "local/smollm2"
_OF_OTHER_MODELS = ("COVEY_MODEL", "COVEY_BASE_URL", "COVEY_API_KEY")


def run_demo() -> int:
    """Run the demo and return the run's exit code. Raises UsageProblems if the embedded model is not installed."""
    os.chdir(DEMO_FOLDER)
    flags = RunFlags(
        contract=CONTRACT_FILE.name,
        instruction=instruction(DEMO_ORDER),
        model=MODEL,
        log_format="auto" if sys.stderr.isatty() else "text",
    )
    plan, view = plan_run(flags, _without_other_models(os.environ))
    _tell(*_opening(flags))
    record, _ = supervise_shown(plan, view)
    _tell("", *_checked(Path(record.journal)))
    code = deliver(record, plan.contract, as_json=False, as_text=True)
    _tell("", *_closing(flags))
    return code


def _without_other_models(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in environ.items() if key not in _OF_OTHER_MODELS}


def _opening(flags: RunFlags) -> list[str]:
    text = (DEMO_FOLDER / DEMO_ORDER).read_text().strip()
    return [
        f"in {DEMO_FOLDER}",
        f'$ covey run "{flags.instruction}" --contract {flags.contract} --model {flags.model}',
        f"{DEMO_ORDER} says: {text}",
        "The model runs on this machine; its first call reads about 2,300 tokens, which takes a while.",
        "",
    ]


def _checked(journal: Path) -> list[str]:
    """What the contract's check had to say, from the journal of the run."""
    entries = read_journal(journal) if journal.exists() else ()
    corrected = [msgspec.json.decode(e.body, type=Corrected) for e in entries if e.type == "corrected"]
    if not corrected:
        return ["The check found nothing wrong with the first answer."]
    return [f"The check sent this back: {problem}" for one in corrected for problem in one.problems]


def _closing(flags: RunFlags) -> list[str]:
    return [
        "The embedded model can copy fields out of a short text, and little else (README).",
        "The same with a real model:",
        f'$ OPENAI_API_KEY=… covey run "{flags.instruction}" --contract {flags.contract} --model openai/NAME',
    ]


def _tell(*lines: str) -> None:
    with suppress(OSError):  # nobody reads stderr: the answer goes to stdout all the same
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
