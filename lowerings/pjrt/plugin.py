"""
The plugin in this process: the table of functions that clients are given, and the functions in C
that Python calls.

Buffers, events and calls of programs are in C, see `pjrt.h` in `lowerings/runtime`: a call through
ctypes takes the interpreter's lock and three microseconds, and a program with a hundred arguments
makes a thousand of them at each call. What C does not know it asks Python.
"""

from __future__ import annotations

import atexit
import ctypes
from functools import cache
from typing import Any

from lowerings.pjrt.c_api import PythonRecord, address
from lowerings.pjrt.events import give_back, interruption
from lowerings.pjrt.functions import as_c_functions, end_compilations
from lowerings.pjrt.profiler import Profiler
from lowerings.runtime import PJRT_START, library

CAPSULE_NAME = b"pjrt_c_api"
"""What JAX expects a capsule with the address of the table to be called."""

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


# The types of these functions are ours alone: attributes of `ctypes.pythonapi` are everybody's.
_new_capsule: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", ctypes.pythonapi))
_keep_for_ever: Any = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))


class Plugin:
    """The table, and what it refers to; clients use it until the process ends."""

    def __init__(self) -> None:
        functions = as_c_functions()
        table = (ctypes.c_void_p * len(functions))(*map(address_of, functions))
        record = PythonRecord(
            address_of(ctypes.pythonapi.Py_IsInitialized),
            address(table),
            address_of(give_back),
            interruption(),
        )
        self._profiler = Profiler()
        profiling = self._profiler.extension(None)
        self._kept = functions, table, record, profiling
        # Arrays outlive Python's modules.
        _keep_for_ever(self)
        _keep_for_ever(give_back)
        start = ctypes.CFUNCTYPE(_pointer, _pointer, _pointer)((PJRT_START, _library))
        atexit.register(_close)
        self._table = start(address(record), address(profiling))

    def capsule(self) -> Any:
        """The address of the table as JAX takes it."""
        return _new_capsule(self._table, CAPSULE_NAME, None)


def _close() -> None:
    """Only this thread calls Python from now on; waits for the calls of others."""
    # The client waits for its threads that compile, as long as that takes.
    end_compilations()
    close = ctypes.CFUNCTYPE(None, ctypes.c_int64)(("xla_pjrt_close", _library))
    close(int(_PATIENCE * 1e9))


@cache
def plugin() -> Plugin:
    """The plugin, which lives as long as the process."""
    return Plugin()
