"""
The library in C that runs compiled programs, and that they call: threads, the mode of
floating-point arithmetic, Ctrl-C, the device for JAX.

It is built where the package is built, see `build_hook.py`; `runtime.h` and `pjrt.h` say what is in
it.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from lowerings.runtime.declarations import structure
from xla_dialect.diagnostics import XlaError

LIBRARY = "libxla_runtime.so.1"
"""Not `.so`: what walks through packages takes that for a module."""
PARALLEL_FOR = "xla_parallel_for"
CLOCK, NOTE_RUN, NOTE_TASK = "xla_clock", "xla_note_run", "xla_note_task"
START_WITH_WORDS, TASK_WORDS = "xla_start_with_words", 12
"""The function of the library that starts tasks which take up to so many words."""
_OF_TASKS = (PARALLEL_FOR, START_WITH_WORDS)
_OF_PROFILES = (CLOCK, NOTE_RUN, NOTE_TASK)
RUN = "xla_run"
ENTER_DEFAULT_MODE, LEAVE_DEFAULT_MODE = "xla_fp_enter", "xla_fp_leave"
_HEED_INTERRUPTS = "xla_heed_interrupts"
PJRT_START = "xla_pjrt_start"
RUN_HANDLER, CALL_HANDLER = "xla_run_handler", "xla_call_handler"
_OTHERS = (
    *(RUN, ENTER_DEFAULT_MODE, LEAVE_DEFAULT_MODE),
    *(_HEED_INTERRUPTS, PJRT_START, RUN_HANDLER, CALL_HANDLER),
)


_PYTHON = (
    *("PyGILState_Ensure", "PyGILState_Release", "PyObject_CallOneArg", "Py_DecRef"),
    *("PyErr_CheckSignals", "PyErr_Clear", "PyErr_SetInterrupt"),
)
"""The functions of Python in it."""


@cache
def library() -> ctypes.CDLL:
    """The library, loaded into this process; raises XlaError where it is missing or outdated."""
    path = Path(__file__).with_name(LIBRARY)
    try:
        found = ctypes.CDLL(str(path))
        for name in (*_OF_TASKS, *_OF_PROFILES, *_OTHERS):
            getattr(found, name)
    except (OSError, AttributeError) as error:
        raise XlaError(f"{path} cannot be used; pip install builds it: {error}") from error
    _heed_interrupts(found)
    return found


@cache
def _python_record() -> Any:
    # A call of a function that is written in Python would handle the signals that have come.
    get_handler = importlib.import_module("_signal").getsignal
    functions = (ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p) for name in _PYTHON)
    record = structure("runtime.h", "xla_python")
    return record(*functions, get_handler, int(signal.SIGINT), signal.default_int_handler)


def _heed_interrupts(found: ctypes.CDLL) -> None:
    heed = found[_HEED_INTERRUPTS]
    main_thread = ctypes.c_uint64(threading.main_thread().ident or 0)
    heed(main_thread, ctypes.byref(_python_record()))
    # Programs may run when Python has ended.
    atexit.register(heed, main_thread, None)


@cache
def run_function() -> Callable[[int, int | None, int, int], int]:
    """
    Runs the machine code at an address, with an array of pointers to the states of its runs, how
    many these are, and a pointer that it takes. It does so in the default mode of floating-point
    arithmetic and without the GIL. Returns whether Ctrl-C has ended it. Raises XlaError as
    `library` does.
    """
    pointer = ctypes.c_void_p
    made: Any = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, ctypes.c_int64, pointer)(
        (RUN, library())
    )
    return made


@cache
def mode_functions() -> tuple[Callable[[], int], Callable[[int], None]]:
    """What sets the default mode and returns the one before, and what sets one."""
    # They keep the GIL, and set the mode of the thread that calls them.
    enter: Any = ctypes.PYFUNCTYPE(ctypes.c_uint64)((ENTER_DEFAULT_MODE, library()))
    leave: Any = ctypes.PYFUNCTYPE(None, ctypes.c_uint64)((LEAVE_DEFAULT_MODE, library()))
    return enter, leave


@contextmanager
def default_mode() -> Generator[None]:
    """
    Inside, floating-point arithmetic rounds to nearest and keeps subnormal numbers, whatever the
    caller's does: Python and numpy compute with the mode of the processor, as machine code does.
    """
    enter, leave = mode_functions()
    before = enter()
    try:
        yield
    finally:
        leave(before)


@cache
def parallel_functions() -> Mapping[str, Any]:
    """What programs with parallel loops call, by name; raises XlaError as `library` does."""
    return {name: getattr(library(), name) for name in _OF_TASKS}


@cache
def profile_functions() -> Mapping[str, Any]:
    """What programs call that measure themselves, by name; raises XlaError as `library` does."""
    return {name: getattr(library(), name) for name in _OF_PROFILES}
