"""
The library in C that compiled programs call: threads, and the mode of floating-point arithmetic.

It is built where the package is built, see `build_hook.py`; `runtime.h` says what is in it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from xla_dialect.diagnostics import XlaError

LIBRARY = "libxla_runtime.so"
PARALLEL_FOR = "xla_parallel_for"
THREAD_NUMBER = "xla_thread_number"
SHARED_STARTS = 12
"""Up to how many words a task may take for its start to be one of the library's."""


def start_of_words(count: int) -> str:
    """The function of the library that starts tasks which take so many words."""
    return f"xla_start_{count}"


_FUNCTIONS = (PARALLEL_FOR, THREAD_NUMBER, *map(start_of_words, range(1, SHARED_STARTS + 1)))


@cache
def library() -> ctypes.CDLL:
    """The library, loaded into this process; raises XlaError where it was not built."""
    path = Path(__file__).with_name(LIBRARY)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise XlaError(f"{path} cannot be loaded; pip install builds it: {error}") from error


@cache
def parallel_functions() -> Mapping[str, Any]:
    """What programs with parallel loops call, by name; raises XlaError as `library` does."""
    return {name: getattr(library(), name) for name in _FUNCTIONS}
