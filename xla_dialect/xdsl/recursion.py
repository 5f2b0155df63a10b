"""Recursion as deep as regions may nest, in a process that allows less of it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

FRAMES = 6000
"""
Python's frames that work on IR may take: some 14 for each region around an operation. They are on
the heap, and what is called through C in between takes less than 2 MB of the stack.
"""


class _Room:
    """The recursion limit of the process, while threads work on IR."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
        self.before = 0

    def enter(self) -> None:
        """Raises the limit for the first thread."""
        with self.lock:
            if not self.threads:
                self.before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self.before, FRAMES))
            self.threads += 1

    def leave(self) -> None:
        """Sets the limit back behind the last thread."""
        with self.lock:
            self.threads -= 1
            if not self.threads:
                sys.setrecursionlimit(self.before)

    def after_fork(self) -> None:
        """A child has only the thread that forked, which may be within."""
        self.lock = threading.Lock()


_room = _Room()
os.register_at_fork(after_in_child=_room.after_fork)


@contextmanager
def deep_recursion() -> Generator[None]:
    """Inside, functions may call themselves for each region of a program that nests deeply."""
    _room.enter()
    try:
        yield
    finally:
        _room.leave()
