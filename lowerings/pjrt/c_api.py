"""
The C API of PJRT as the library in C declares it: its functions, the fields of their arguments, and
the structs that handles point to.

Each function takes the address of a struct, which begins with its size and a pointer to extensions,
and returns the address of an error, or null.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import cache
from typing import Any

from lowerings.runtime.declarations import constants, declared_fields, pjrt_functions, structure

_HEADER = "pjrt.h"

FUNCTIONS: tuple[str, ...] = tuple(pjrt_functions())
"""Those of the table, and behind them those of our extensions."""

MemoryLayout: Any = structure(_HEADER, "PJRT_Buffer_MemoryLayout")
"""How an array lies in memory, in the tiled form."""

StridedLayout: Any = structure(_HEADER, "PJRT_Buffer_MemoryLayout_Strides")
"""The other form of the same struct: the distance of elements in each dimension, in bytes."""

Program: Any = structure(_HEADER, "PJRT_Program")
"""A program and the name of its format."""

NamedValue: Any = structure(_HEADER, "PJRT_NamedValue")
"""An option or attribute; `value` is a pointer to characters or numbers, or the value itself."""

ExecuteOptions: Any = structure(_HEADER, "PJRT_ExecuteOptions")
"""How a program is executed."""

KeyValueGet: Any = structure(_HEADER, "PJRT_KeyValueGet")
KeyValuePut: Any = structure(_HEADER, "PJRT_KeyValuePut")
"""The arguments of what a client is given to read and write the store that processes share."""

ErrorRecord: Any = structure(_HEADER, "xla_error")
EventRecord: Any = structure(_HEADER, "xla_event")
ShapeRecord: Any = structure(_HEADER, "xla_shape")
LayoutRecord: Any = structure(_HEADER, "xla_layout")
MemoryRecord: Any = structure(_HEADER, "xla_memory")
ExecutableRecord: Any = structure(_HEADER, "xla_executable")
DeviceRecord: Any = structure(_HEADER, "xla_device")
BufferRecord: Any = structure(_HEADER, "xla_buffer")
LoadedRecord: Any = structure(_HEADER, "xla_loaded")
PythonRecord: Any = structure(_HEADER, "xla_pjrt_python")

_numbers = constants(_HEADER)
INTERRUPTED, NOT_DONATED = _numbers["XLA_INTERRUPTED"], _numbers["XLA_NOT_DONATED"]
HOST_ALIGNMENT, COPIED_BYTES = _numbers["XLA_HOST_ALIGNMENT"], _numbers["XLA_COPIED_BYTES"]
DELETED = _numbers["XLA_DELETED"]
IMMUTABLE_ZERO_COPY = _numbers["PJRT_IMMUTABLE_ZERO_COPY"]


def address(record: Any) -> int:
    """Where a struct or an array of ctypes lies."""
    return ctypes.addressof(record)


class LayoutForm(IntEnum):
    """Which form a `MemoryLayout` has."""

    TILED = 0
    STRIDES = 1


@cache
def arguments_of(function: str) -> Any:
    """The struct of a function's arguments, a ctypes structure."""
    head = "size_t struct_size; void *extension_start;"
    fields = declared_fields(head + pjrt_functions()[function], _HEADER)
    return type(f"PJRT_{function}_Args", (ctypes.Structure,), {"_fields_": fields})


@cache
def required_size(struct: Any) -> int:
    """The bytes of a struct up to the end of its last field, which callers state at its start."""
    name, type_ = struct._fields_[-1]
    return getattr(struct, name).offset + ctypes.sizeof(type_)


class NamedValueType(IntEnum):
    """What a `NamedValue` holds."""

    STRING = 0
    INT64 = 1
    INT64_LIST = 2
    FLOAT = 3
    BOOL = 4


class ErrorCode(IntEnum):
    """Why a function failed: the codes of `absl::Status`."""

    CANCELLED = _numbers["PJRT_CANCELLED"]
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


ELEMENT_TYPES: tuple[str, ...] = tuple(
    """
    invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 bf16 c64 c128 f8e5m2 f8e4m3fn
    f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s4 u4 token s2 u2 f8e4m3 f8e3m4 f8e8m0fnu f4e2m1fn s1 u1
    """.split()
)
"""The names in HLO of the element types, in the order of `PJRT_Buffer_Type`."""
