"""Broadcasting of operands, by the rules of `xla_dialect.shapes.broadcasting`."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.builder.recorder import Recorder, violated
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.diagnostics import Violation
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.shapes.broadcasting import broadcast_shape, expansion, matched_dimensions
from xla_dialect.types import array


class ImplicitBroadcasting(Recorder):
    """What elementwise methods do with operands of different sizes."""

    def _broadcast_pair(
        self, method: str, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int]
    ) -> tuple[XlaValue, XlaValue]:
        """
        Both operands with the sizes of the result.

        Raises BuildError with the label of the rule of broadcasting that does not hold.
        """
        left, right = self._pair(method, lhs, rhs)
        if left.type == right.type and not broadcast_dimensions:
            return left, right
        before = left.shape, right.shape
        try:
            result = broadcast_shape(*before, broadcast_dimensions)
        except Violation as violation:
            raise violated(method, violation) from None
        left, right = (
            self._expanded(operand, result, matched_dimensions(sizes, result, broadcast_dimensions))
            for operand, sizes in zip((left, right), before, strict=True)
        )
        return left, right

    def _expanded(
        self, operand: XlaValue, result: Sequence[int], dimensions: Sequence[int]
    ) -> XlaValue:
        """
        The array with these sizes; its dimension i becomes `dimensions[i]`.

        Sizes 1 are stretched; the others are those of the result.
        """
        element_type, before = operand.element_type, operand.shape
        step = expansion(before, result, dimensions)
        if step is None:
            return operand
        if step.reshaped != before:
            reshaped = array(element_type, step.reshaped)
            operand = self._append(ReshapeOp, operand, result_types=[reshaped])
        # Dynamic are the dimensions that are so in the operand.
        after = [int(size) for size in result]
        for size, d in zip(step.reshaped, step.dimensions, strict=True):
            after[d] = size
        return self._append(
            BroadcastOp,
            operand,
            dimensions=step.dimensions,
            result_types=[array(element_type, after)],
        )
