"""What every fake agent shares: the real wire on fds 0 and 1, and the parent-death signal."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from protocol.codec import FrameDecoder, down_decoder, encode_frame
from protocol.frames import Activity, AnyFrame, Cancel, DownFrame, Ping, Pong, Ready, Result, Spawn
from protocol.kinship import die_with_parent
from protocol.record import Outcome, Usage
from protocol.status import Detail, TerminalStatus


class Link:
    """Blocking, one thread: frames in the order in which they come."""

    def __init__(self) -> None:
        if not die_with_parent(int(sys.argv[-1])):
            os._exit(0)
        self._decoder: FrameDecoder[DownFrame] = down_decoder()
        self._frames: list[Any] = []

    def next(self) -> AnyFrame | None:
        """The next frame, or None at EOF."""
        while not self._frames:
            chunk = os.read(0, 65536)
            if not chunk:
                return None
            self._frames += self._decoder.feed(chunk)
        return self._frames.pop(0)

    def wait_for_spawn(self) -> Spawn:
        frame = self.next()
        assert isinstance(frame, Spawn)
        return frame

    def say(self, *frames: AnyFrame) -> None:
        write(b"".join(encode_frame(frame) for frame in frames))

    def answer_until_cancelled(self) -> Cancel | None:
        """Pong until a cancel comes, or EOF."""
        while (frame := self.next()) is not None:
            if isinstance(frame, Ping):
                self.say(pong(frame.seq))
            if isinstance(frame, Cancel):
                return frame
        return None


def write(content: bytes) -> None:
    while content:
        content = content[os.write(1, content) :]


def pong(seq: int, kind: str = "model", busy_for_s: float = 60.0) -> Pong:
    now = time.monotonic()
    return Pong(seq, Activity(kind, now, now + busy_for_s))


def ready() -> Ready:
    return Ready(os.getpid(), ("cancel",))


def answer(text: str = "fine") -> Result:
    import msgspec

    usage = Usage(steps=1, tokens=12, tokens_in=10, tokens_out=2)
    return Result(Outcome(TerminalStatus.COMPLETED, result=msgspec.Raw(msgspec.json.encode(text)), usage=usage))


def cancelled(cancel: Cancel) -> Result:
    detail = Detail.SIGNAL if cancel.reason == "signal" else Detail.REQUEST
    return Result(Outcome(TerminalStatus.CANCELLED, detail, partial="so far", usage=Usage(steps=1, tokens=7)))
