"""The command as users meet it: a real process, bad input, exit codes, two streams kept apart."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

COVEY = [sys.executable, "-m", "supervisor"]
SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def covey(tmp_path):
    """Runs the command in an empty folder; afterwards nothing may have been made in home or folder."""
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()

    def run(*args: str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = subprocess.run(
            [*COVEY, *args], input=stdin, cwd=work, env={**kept, "COVEY_HOME": str(home), **environ},
            capture_output=True, timeout=30, check=False,
        )  # fmt: skip
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    yield run
    assert not home.exists()
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["run", "x", "--tokns", "5"], ["--tokns", "--tokens"]),
        (["run", "x", "--steps", "0"], ["--steps: 0 is not a limit"]),
        (["run", "x", "--tokens", "-5"], ["--tokens: '-5'"]),
        (["run", "x", "--tool-calls", "many"], ["--tool-calls: 'many'"]),
        (["run", "x", "--deadline", "10"], ["write 10s"]),
        (["run", "x", "--run-id", "../../etc"], ["--run-id: '../../etc': give 1 to 64 letters"]),
        (["run", "x", "--context-window", "-5"], ["--context-window: '-5' is not a whole number, zero or above"]),
        (["run", "x", "--workspace", "/no/such/folder"], ["--workspace"]),
        (["run", "x", "--log-format", "yaml"], ["--log-format", "auto, text, json"]),
        (["run", "x", "--contract", "/no/such/file"], ["--contract", "No such file"]),
        (["run", "do", "it"], ["put the instruction in quotes"]),
        (["run"], ["INSTRUCTION: is missing"]),
        (["run", "-"], ["standard input: is empty"]),
        (["run", "x", "--model", "opnai/x"], ["did you mean openai?", "./dev demo"]),
        (["run", "x", "--model", "scripted/none.jsonl"], ["cannot read 'none.jsonl'"]),
        (["rn"], ["Did you mean 'run'?"]),
        (["--versoin"], ["--version"]),
        ([], ["no command is given"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value and value[0] in ("run", "rn") else None,
)
def test_bad_input_ends_with_2_before_any_side_effect_and_names_the_fix(covey, args, parts):
    model = {} if "--model" in args else {"COVEY_MODEL": "ollama/m"}
    done = covey(*args, **model)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr


def test_no_key_and_no_endpoint_tells_the_choices_and_the_demo(covey):
    for environ in ({}, {"COVEY_MODEL": "openai/gpt"}):
        done = covey("run", "x", **environ)
        assert (done.returncode, done.stdout) == (2, "")
        assert "./dev demo" in done.stderr
        assert "OPENAI_API_KEY" in done.stderr


def test_every_problem_is_told_in_one_pass_and_the_list_of_choices_last(covey):
    done = covey("run", "x", "--stpes", "3", "--tokens", "0", "--deadline", "soon", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    positions = [
        done.stderr.index(part) for part in ("--stpes", "--tokens: 0", "--deadline: 'soon'", "no model is chosen")
    ]
    assert positions[-1] == max(positions)


def test_a_bad_key_or_endpoint_is_refused_without_showing_it(covey):
    for done in (
        covey("run", "x", COVEY_MODEL="openai/m", OPENAI_API_KEY=f"{SECRET} {SECRET}"),
        covey("run", "x", COVEY_MODEL="openai/m", COVEY_BASE_URL=f"https://user:{SECRET}@host/v1"),
        covey("run", "x", "--model", "openai/m", "--base-url", f"https://host/v1?key={SECRET}"),
    ):
        assert done.returncode == 2
        assert SECRET not in done.stderr + done.stdout


def test_version_and_help_are_answers_on_stdout(covey):
    version = covey("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("covey ")
    for args in (("--help",), ("run", "--help"), ("doctor", "-h")):
        done = covey(*args)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage: covey" in done.stdout
    for code in ("124", "0    completed"):
        assert code in covey("run", "--help").stdout


@pytest.mark.parametrize("args", [["run", "--help"], ["--version"], ["run", "x", "--steps", "0"]])
def test_a_pipe_that_nobody_reads_makes_no_traceback(args, tmp_path):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*COVEY, *args], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path, timeout=30, check=False)
    os.close(write)
    assert done.returncode == (2 if "--steps" in args else 0)
    assert (done.stderr == b"") == (done.returncode == 0)
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.parametrize("args", [["--help"], ["run", "--help"], ["--version"], ["doctor"], ["doctor", "--json"]])
@pytest.mark.parametrize(("stdout", "why"), [(">/dev/full", "No space left"), (">&-", "Bad file descriptor")])
def test_what_cannot_be_printed_is_one_line_on_stderr_and_a_failure(args, stdout, why, tmp_path):
    done = in_shell(stdout, *args, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [f"covey: stdout cannot be written: {done.stderr.split(': ')[-1].strip()}"]
    assert why in done.stderr


@pytest.mark.parametrize(
    ("stdin", "told"), [("<&-", "is closed: give the instruction as an argument"), ("0>out", "cannot be read: ")]
)
def test_a_standard_input_that_gives_nothing_is_told(stdin, told, tmp_path):
    done = in_shell(stdin, "run", "-", "--model", "ollama/m", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"covey run: standard input: {told}")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_nobody_gets_changes_no_exit_code(stderr, tmp_path):
    assert in_shell(stderr, "run", "x", "--steps", "0", cwd=tmp_path).returncode == 2


def test_a_demo_without_the_embedded_model_speaks_of_the_demo():
    program = (
        "import sys\n"
        "from supervisor.local import weights\n"
        "weights.has_engine = lambda: False\n"
        "from supervisor.cli import main\n"
        "sys.exit(main(['demo']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30, check=False)
    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert told.startswith("covey demo: the embedded model is not installed: `./dev demo` installs it; or by hand:\n")
    assert told.endswith("Try 'covey demo --help'.\n")
    assert "covey run" not in told


def in_shell(redirection: str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command with a stream that only a shell makes."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirection}', "sh", *COVEY, *args],
        capture_output=True, text=True, timeout=30, cwd=cwd, check=False,
        env={**os.environ, "COVEY_HOME": str(cwd / "home")}, stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_before_the_run_began_ends_the_command_with_3(number, tmp_path):
    environ = {**os.environ, "COVEY_HOME": str(tmp_path / "home")}
    command = [*COVEY, "run", "-", "--model", "ollama/m"]
    read, write = os.pipe()
    process = subprocess.Popen(
        command, stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=tmp_path
    )
    try:
        os.write(write, b"half an instruction")
        wait_until_empty(read)
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait(timeout=20)
        os.close(read)
        os.close(write)
    assert (process.returncode, out) == (3, b"")
    assert err.strip() == b"covey: interrupted before the run began"
    assert not (tmp_path / "home").exists()


def wait_until_empty(pipe: int) -> None:
    """The command has taken what was written: it reads standard input now."""
    end_s = time.monotonic() + 20
    waiting = bytearray(4)
    while time.monotonic() < end_s:
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)
        if not any(waiting):
            return
        time.sleep(0.01)
    raise AssertionError("standard input was never read")
