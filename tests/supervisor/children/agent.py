"""Fake agents, one behaviour each: `agent.py BEHAVIOUR [ARGS] --parent PID`. They speak the real wire."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from speak import Link, answer, cancelled, ready, write

from protocol.budget import Amounts
from protocol.codec import encode_frame
from protocol.frames import Event, MeterFrame, Request


def answers(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready(), answer())


def obeys(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    cancel = link.answer_until_cancelled()
    if cancel is not None:
        link.say(cancelled(cancel))


def ignores_everything(link: Link) -> None:
    """Pongs, and nothing else moves it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    link.wait_for_spawn()
    link.say(ready())
    while link.answer_until_cancelled() is not None:
        pass
    time.sleep(600)


def never_ready(link: Link) -> None:
    link.wait_for_spawn()
    time.sleep(600)


def never_pongs(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    time.sleep(600)


def stops_itself(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    os.kill(os.getpid(), signal.SIGSTOP)


def exits_at_once(_link: Link) -> None:
    os._exit(7)


def exits_silently(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    os._exit(9)


def is_killed(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready(), MeterFrame(Amounts(1, 100), Amounts(1, 50)))
    os.kill(os.getpid(), signal.SIGKILL)


def dies_inside_a_frame(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    write(encode_frame(answer())[:-20])
    os._exit(0)


def prints_garbage(link: Link) -> None:
    link.wait_for_spawn()
    write(b"Traceback (most recent call last):\n\x00\xff\xfe\n[1,2]\n{}\n" * 3)
    link.say(ready())
    write(b'{"type":"hologram"}\n')
    link.say(Event("loop.nonsense"), Event("loop.start", {"tools": 1, "context_window": 2}), answer())


def prints_garbage_for_ever(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    while True:
        write(b"not a frame\n" * 1000)


def says_a_huge_line(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    write(b'{"type":"event","name":"' + b"x" * 3_000_000 + b'"}\n')
    link.say(answer("after the huge line"))


def floods(link: Link) -> None:
    """Text for display, faster than anyone can look; then the answer."""
    link.wait_for_spawn()
    link.say(ready())
    line = encode_frame(Event("intel.delta", {"text": "x" * 200}))
    for _ in range(200):
        write(line * 100)
    link.say(answer())


def floods_stderr(link: Link) -> None:
    link.wait_for_spawn()
    for _ in range(64):
        os.write(2, b"e" * 65536)
    link.say(ready(), answer())


def closes_stdin(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    os.close(0)
    time.sleep(600)


def closes_stdout(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    os.close(1)
    time.sleep(600)


def asks_and_closes_stdout(link: Link) -> None:
    import msgspec

    link.wait_for_spawn()
    link.say(ready(), Request("q1", "human.ask", msgspec.Raw(b"{}")))
    os.close(1)
    time.sleep(600)


def refuses_to_read(link: Link) -> None:
    """Breaks the protocol in ways that are answered, and reads none of the answers."""
    import msgspec

    link.wait_for_spawn()
    link.say(ready())
    for number in range(5000):
        link.say(Request(f"q{number}", "human.ask", msgspec.Raw(b"{}")))
    time.sleep(600)


def says_two_results(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready(), answer("first"), answer("second"))


def stays_after_its_result(link: Link) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    link.wait_for_spawn()
    link.say(ready(), answer())
    time.sleep(600)


def overspends(link: Link) -> None:
    """Reports more and more, deaf to its cancel."""
    link.wait_for_spawn()
    link.say(ready())
    for turn in range(1, 10_000):
        link.say(MeterFrame(Amounts(turn, turn * 1000), Amounts(1, 500)))
        time.sleep(0.001)


def burns_cpu(link: Link) -> None:
    link.wait_for_spawn()
    link.say(ready())
    while True:
        pass


def leaves_a_grandchild(link: Link) -> None:
    """It holds our pipes, in our group."""
    link.wait_for_spawn()
    subprocess.Popen(["/bin/sleep", "600"])
    link.say(ready(), answer())


def leaves_an_escapee(link: Link) -> None:
    """It holds our pipes, in a session of its own, and has a child there."""
    link.wait_for_spawn()
    script = "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nos.fork()\ntime.sleep(600)"
    subprocess.run([sys.executable, "-S", "-c", script], check=True)
    link.say(ready(), answer())


def keeps_escapees(link: Link) -> None:
    """As an agent in the middle of its work: a command in its group, another in a session of its own."""
    link.wait_for_spawn()
    subprocess.Popen(["/bin/sleep", "600"])
    subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
    link.say(ready())
    cancel = link.answer_until_cancelled()
    if cancel is not None:
        link.say(cancelled(cancel))


def tells_its_environment(link: Link) -> None:
    import msgspec

    link.wait_for_spawn()
    link.say(ready(), answer(msgspec.json.encode(dict(os.environ)).decode()))


def tells_its_payload(link: Link) -> None:
    import msgspec

    link.say(ready(), answer(msgspec.json.encode(link.wait_for_spawn()).decode()))


def stores_its_answer(link: Link) -> None:
    from pathlib import Path

    import msgspec

    from protocol.artifacts import write_artifact
    from protocol.frames import Result

    folder = Path(link.wait_for_spawn().journal).parent
    ref = write_artifact(folder, msgspec.json.encode("long" * 50_000))
    outcome = answer().outcome
    link.say(ready(), Result(msgspec.structs.replace(outcome, result=None, result_ref=ref)))


def refers_to_nothing(link: Link) -> None:
    import msgspec

    from protocol.frames import Result
    from protocol.record import ArtifactRef

    link.wait_for_spawn()
    ref = ArtifactRef("sha256:" + "0" * 64, 10)
    link.say(ready(), Result(msgspec.structs.replace(answer().outcome, result=None, result_ref=ref)))


def refers_to_a_fifo(link: Link) -> None:
    from pathlib import Path

    import msgspec

    from protocol.artifacts import write_artifact
    from protocol.frames import Result

    folder = Path(link.wait_for_spawn().journal).parent
    ref = write_artifact(folder, b'"x"')
    [stored] = (folder / "artifacts").iterdir()
    stored.unlink()
    os.mkfifo(stored)
    link.say(ready(), Result(msgspec.structs.replace(answer().outcome, result=None, result_ref=ref)))


def _claims_use(link: Link, usage: bytes) -> None:
    link.wait_for_spawn()
    link.say(ready())
    write(b'{"type":"result","outcome":{"status":"completed","result":"x","usage":' + usage + b"}}\n")


def claims_negative_use(link: Link) -> None:
    _claims_use(link, b'{"tokens":-5}')


def claims_more_use_than_a_count(link: Link) -> None:
    _claims_use(link, b'{"steps":9007199254740992}')


def claims_the_most_use(link: Link) -> None:
    most = 2**53 - 1
    link.wait_for_spawn()
    link.say(ready(), MeterFrame(Amounts(1, most), Amounts(1, most, cpu_s=1e308)))
    os._exit(3)


def contradicts_itself(link: Link) -> None:
    import msgspec

    from protocol.frames import Result
    from protocol.status import Abort, Detail

    link.wait_for_spawn()
    outcome = msgspec.structs.replace(answer().outcome, detail=Detail.OOM, abort=Abort.MCP_UNAVAILABLE)
    link.say(ready(), Result(outcome))


def answers_a_number(link: Link) -> None:
    import msgspec

    from protocol.frames import Result

    link.wait_for_spawn()
    link.say(ready(), Result(msgspec.structs.replace(answer().outcome, result=msgspec.Raw(b"7"))))


if __name__ == "__main__":
    globals()[sys.argv[1]](Link())
