"""Ending programs before their time: their own checks, and callers that wait no longer."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import cast

from lowerings.targets.llvm.interface import STOP_REQUESTED, ModuleGuards, RunState
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.runtime.limits import TimeLimitReached


class BoundsViolation(XlaError):
    """A program that is about to access memory outside of its arrays, at an unknown place."""


class RunControl:
    """The state of a program in this process whose runs may end before their time."""

    def __init__(self, guards: ModuleGuards, address: int):
        """`address`: of the program's `RunState`."""
        self._guards = guards.guards
        self._words = (ctypes.c_int64 * len(RunState)).from_address(address)
        self._states = (ctypes.c_void_p * 1)(address)

    @property
    def has_checks(self) -> bool:
        """Whether the program may end by itself."""
        return any(guard.message for guard in self._guards)

    @property
    def address(self) -> int:
        """Of the `RunState`, whose first word is the number of the check that failed, or 0."""
        return ctypes.addressof(self._words)

    @property
    def states_address(self) -> int:
        """Of an array of one pointer, that to the `RunState`."""
        return ctypes.addressof(self._states)

    def stop(self) -> None:
        """Makes runs end soon: what they write is of no use."""
        self._words[RunState.FAILURE] = STOP_REQUESTED

    def finish(self) -> XlaError | None:
        """
        To be called after each run. Returns the error of a check that failed: a LocatedError where
        its place is known, else a BoundsViolation.
        """
        failure: int = self._words[RunState.FAILURE]
        if failure == 0:
            return None
        found, limit, call = cast("list[int]", self._words[1:])
        self._words[:] = [0] * len(RunState)
        if failure == STOP_REQUESTED:
            return None
        guard = self._guards[failure - 1]
        message = guard.message.format(found=found, limit=limit)
        # Outlined kernels are shared and have no location; the call does.
        place = guard.place or (self._guards[call - 1].place if call else None)
        if place is None:
            return BoundsViolation(message)
        return LocatedError(message, *place)


def run_within(
    seconds: float, name: str, run: Callable[[], object], stop: Callable[[BaseException], None]
) -> None:
    """
    Runs something in a thread of its own, for so long at most, and until Ctrl-C in any case.

    `stop` makes it end, and is told why. Raises TimeLimitReached, and what `run` raises.
    """
    errors: list[BaseException] = []
    # Not `Thread.join`: in Python 3.11 one that Ctrl-C interrupts takes the thread for ended.
    ended = threading.Event()

    def body() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    # What the program calls is told by the context which run it is.
    run_body = partial(copy_context().run, body)
    threading.Thread(target=run_body, name=f"run of {name}", daemon=True).start()
    wait = None if seconds == math.inf else min(seconds, threading.TIMEOUT_MAX)
    try:
        in_time = ended.wait(wait)
    except BaseException as error:
        stop(error)
        ended.wait()
        raise
    late = None if in_time else TimeLimitReached(name, seconds)
    if late is not None:
        stop(late)
        ended.wait()
    if errors:
        raise errors[0]
    if late is not None:
        raise late
