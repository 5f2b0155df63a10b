"""Elementwise operations of three operands (docs/generated/ops.md#elementwise-ternary)."""

from __future__ import annotations

from typing import cast

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computations
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.ops.elementwise_ternary import ClampOp, SelectOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.types import PRED, is_scalar, spell, spell_all, tuple_elements


class ElementwiseTernaryMethods(Computations):
    """Methods that choose between values."""

    @appends(ClampOp)
    def clamp(self, min: Operand, operand: XlaValue, max: Operand) -> XlaValue:
        """
        `min(max(min, operand), max)`; the bounds are scalars or as large as the operand.

        NaN in any of them gives NaN. Example: `b.clamp(0, x, 1)`.
        """
        low = self._operand(min, operand.element_type, "min")
        high = self._operand(max, operand.element_type, "max")
        return self._append(ClampOp, low, operand, high)

    @appends(SelectOp)
    def select(self, pred: XlaValue, on_true: Operand, on_false: Operand) -> XlaValue:
        """
        `pred ? on_true : on_false`, element by element.

        A scalar `pred` picks one of the two as a whole, and these may then be tuples: (C2) both of
        one type, and (C4) only so. A scalar or a number goes with arrays in the other places.

        Example: `b.select(p, x, 0)`.
        """
        self._ssa(pred, "pred")
        for chosen in (on_true, on_false):
            if isinstance(chosen, XlaValue) and tuple_elements(chosen.type) is not None:
                return self._select_tuple(pred, on_true, on_false)
        pair = self._pair("select", on_true, on_false)
        sizes = [value.shape for value in (*pair, pred)]
        common = next((found for found in sizes if found), ())
        chosen = (v if v.shape else self._expanded(v, common, ()) for v in pair)
        return self._append(SelectOp, pred, *chosen)

    def _select_tuple(self, pred: XlaValue, on_true: Operand, on_false: Operand) -> XlaValue:
        """Tuples count as scalars, as a whole; in HLO each of their elements is selected."""
        left, right = self._ssa(on_true, "on_true"), self._ssa(on_false, "on_false")
        if left.type != right.type:
            found = spell_all([left.type, right.type])
            raise build_error(f"select: (C2) on_true and on_false are {found}")
        if not is_scalar(pred.type, PRED):
            raise build_error(f"select: (C4) pred is {spell(pred.type)}, the others are tuples")
        pairs = zip(cast(XlaValue, on_true), cast(XlaValue, on_false), strict=True)
        return self._append(TupleOp, [self.select(pred, *pair) for pair in pairs])
