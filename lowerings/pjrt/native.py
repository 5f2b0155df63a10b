"""
The part of the plugin in C, see `pjrt.h` in `lowerings/runtime`: the table of functions, buffers,
events and calls of programs.

A call through ctypes takes the interpreter's lock and three microseconds; a program with a hundred
arguments makes a thousand of them at each call. What C does not know it asks Python.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Sequence
from typing import Any

from lowerings.execution.capsules import keep_for_ever
from lowerings.pjrt.functions import end_compilations
from lowerings.pjrt.records import PythonRecord, address
from lowerings.runtime import PJRT_START, library

_PATIENCE = 5.0
"""Seconds that the end of the process waits for calls of other threads."""

_library = library()
_pointer = ctypes.c_void_p

HAPPENED = address(ctypes.c_int64.in_dll(_library, "xla_happened"))
"""The event that has happened."""


def address_of(function: Any) -> int:
    """The address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


GIVE_BACK = address_of(_library.xla_give_back)
"""The `release` of data that the host has lent us."""

_New = ctypes.PYFUNCTYPE(_pointer, _pointer, _pointer, _pointer, _pointer)
_OnBuffer = ctypes.PYFUNCTYPE(None, _pointer)
new_buffer: Any = _New(("xla_buffer_new", _library))
"""Takes a shape, data or null for new ones, a device and a memory; None: no memory."""
hold: Any = _OnBuffer(("xla_buffer_hold", _library))
drop: Any = _OnBuffer(("xla_buffer_drop", _library))
delete: Any = _OnBuffer(("xla_buffer_delete", _library))
destroy: Any = _OnBuffer(("xla_buffer_destroy", _library))


def start(functions: Sequence[Any], give_back: Any, interruption: int, extension: int) -> int:
    """
    The address of the table of functions, whose last extension is the one that is given.
    `functions`: those of Python, as C functions; `give_back` is told that lent data are not needed
    any more; `interruption` is the event of results of runs that were interrupted.
    """
    table = (ctypes.c_void_p * len(functions))(*map(address_of, functions))
    record = PythonRecord(
        address_of(ctypes.pythonapi.Py_IsInitialized),
        address(table),
        address_of(give_back),
        interruption,
    )
    # Arrays outlive Python's modules.
    keep_for_ever((functions, table, give_back, record))
    start_table = ctypes.CFUNCTYPE(_pointer, _pointer, _pointer)((PJRT_START, _library))
    atexit.register(_close)
    return start_table(address(record), extension)


def _close() -> None:
    """Only this thread calls Python from now on; waits for the calls of others."""
    # The client waits for its threads that compile, as long as that takes.
    end_compilations()
    close = ctypes.CFUNCTYPE(None, ctypes.c_int64)(("xla_pjrt_close", _library))
    close(int(_PATIENCE * 1e9))
