"""The plugin in this process: the table of functions that clients are given."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from lowerings.execution.capsules import keep_for_ever, new_capsule
from lowerings.pjrt import native
from lowerings.pjrt.events import give_back, interruption
from lowerings.pjrt.functions import as_c_functions
from lowerings.pjrt.profiler import Profiler

CAPSULE_NAME = b"pjrt_c_api"
"""What JAX expects a capsule with the address of the table to be called."""


class Plugin:
    """The table, and what it refers to; clients use it until the process ends."""

    def __init__(self) -> None:
        self._profiler = Profiler()
        self._profiling = self._profiler.extension(None)
        self._table = native.start(
            as_c_functions(), give_back, interruption(), ctypes.addressof(self._profiling)
        )
        keep_for_ever(self)

    def capsule(self) -> Any:
        """The address of the table as JAX takes it."""
        return new_capsule(self._table, CAPSULE_NAME)


@cache
def plugin() -> Plugin:
    """The plugin, which lives as long as the process."""
    return Plugin()
