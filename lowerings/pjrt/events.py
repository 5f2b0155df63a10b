"""
Events: what a client waits for.

Programs have run when their call returns, so most events are the one that has happened; C answers
for it. Others are of arrays that callers lend us, and of runs that were interrupted.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

from lowerings.pjrt.c_api import ErrorCode, EventRecord
from lowerings.pjrt.functions import Objects, PluginError, error_handle, implements

_Ready = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

_events = Objects("event")


class Event:
    """Something that happens once, or an error, which several clients get."""

    def __init__(self, error: PluginError | None = None) -> None:
        self._record = EventRecord(0)
        self.handle = _events.keep(self._record, self)
        self.error = error
        self.has_happened = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int]] = []
        if error is not None:
            self.has_happened.set()

    def happen(self) -> None:
        """Tells all who wait for it."""
        with self._lock:
            self.has_happened.set()
            waiting, self._waiting = self._waiting, []
        for callback, given in waiting:
            self._tell(callback, given)

    def on_ready(self, callback: int, given: int) -> None:
        """Calls a C function when it happens, or now."""
        with self._lock:
            if not self.has_happened.is_set():
                self._waiting.append((callback, given))
                return
        self._tell(callback, given)

    def wait(self) -> None:
        """Blocks until it happens; raises what went wrong."""
        self.has_happened.wait()
        if self.error is not None:
            raise self.error

    def _tell(self, callback: int, given: int) -> None:
        _Ready(callback)(None if self.error is None else error_handle(self.error), given)


def event_of(handle: int) -> Event:
    """The event of a handle that C does not know."""
    return _events[handle]


@cache
def interruption() -> int:
    """The handle of the event of arrays that were not computed, for the run was interrupted."""
    return Event(PluginError(ErrorCode.CANCELLED, "the run was interrupted")).handle


_lent: dict[int, Event] = {}
"""The events for the end of arrays that the host has lent us, by their handles."""


def lend() -> int:
    """The handle of an event that `give_back` makes happen."""
    event = Event()
    _lent[event.handle] = event
    return event.handle


@_Release
def give_back(data: int | None, event: int | None) -> None:
    """The release of an array that the host has lent us."""
    _lent.pop(event or 0).happen()


@implements("Event_Destroy")
def event_destroy(args: Any) -> None:
    """Whoever makes an event happen keeps it."""
    if event_of(args.event).error is None:
        _events.forget(args.event)


@implements("Event_IsReady")
def event_is_ready(args: Any) -> None:
    """Whether it has happened or failed."""
    args.is_ready = event_of(args.event).has_happened.is_set()


@implements("Event_Error")
def event_error(args: Any) -> None:
    """Raises what went wrong; the client asks after it has happened."""
    event_of(args.event).wait()


@implements("Event_Await")
def event_await(args: Any) -> None:
    """Waits, and raises what went wrong."""
    event_of(args.event).wait()


@implements("Event_OnReady")
def event_on_ready(args: Any) -> None:
    """Calls the client's function when it happens."""
    event_of(args.event).on_ready(args.callback, args.user_arg)
