"""`covey` with a fake agent: guard, supervisor, agent. `entry.py HOME RUN BEHAVIOUR [SETTINGS]` prints the record."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from supervisor.guard import run_guarded


def command() -> int:
    from supervisor.machine.settings import SupervisionSettings
    from supervisor.run import supervise
    from tests.supervisor.running import Recorder, fake_agent, make_plan

    home, run_id, behaviour, *rest = sys.argv[1:]
    settings = msgspec.json.decode(rest[0] if rest else "{}", type=SupervisionSettings)
    record = supervise(make_plan(Path(home), run_id), Recorder(), agent_argv=fake_agent(behaviour), settings=settings)
    sys.stdout.buffer.write(msgspec.json.encode(record) + b"\n")
    sys.stdout.flush()
    return record.exit_code


if __name__ == "__main__":
    sys.exit(run_guarded(command))
