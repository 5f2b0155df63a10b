"""What handles of the API point to: structs that Python and the library in C read and write."""

from __future__ import annotations

import ctypes
from typing import Any

from lowerings.runtime.declarations import constants, structure

_HEADER = "pjrt.h"

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


def address(record: Any) -> int:
    """Where a struct or an array of ctypes lies."""
    return ctypes.addressof(record)
