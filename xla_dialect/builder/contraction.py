"""Contractions (operations.md, sections 24 and 25)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.recorder import Recorder, all_normalized, violated
from xla_dialect.builder.type_spelling import ElementTypeLike, as_element_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.constraints import require_same_elements
from xla_dialect.ops.contraction import DotOp
from xla_dialect.types import Array, array_like, spell
from xla_dialect.violation import Violation


@dataclass(frozen=True)
class DotDimensionNumbers:
    """Which dimensions of the operands of `dot_general` are summed over, and which go in pairs."""

    lhs_contracting_dimensions: Sequence[int] = ()
    rhs_contracting_dimensions: Sequence[int] = ()
    lhs_batch_dimensions: Sequence[int] = ()
    rhs_batch_dimensions: Sequence[int] = ()


class ContractionMethods(Recorder):
    """Methods for products of matrices and their generalisations."""

    def dot(self, lhs: XlaValue, rhs: XlaValue) -> XlaValue:
        """
        The product of vectors and matrices, over the last dimension of `lhs`, the first of `rhs`.

        Example: `b.dot(x, v)`.
        """
        for operand in (lhs, rhs):
            self._ssa(operand)
            if operand.rank not in (1, 2):
                raise build_error(
                    f"dot: (C2) {spell(operand.type)} is neither a vector nor a matrix; "
                    "dot_general takes any rank, mul scalars"
                )
        numbers = DotDimensionNumbers([lhs.rank - 1], [0])
        return self.dot_general(lhs, rhs, numbers)

    def dot_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        Sums of products over the contracting dimensions, for each index of the batch dimensions.

        The result has the batch dimensions, those left of `lhs`, and those left of `rhs`; its
        element type is `preferred_element_type`, or that of the operands.
        Example: `b.dot_general(x, y, DotDimensionNumbers([1], [1]), "f64")`.
        """
        left, right = self._checked_array(lhs, "lhs"), self._checked_array(rhs, "rhs")
        try:
            require_same_elements(lhs.array_type, rhs.array_type, "lhs and rhs", "C1")
        except Violation as violation:
            raise violated("dot_general", violation) from None
        n = dimension_numbers
        dimensions = {
            "lhs_batch_dims": all_normalized(n.lhs_batch_dimensions, lhs.rank),
            "lhs_contracting_dims": all_normalized(n.lhs_contracting_dimensions, lhs.rank),
            "rhs_batch_dims": all_normalized(n.rhs_batch_dimensions, rhs.rank),
            "rhs_contracting_dims": all_normalized(n.rhs_contracting_dimensions, rhs.rank),
        }
        try:
            require_same_elements(lhs.array_type, rhs.array_type, "lhs and rhs", "C1")
            (result,) = DotOp.infer(left.type, right.type, **dimensions, declared=())
        except Violation as violation:
            raise violated("dot_general", violation) from None
        if preferred_element_type is not None:
            result = array_like(cast(Array, result), as_element_type(preferred_element_type))
        return self._append_one(DotOp, left, right, result_types=[result], **dimensions)
