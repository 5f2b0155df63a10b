"""Sorting (docs/generated/ops.md#sorting)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.recorder import normalized
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.types import array


class SortingMethods(Computations):
    """Methods that bring elements in order."""

    @overload
    def sort(
        self,
        operands: XlaValue,
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> XlaValue: ...

    @overload
    def sort(
        self,
        operands: Sequence[XlaValue],
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> tuple[XlaValue, ...]: ...

    def sort(
        self,
        operands: XlaValue | Sequence[XlaValue],
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        Every line along a dimension sorted; several operands are sorted together, as tuples.

        The comparator takes two elements of each operand, one pair after the other, and says
        whether the first of the pairs come first. With NaN, `b.lt` is no order: that is
        `b.lt_total_order`. Example: `b.sort([x, n], lambda a, c, i, j: b.lt_total_order(a, c), 0)`.
        """
        inputs = [operands] if isinstance(operands, XlaValue) else list(operands)
        values = self._all_ssa(inputs)
        pairs = [array(value.element_type, ()) for value in inputs for _ in range(2)]
        results = self._append(
            SortOp,
            values,
            dimension=normalized(dimension, inputs[0].rank if inputs else 0),
            is_stable=is_stable,
            regions=[self._region(comparator, pairs)],
        )
        return results[0] if isinstance(operands, XlaValue) else results

    def top_k(self, operand: XlaValue, k: int, largest: bool = True) -> tuple[XlaValue, XlaValue]:
        """
        The k largest (or smallest) elements along the last dimension, and their indices.

        Example: `b.top_k(x, 3)`.
        """
        values, indices = self._append(TopkOp, self._ssa(operand), k=k, largest=largest)
        return values, indices
