"""What machine code and Python share of processes that meet; see `meeting_code`."""

from __future__ import annotations

import ctypes
from enum import IntEnum

CONTEXT_BYTES = 8192
"""At least as many as a `ucontext_t` has: 968 on x86-64, 4,560 on AArch64."""


class ProcessState(IntEnum):
    """Whether a process may go on."""

    RUNS = 0
    WAITS = 1
    HAS_ENDED = 2


class RunRecord(ctypes.Structure):
    """One run of all processes."""

    _fields_ = [
        ("count", ctypes.c_int64),
        ("awake", ctypes.c_int64),
        ("has_failed", ctypes.c_int64),
        ("in_turn", ctypes.c_int64),
        ("processes", ctypes.c_void_p),
        ("meeting_count", ctypes.c_int64),
        ("arrived", ctypes.c_void_p),
        ("workers", ctypes.c_void_p),
        ("states", ctypes.c_void_p),
        ("state_count", ctypes.c_int64),
        ("lock", ctypes.c_uint8 * 64),
        ("changed", ctypes.c_uint8 * 64),
    ]


class ProcessRecord(ctypes.Structure):
    """One process of a run."""

    _fields_ = [
        ("run", ctypes.c_void_p),
        ("number", ctypes.c_int64),
        ("state", ctypes.c_int64),
        ("plan", ctypes.c_void_p),
        ("arrays", ctypes.c_void_p),
        ("entry", ctypes.c_void_p),
        ("pointers", ctypes.c_void_p),
        ("stack", ctypes.c_void_p),
        ("stack_size", ctypes.c_int64),
        ("context", ctypes.c_uint8 * CONTEXT_BYTES),
    ]


class WorkerRecord(ctypes.Structure):
    """A thread that runs one process after the other."""

    _fields_ = [
        ("job", ctypes.c_void_p),
        ("lock", ctypes.c_uint8 * 64),
        ("changed", ctypes.c_uint8 * 64),
    ]


class PlanRecord(ctypes.Structure):
    """An `ExchangePlan`."""

    _fields_ = [
        ("meeting", ctypes.c_int64),
        ("member_count", ctypes.c_int64),
        ("members", ctypes.c_void_p),
        ("copy_count", ctypes.c_int64),
        ("copies", ctypes.c_void_p),
        ("copies_alone", ctypes.c_int64),
    ]


class CopyRecord(ctypes.Structure):
    """A `PlannedCopy`; `member` is the number of the process, -1 for memory of none."""

    _fields_ = [
        ("member", ctypes.c_int64),
        ("source", ctypes.c_int64),
        ("source_offset", ctypes.c_int64),
        ("target", ctypes.c_int64),
        ("target_offset", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("row_bytes", ctypes.c_int64),
        ("source_step", ctypes.c_int64),
        ("target_step", ctypes.c_int64),
    ]


RECORDS: dict[str, type[ctypes.Structure]] = {
    "Run": RunRecord,
    "Process": ProcessRecord,
    "Plan": PlanRecord,
    "Worker": WorkerRecord,
    "Copy": CopyRecord,
}


def with_places(text: str) -> str:
    """LLVM IR with numbers in the place of `<Record.field>`, `<Record>` and states."""
    for name, record in RECORDS.items():
        for field, *_ in record._fields_:
            text = text.replace(f"<{name}.{field}>", str(getattr(record, field).offset))
        text = text.replace(f"<{name}>", str(ctypes.sizeof(record)))
    for state in ProcessState:
        text = text.replace(f"<{state.name}>", str(int(state)))
    return text
