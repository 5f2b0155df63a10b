"""Running something within a time, in this process or in a forked child."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


class TimeIsOver(BaseException):
    """Raised where a time limit ends; no handler of errors takes it for one."""


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """
    Raises TimeIsOver in what runs inside once the time is over.

    In other threads than the main one, and in one long step of native code, nothing ends early.
    """
    is_watched = threading.current_thread() is threading.main_thread()
    if not is_watched or seconds == float("inf"):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeIsOver

    previous = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@dataclass(frozen=True)
class Death:
    """How a child ended that gave no answer."""

    signal: int
    """The number of the signal that ended it; 0 where it left by itself."""
    is_late: bool = False
    """Whether it was ended because its time was over."""

    def __str__(self) -> str:
        if self.is_late:
            return "takes too long"
        return signal.Signals(self.signal).name if self.signal else "ends the process"


def in_child(body: Callable[[], Any], seconds: float) -> Any:
    """
    What a function returns in a forked child, as a copy; a `Death` where there is no answer.

    The child writes nothing to stdout and stderr, and none of its changes is seen here.
    """
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)

    def answer() -> None:
        reading.close()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        faulthandler.disable()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        writing.send(body())

    child = context.Process(target=answer)
    with warnings.catch_warnings():
        # Python and JAX warn of forks beside other threads, whose locks a child might wait for.
        # This one takes none of theirs, and has a time limit.
        warnings.simplefilter("ignore")
        child.start()
    writing.close()
    try:
        with reading:
            if not reading.poll(None if seconds == float("inf") else seconds):
                return Death(0, is_late=True)
            return reading.recv()
    except (EOFError, OSError):
        child.join()
        return Death(max(0, -(child.exitcode or 0)))
    finally:
        child.kill()
        child.join()
