"""How much work a kernel is, as an attribute of its function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64

WORK_ATTRIBUTE = "xla.work"
"""The attribute of kernels with the fields of `Work`."""


@dataclass(frozen=True)
class Work:
    """What a call of a kernel does at least, by the operations that it was made from."""

    bytes: int = 0
    """Of memory that it reads and writes, each element once."""
    f32_operations: int = 0
    """Floating-point operations in f32, and in narrower types, which are computed as f32."""
    f64_operations: int = 0

    @staticmethod
    def of(function: func.FuncOp) -> Work:
        """What the attribute of a kernel says; nothing where there is none."""
        found = function.attributes.get(WORK_ATTRIBUTE)
        if not isinstance(found, DictionaryAttr):
            return Work()
        numbers = {k: cast("IntegerAttr[Any]", v).value.data for k, v in found.data.items()}
        return Work(**numbers)

    def attribute(self) -> DictionaryAttr:
        """The attribute that says it."""
        return DictionaryAttr({k: IntegerAttr(v, i64) for k, v in vars(self).items()})
