"""
The threads of compiled code: which OpenMP runtime there is, and how many threads it may use.

Runtimes of Intel, LLVM and GNU are used alike, through what they all export: `GOMP_parallel` and
`omp_get_thread_num`.
"""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.fork_join import (
    FORK,
    MODULE,
    PARALLEL_POINTER,
    SHARED_STARTS,
    STARTS,
    THREAD_NUMBER_POINTER,
)
from lowerings.targets.llvm.machine import host

PACKAGE = "intel-openmp"
"""The package that has a runtime for Linux on x86-64: the extra `threads`."""

_PACKAGED = "libiomp5.so"
_ONE_IN_A_PROCESS = re.compile(r"lib(iomp5|omp)\b[\w.+-]*\.so[\w.]*")
"""Intel's and LLVM's: they end a process in which a second copy of either starts."""
_INSTALLED = ("libomp.so.5", "libomp.so", "libgomp.so.1")
"""Where the system has them, the faster ones to start a loop first."""

_SLEEP_AFTER_MILLISECONDS = 1
"""How long a thread of Intel's or LLVM's runtime spins for work. Their own 200 take a processor
away from everything else that the process does between two calls."""


class OpenMPRuntime:
    """A runtime that is loaded into this process, for good."""

    def __init__(self, path: str):
        """Raises OSError for what cannot be loaded, AttributeError for what is no such runtime."""
        self.path = path
        library = ctypes.CDLL(path)
        set_defaults = getattr(library, "kmp_set_defaults", None)
        if set_defaults is not None and "KMP_BLOCKTIME" not in os.environ:
            set_defaults(f"KMP_BLOCKTIME={_SLEEP_AFTER_MILLISECONDS}".encode())
        self._pointers = {
            PARALLEL_POINTER: _address(library, "GOMP_parallel"),
            THREAD_NUMBER_POINTER: _address(library, "omp_get_thread_num"),
        }

    @property
    def thread_number(self) -> int:
        """The address of `omp_get_thread_num`."""
        return self._pointers[THREAD_NUMBER_POINTER]

    @cached_property
    def fork(self) -> int:
        """The address of the function that runs a parallel loop on several threads."""
        return ctypes.cast(self._code.function, ctypes.c_void_p).value or 0

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The addresses of the functions that start tasks, see `STARTS`."""
        return tuple(map(self._code.address, STARTS))

    @cached_property
    def _code(self) -> LoadedCode:
        # It is compiled in every process, and what it does is little beside what it starts.
        code = host().object_code(MODULE, level=0)
        return LoadedCode(code, FORK, pointers=self._pointers, exported=STARTS)


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


def candidates() -> Iterator[str]:
    """Paths and names of runtimes, the best first; whether they can be loaded is not known yet."""
    yield from _loaded()
    yield from _in_package()
    yield from _INSTALLED


def _loaded() -> Iterator[str]:
    """The loaded runtime of Intel or LLVM, beside which a second copy would abort the process."""
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    paths = dict.fromkeys(line.partition("/")[2] for line in lines if "/" in line)
    yield from (f"/{path}" for path in paths if _ONE_IN_A_PROCESS.fullmatch(Path(path).name))


def _in_package() -> Iterator[str]:
    try:
        files = metadata.files(PACKAGE) or ()
    except metadata.PackageNotFoundError:
        return
    yield from (str(file.locate()) for file in files if file.name == _PACKAGED)


@cache
def runtime() -> OpenMPRuntime | None:
    """The best runtime that can be loaded here; None if there is none."""
    for path in candidates():
        try:
            return OpenMPRuntime(path)
        except (OSError, AttributeError):
            continue
    return None


def usable_processors() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(limit: int | None) -> int:
    """
    How many threads a program should use: as many as there are processors, up to a limit.

    Without one, the usual variable of OpenMP programs is the limit if it is set.
    """
    if limit is None:
        number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        limit = int(number) if number.isdecimal() and int(number) else None
    processors = usable_processors()
    return processors if limit is None else min(limit, processors)


class _Table(ctypes.Structure):
    """What the pointer `lowerings.targets.llvm.parallel.THREADS` of a program points to."""

    _fields_ = (
        ("fork", ctypes.c_void_p),
        ("threads", ctypes.c_int64),
        ("starts", ctypes.c_void_p * SHARED_STARTS),
    )


class ThreadTable:
    """How many threads the parallel loops of a program use; it may change between two loops."""

    def __init__(self, runtime: OpenMPRuntime, threads: int):
        self.runtime = runtime
        self._table = _Table(runtime.fork, threads, runtime.starts)
        self.address: int = ctypes.addressof(self._table)
        """Where machine code finds it, for as long as this object lives."""
        _TABLES.add(self)

    @property
    def threads(self) -> int:
        """The number of threads, at least 1."""
        return self._table.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._table.threads = count


_TABLES: weakref.WeakSet[ThreadTable] = weakref.WeakSet()


def _after_fork() -> None:
    """
    A child process has none of the threads, and GNU's runtime would wait for them.

    So programs that were compiled before run on one.
    """
    for table in _TABLES:
        table.threads = 1


os.register_at_fork(after_in_child=_after_fork)
