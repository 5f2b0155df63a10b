"""Threads that are kept for later jobs: to start one takes longer than most jobs do."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import TypeVar

_Result = TypeVar("_Result")


class _KeptThread:
    """A thread that runs one job after the other."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        # A daemon: it waits for a job when the process ends.
        threading.Thread(target=self._work, name="process", daemon=True).start()

    def give(self, job: Callable[[], _Result], then: Callable[[_Result], None]) -> None:
        """Runs a job, is free for another one, and tells its result."""

        def run() -> None:
            # Of what the job before has set, nothing is left.
            result = Context().run(job)
            _idle.append(self)
            then(result)

        self._jobs.put(run)

    def _work(self) -> None:
        while True:
            self._jobs.get()()


_idle: list[_KeptThread] = []
# A child of this process has none of its threads.
os.register_at_fork(after_in_child=_idle.clear)


def run_beside(job: Callable[[], _Result], then: Callable[[_Result], None]) -> None:
    """
    Runs a job in a thread that has no other, and tells its result there. Neither may raise.

    Who has been told can have the same thread for the next job. Raises RuntimeError where no thread
    can be started.
    """
    try:
        thread = _idle.pop()
    except IndexError:  # asked for and not looked up: other threads may take the last one
        thread = _KeptThread()
    thread.give(job, then)
