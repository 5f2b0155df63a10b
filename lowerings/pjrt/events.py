"""
Events: what a client waits for.

Programs have run when their call returns, so most events are the one that has happened; C answers
for it. Others are of arrays that callers lend us, errors, and those of clients.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from functools import cache
from typing import Any

from lowerings.pjrt.c_api import ErrorCode, EventRecord
from lowerings.pjrt.functions import Objects, PluginError, characters, error_handle, implements

_Ready = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

_events = Objects("event")


class Event:
    """Something that happens once, or fails."""

    def __init__(self, is_shared: bool = False) -> None:
        """`is_shared`: several clients get it, so none of them can destroy it."""
        self.is_shared = is_shared
        self.handle = _events.keep(EventRecord(0), self)
        self.error: PluginError | None = None
        self._happened = threading.Event()
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int]] = []

    @property
    def has_happened(self) -> bool:
        return self._happened.is_set()

    def happen(self, error: PluginError | None = None) -> None:
        """Tells all who wait for it."""
        with self._lock:
            self.error = error
            self._happened.set()
            waiting, self._waiting = self._waiting, []
        for callback, given in waiting:
            self._tell(callback, given)

    def error_handle(self) -> int | None:
        """A new handle of what went wrong, if anything did."""
        return None if self.error is None else error_handle(self.error)

    def on_ready(self, callback: int, given: int) -> None:
        """Calls a C function when it happens, or now."""
        with self._lock:
            if not self.has_happened:
                self._waiting.append((callback, given))
                return
        self._tell(callback, given)

    def wait(self) -> None:
        """Blocks until it happens; raises what went wrong."""
        self._happened.wait()
        if self.error is not None:
            raise self.error

    def _tell(self, callback: int, given: int) -> None:
        _Ready(callback)(self.error_handle(), given)


def event_of(handle: int) -> Event:
    """The event of a handle that C does not know."""
    return _events[handle]


def failed(error: PluginError) -> Event:
    """An event that has ended in an error: each who reads an array gets it."""
    event = Event(is_shared=True)
    event.happen(error)
    return event


@cache
def interruption() -> int:
    """The handle of the event of arrays that were not computed, for the run was interrupted."""
    return failed(PluginError(ErrorCode.CANCELLED, "the run was interrupted")).handle


_lent: dict[int, Event] = {}
"""The events for the end of arrays that the host has lent us."""
_numbers = itertools.count()


def lend() -> tuple[int, int]:
    """The handle of an event, and the number for `give_back` that makes it happen."""
    event, number = Event(), next(_numbers)
    _lent[number] = event
    return event.handle, number


@_Release
def give_back(data: int | None, number: int | None) -> None:
    """The release of an array that the host has lent us."""
    _lent.pop(number or 0).happen()


@implements("Event_Destroy")
def event_destroy(args: Any) -> None:
    """Whoever makes an event happen keeps it."""
    if not event_of(args.event).is_shared:
        _events.forget(args.event)


@implements("Event_IsReady")
def event_is_ready(args: Any) -> None:
    """Whether it has happened or failed."""
    args.is_ready = event_of(args.event).has_happened


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


@implements("Event_Create")
def event_create(args: Any) -> None:
    """An event that the client makes happen."""
    args.event = Event().handle


@implements("Event_Set")
def event_set(args: Any) -> None:
    """The client makes it happen."""
    error = None
    if args.error_code:
        message = characters(args.error_message, args.error_message_size).decode()
        error = PluginError(ErrorCode(args.error_code), message)
    event_of(args.event).happen(error)
