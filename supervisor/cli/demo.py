"""`covey demo`: the embedded model takes an order from a short text, and the contract's check watches it.

It is an ordinary run, with the words around it that a first-time reader needs. All of them go to stderr.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from supervisor.cli.corrections import read_corrections
from supervisor.cli.delivery import deliver
from supervisor.cli.planning import RunFlags, plan_run
from supervisor.cli.problems import UsageProblems
from supervisor.cli.run import supervise_shown
from supervisor.cli.streams import STDERR, tell
from supervisor.console.rendering import clean
from supervisor.local.demo_job import CONTRACT_FILE, DEMO_FOLDER, DEMO_ORDER, instruction
from supervisor.providers import ModelFlags, choose_model
from supervisor.served_models import NoModel

COMMAND = "covey demo"
MODEL = "local/smollm2"
_OF_OTHER_MODELS = ("COVEY_MODEL", "COVEY_BASE_URL", "COVEY_API_KEY")


def run_demo() -> int:
    """Run the demo and return the run's exit code. Raises UsageProblems if the embedded model is not installed."""
    try:
        choose_model(ModelFlags(MODEL), {})
        return _watch_run()
    except NoModel as error:
        raise UsageProblems([error.advice], COMMAND) from error
    except UsageProblems as error:
        raise UsageProblems(error.problems, COMMAND) from error


def _watch_run() -> int:
    os.chdir(DEMO_FOLDER)
    flags = RunFlags(
        contract=CONTRACT_FILE.name,
        instruction=instruction(DEMO_ORDER),
        model=MODEL,
        log_format="auto" if os.isatty(STDERR) else "text",
    )
    plan, view = plan_run(flags, _without_other_models(os.environ))
    tell(_opening(flags))
    record, _ = supervise_shown(plan, view)
    tell(["", *_checked(read_corrections(Path(record.journal)))])
    code = deliver(record, plan.contract, as_json=False, as_text=True)
    tell(["", *_closing(flags)])
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


def _checked(corrections: Sequence[Sequence[str]]) -> list[str]:
    """What the contract's check had to say."""
    if not corrections:
        return ["The check found nothing wrong with the first answer."]
    return [f"The check sent this back: {clean(problem)}" for problems in corrections for problem in problems]


def _closing(flags: RunFlags) -> list[str]:
    return [
        "The embedded model can copy fields out of a short text, and little else (README).",
        "The same with a real model:",
        f'$ OPENAI_API_KEY=… covey run "{flags.instruction}" --contract {flags.contract} --model openai/NAME',
    ]
