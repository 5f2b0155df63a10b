"""What handles of the API point to: structs that both Python and machine code read and write."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Any

from lowerings.pjrt.c_api import MemoryLayout


class ErrorRecord(ctypes.Structure):
    """What has gone wrong; it is read without Python, which may have ended."""

    _fields_ = [
        ("message", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("code", ctypes.c_int32),
    ]


class EventRecord(ctypes.Structure):
    """Something that is waited for; machine code knows the one that has happened, and no other."""

    _fields_ = [("has_happened", ctypes.c_int64)]


class ShapeRecord(ctypes.Structure):
    """What all buffers of a type have in common; it lives as long as the process."""

    _fields_ = [
        ("dimensions", ctypes.c_void_p),
        ("rank", ctypes.c_size_t),
        ("byte_size", ctypes.c_size_t),
        ("layout", MemoryLayout),
        ("element_type", ctypes.c_int32),
        ("item_size", ctypes.c_size_t),
        ("named_layout", ctypes.c_void_p),
    ]


class LayoutRecord(ctypes.Structure):
    """How arrays lie, in the words of XLA's text; it lives as long as the process."""

    _fields_ = [("text", ctypes.c_void_p), ("text_size", ctypes.c_size_t)]


class MemoryRecord(ctypes.Structure):
    """A memory of a device."""

    _fields_ = [
        ("kind", ctypes.c_void_p),
        ("kind_size", ctypes.c_size_t),
        ("device", ctypes.c_void_p),
    ]


class ExecutableRecord(ctypes.Structure):
    """A program that need not be loaded."""

    _fields_ = [
        ("replicas", ctypes.c_size_t),
        ("partitions", ctypes.c_size_t),
        ("results", ctypes.c_size_t),
    ]


class DeviceRecord(ctypes.Structure):
    """A device, which is its own description."""

    _fields_ = [("default_memory", ctypes.c_void_p), ("id", ctypes.c_int32)]


class BufferRecord(ctypes.Structure):
    """
    An array on a device. Its data go by `release(data, release_argument)` when it is deleted and
    nobody outside refers to them.
    """

    _fields_ = [
        ("shape", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_void_p),
        ("memory", ctypes.c_void_p),
        ("ready", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("release_argument", ctypes.c_void_p),
        ("references", ctypes.c_int64),
        ("is_deleted", ctypes.c_bool),
        ("is_destroyed", ctypes.c_bool),
    ]


class LoadedRecord(ctypes.Structure):
    """
    A program ready to run, with what machine code needs to run it without Python. One for several
    devices has `parts`, a record for each, and the `joint` run of all; one for one is its own part.
    """

    _fields_ = [
        ("has_machine_code", ctypes.c_int64),
        ("is_busy", ctypes.c_int64),
        ("entry", ctypes.c_void_p),
        ("pointers", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
        ("parameter_count", ctypes.c_size_t),
        ("parameter_shapes", ctypes.c_void_p),
        ("result_count", ctypes.c_size_t),
        ("result_shapes", ctypes.c_void_p),
        ("result_memories", ctypes.c_void_p),
        ("donors", ctypes.c_void_p),
        ("device", ctypes.c_void_p),
        ("device_count", ctypes.c_size_t),
        ("parts", ctypes.c_void_p),
        ("joint", ctypes.c_void_p),
        ("run_in_turn", ctypes.c_void_p),
        ("taken_count", ctypes.c_size_t),
        ("made_count", ctypes.c_size_t),
    ]


class RunEnd(IntEnum):
    """How the run of a program by machine code has ended."""

    DONE = 0
    FAILED = 1
    INTERRUPTED = 2
    """By Ctrl-C: its results are none, and Python raises KeyboardInterrupt as soon as it can."""


def address(record: Any) -> int:
    """Where a struct or an array of ctypes lies."""
    return ctypes.addressof(record)


INTERRUPTED = 1
"""
What a function of Python adds to the error that it returns, if any, where it has met
KeyboardInterrupt: handles are even.
"""

NOT_DONATED = -1
"""In `donors`: a result in memory of its own."""

HOST_ALIGNMENT = 64
"""
Bytes: large arrays of the host that lie so are used where they are, as by XLA's client; only of
those there are views. Others are copied there, so programs may write into them afterwards.
"""

COPIED_BYTES = 1 << 15
"""Up to which an array of the host is copied, whether it is lent or not: that takes less time."""
