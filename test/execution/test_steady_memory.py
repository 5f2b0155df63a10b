"""Calls leave nothing behind: neither arrays, nor memory of machine code."""

import ctypes
import gc
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.backends import Donation
from lowerings.execution.arrays import ArgumentError
from tools.repository.programs import stored_programs

CALLS = 100
COMPILATIONS = 40
ROWS = """HloModule rows, input_output_alias={ {}: (0, {}) }
ENTRY main {
  x = f32[512,512] parameter(0)
  y = f32[512,512] parameter(1)
  t = f32[512,512] tanh(x)
  d = f32[512,512] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[512,512] add(d, x)
}
"""


def grown(call: Callable[[], object], calls: int = CALLS) -> tuple[int, int]:
    """How many bytes Python's objects and the process have grown by in many calls."""
    for _ in range(20):
        call()
    gc.collect()
    tracemalloc.start()
    try:
        objects, process = tracemalloc.get_traced_memory()[0], resident()
        for _ in range(calls):
            call()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - objects, resident() - process
    finally:
        tracemalloc.stop()


def resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not tell."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return 0
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("donate", [(), "aliased"])
def test_large_arrays(donate: Donation) -> None:
    program = lowerings.compile(ROWS, donate=donate)
    x, y = np.zeros((2, 512, 512), np.float32)
    objects, process = grown(lambda: program(x, y))
    # One result is 1 MiB.
    assert objects < 50_000
    assert process < 16 << 20


def test_many_results_and_loops() -> None:
    stored = next(each for each in stored_programs() if each.name == "lstm")
    program, arguments = lowerings.compile(stored.stablehlo), stored.inputs()
    objects, process = grown(lambda: program(*arguments))
    assert objects < 50_000
    assert process < 16 << 20


def test_errors_keep_no_arrays() -> None:
    program = lowerings.compile(ROWS, donate="aliased")
    x = np.zeros((512, 512), np.float32)

    def call() -> None:
        with pytest.raises(ArgumentError):
            program(x, x)

    objects, process = grown(call)
    assert objects < 50_000
    assert process < 16 << 20


def test_compilations() -> None:
    """Neither Python's objects nor what LLVM and its JIT allocate are left behind."""
    text = (
        "ENTRY main { x = f32[8,8] parameter(0) "
        "y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
        "ROOT z = f32[8,8] tanh(y) }"
    )
    # An inlined kernel, and so passes of LLVM.
    lowerings.compile(text)
    objects, _ = grown(lambda: lowerings.compile(text), COMPILATIONS)
    before = allocated()
    for _ in range(COMPILATIONS):
        lowerings.compile(text)
    gc.collect()
    assert objects < COMPILATIONS * 1000
    # Caches of Python and of the C library grow now and then by some 70 KB.
    assert allocated() - before < 100_000


def allocated() -> int:
    """Bytes that the C library has given out; 0 where it does not tell."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return 0
    library.mallinfo2.restype = _MallocInformation
    found = library.mallinfo2()
    return int(found.uordblks + found.hblkhd)


class _MallocInformation(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]
