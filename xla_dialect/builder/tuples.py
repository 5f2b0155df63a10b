"""Tuples (docs/generated/ops.md#tuples)."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp


class TupleMethods(Recorder):
    """Methods that make tuples and take them apart."""

    def tuple(self, elements: Sequence[XlaValue]) -> XlaValue:
        """The tuple of these values, in order. Example: `b.tuple([x, i])`."""
        return self._append_one(TupleOp, self._all_ssa(elements, "element"))

    def get_tuple_element(self, tuple: XlaValue | Sequence[XlaValue], index: int) -> XlaValue:
        """
        Element `index` of a tuple, or of the values that a method gives as a Python tuple.

        Example: `b.get_tuple_element(b.tuple([x, i]), 1)`.
        """
        if isinstance(tuple, XlaValue):
            return self._append_one(GetTupleElementOp, self._ssa(tuple), index=index)
        if not 0 <= index < len(tuple):
            raise build_error(f"get_tuple_element: (C2) index {index} of {len(tuple)} elements")
        return tuple[index]
