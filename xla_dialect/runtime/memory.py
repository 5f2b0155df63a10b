"""What the arrays of a run take."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from xla_dialect.literals.arrays import Array, MemoryLimitError, Value
from xla_dialect.runtime.limits import physical_memory

COUNTED_BYTES = 1 << 16
"""Smaller arrays are not counted, as their sum is negligible."""


@dataclass
class MemoryMeter:
    """The arrays that a run has made and still holds; those that share memory count once."""

    limit: int = field(default_factory=physical_memory)
    """Bytes that they may take."""
    used: int = 0
    """Bytes that they take."""
    _arrays: dict[int, weakref.ref[Array]] = field(default_factory=dict[int, "weakref.ref[Array]"])

    def require(self, size: int) -> None:
        """Raises MemoryLimitError where there is no room for so many bytes more."""
        if self.used + size > self.limit:
            raise MemoryLimitError(
                f"{size} bytes beside the {self.used} in use, the limit is {self.limit} bytes"
            )

    def keep(self, value: Value | list[Value]) -> None:
        """Counts an array, or those of a tuple or list, until nobody holds them."""
        if isinstance(value, tuple | list):
            for element in value:
                self.keep(element)
            return
        if not isinstance(value, np.ndarray):
            return
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        size, key = root.nbytes, id(root)
        if size >= COUNTED_BYTES and key not in self._arrays:
            self.used += size
            self._arrays[key] = weakref.ref(root, partial(self._forget, key, size))

    def _forget(self, key: int, size: int, _: Any) -> None:
        del self._arrays[key]
        self.used -= size
