"""
The extension of the API with which JAX's profiler takes traces of our devices.

A session calls `create`, `start`, `stop`, `collect_data` and `destroy`, once each, on the thread
that traces; whatever `create` returns, the others follow. None of them fails, and there is one
session at a time. The sizes of their arguments are not set, so they are not checked.
"""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable
from typing import Any

from lowerings.pjrt import tracing

EXTENSION_NUMBER = 1
_FUNCTIONS = (
    *("error_destroy", "error_message", "error_get_code"),
    *("create", "destroy", "start", "stop", "collect_data"),
)
"""In the order of their table."""

_LOG = logging.getLogger(__name__)
_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class ProfilerTable(ctypes.Structure):
    """The functions of the profiler."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("priv", ctypes.c_void_p),
        *((name, _Function) for name in _FUNCTIONS),
    ]


class ProfilerExtension(ctypes.Structure):
    """The extension, which has the table and, beyond it, what we do without."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("table", ctypes.POINTER(ProfilerTable)),
    ]


class _CreateArguments(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("options", ctypes.c_void_p),
        ("options_size", ctypes.c_size_t),
        ("profiler", ctypes.c_void_p),
    ]


class _CollectArguments(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("profiler", ctypes.c_void_p),
        ("buffer", ctypes.c_void_p),
        ("buffer_size", ctypes.c_size_t),
    ]


class Profiler:
    """The extension, and the session of it that there may be."""

    def __init__(self) -> None:
        self._table = ProfilerTable(ctypes.sizeof(ProfilerTable), None)
        own: dict[str, Callable[[int], None]] = {
            "create": self._create,
            "start": self._start,
            "stop": self._stop,
            "collect_data": self._collect_data,
            "destroy": self._destroy,
        }
        for name in _FUNCTIONS:
            setattr(self._table, name, _Function(_safe(own.get(name, _nothing))))
        self._ended: tracing.Trace | None = None
        self._data: Any = None

    def extension(self, following: int | None) -> ProfilerExtension:
        """The extension for the table of the API, before another one."""
        size = ctypes.sizeof(ProfilerExtension)
        return ProfilerExtension(size, EXTENSION_NUMBER, following, ctypes.pointer(self._table))

    def _create(self, address: int) -> None:
        # The options that come with it are always the same, whatever the user has chosen.
        _CreateArguments.from_address(address).profiler = ctypes.addressof(self._table)

    def _start(self, _address: int) -> None:
        tracing.begin()

    def _stop(self, _address: int) -> None:
        self._ended = tracing.end()

    def _collect_data(self, address: int) -> None:
        args = _CollectArguments.from_address(address)
        args.buffer, args.buffer_size = None, 0
        if self._ended is None:
            return
        from lowerings.pjrt.trace_planes import as_xspace  # noqa: PLC0415

        data = as_xspace(self._ended)
        self._data = ctypes.create_string_buffer(data, len(data) or 1)
        args.buffer, args.buffer_size = ctypes.addressof(self._data), len(data)

    def _destroy(self, _address: int) -> None:
        self._ended = self._data = None


def _nothing(_address: int) -> None:
    """There are no errors."""


def _safe(function: Callable[[int], None]) -> Callable[[int], None]:
    """
    A function that says in the log what went wrong in it: whoever traces goes on. A process that
    ends within a trace calls it when modules are gone; nobody reads that trace.
    """
    is_finalizing = sys.is_finalizing

    def call(address: int) -> None:
        if is_finalizing():
            return
        try:
            function(address)
        except Exception:
            _LOG.exception("the trace has nothing of the devices of xdsl")

    return call
