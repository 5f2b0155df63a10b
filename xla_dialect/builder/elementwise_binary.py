"""Elementwise operations of two operands (docs/generated/ops.md#elementwise-binary)."""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.builder.implicit_broadcasting import ImplicitBroadcasting
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as ops
from xla_dialect.types import ElementClass, element_class


class ElementwiseBinaryMethods(ImplicitBroadcasting):
    """
    Methods for arithmetic, bits and comparisons.

    Operands of different sizes are broadcast: a scalar (or a number) to any array, arrays of equal
    rank along dimensions of size 1; of arrays of different rank, `broadcast_dimensions[i]` is the
    dimension of the larger one that dimension i of the smaller one matches.
    """

    def _binary(
        self,
        method: str,
        op_class: type[XlaOp],
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int],
    ) -> XlaValue:
        left, right = self._broadcast_pair(method, lhs, rhs, broadcast_dimensions)
        return self._append_one(op_class, left.ssa, right.ssa)

    def _compare(
        self,
        method: str,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int],
        direction: ComparisonDirection,
        *,
        total_order: bool = False,
    ) -> XlaValue:
        left, right = self._broadcast_pair(method, lhs, rhs, broadcast_dimensions)
        floats = element_class(left.element_type) == ElementClass.FLOAT
        return self._append_one(
            ops.CompareOp,
            left.ssa,
            right.ssa,
            direction=direction,
            comparison_type=ComparisonType.TOTALORDER if total_order and floats else None,
        )

    def add(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """`lhs + rhs`; integers wrap, pred: logical or.

        Example: `b.add(x, v, broadcast_dimensions=[1])`.
        """
        return self._binary("add", ops.AddOp, lhs, rhs, broadcast_dimensions)

    def sub(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """`lhs - rhs`; integers wrap. Example: `b.sub(x, 1)`."""
        return self._binary("sub", ops.SubtractOp, lhs, rhs, broadcast_dimensions)

    def mul(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """`lhs * rhs`; integers wrap, pred: logical and. Example: `b.mul(x, y)`."""
        return self._binary("mul", ops.MultiplyOp, lhs, rhs, broadcast_dimensions)

    def div(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """`lhs / rhs`; integers truncate toward zero, `x / 0` has all bits set.

        Example: `b.div(x, y)`.
        """
        return self._binary("div", ops.DivideOp, lhs, rhs, broadcast_dimensions)

    def pow(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """`lhs` to the power `rhs`; integers wrap. Example: `b.pow(x, 0.5)`."""
        return self._binary("pow", ops.PowerOp, lhs, rhs, broadcast_dimensions)

    def rem(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """The remainder of a division, with the sign of `lhs`. Example: `b.rem(n, 3)`."""
        return self._binary("rem", ops.RemainderOp, lhs, rhs, broadcast_dimensions)

    def max(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """The larger operand; NaN if either is NaN. Example: `b.max(x, 0)`."""
        return self._binary("max", ops.MaximumOp, lhs, rhs, broadcast_dimensions)

    def min(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """The smaller operand; NaN if either is NaN. Example: `b.min(x, y)`."""
        return self._binary("min", ops.MinimumOp, lhs, rhs, broadcast_dimensions)

    def and_(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """Bitwise and of integers, logical and of pred. Example: `b.and_(p, q)`."""
        return self._binary("and_", ops.AndOp, lhs, rhs, broadcast_dimensions)

    def or_(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Bitwise or of integers, logical or of pred. Example: `b.or_(p, q)`."""
        return self._binary("or_", ops.OrOp, lhs, rhs, broadcast_dimensions)

    def xor(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Bitwise exclusive or of integers, logical exclusive or of pred.

        Example: `b.xor(n, m)`.
        """
        return self._binary("xor", ops.XorOp, lhs, rhs, broadcast_dimensions)

    def mulhi(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """The high half of the product of two integers in double width.

        Example: `b.mulhi(n, m)`.
        """
        return self._binary("mulhi", ops.MulhiOp, lhs, rhs, broadcast_dimensions)

    def shift_left(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """`lhs << rhs`; the amount is unsigned, 0 from the bit width on.

        Example: `b.shift_left(n, 1)`.
        """
        return self._binary("shift_left", ops.ShiftLeftOp, lhs, rhs, broadcast_dimensions)

    def shift_right_arithmetic(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """The right shift that fills with the top bit.

        Example: `b.shift_right_arithmetic(n, 1)`.
        """
        return self._binary(
            "shift_right_arithmetic", ops.ShiftRightArithmeticOp, lhs, rhs, broadcast_dimensions
        )

    def shift_right_logical(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """The right shift that fills with zeros. Example: `b.shift_right_logical(n, 1)`."""
        return self._binary(
            "shift_right_logical", ops.ShiftRightLogicalOp, lhs, rhs, broadcast_dimensions
        )

    def atan2(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """The angle of the point (x = rhs, y = lhs), in [-π, π]. Example: `b.atan2(x, y)`."""
        return self._binary("atan2", ops.Atan2Op, lhs, rhs, broadcast_dimensions)

    def complex(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """`lhs + i rhs` as c64 (of f32) or c128 (of f64). Example: `b.complex(x, y)`."""
        return self._binary("complex", ops.ComplexOp, lhs, rhs, broadcast_dimensions)

    def eq(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs = rhs`; false if either is NaN. Example: `b.eq(x, y)`."""
        return self._compare("eq", lhs, rhs, broadcast_dimensions, ComparisonDirection.EQ)

    def ne(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs ≠ rhs`; NaN differs from everything. Example: `b.ne(x, y)`."""
        return self._compare("ne", lhs, rhs, broadcast_dimensions, ComparisonDirection.NE)

    def ge(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs >= rhs`; false if either is NaN. Example: `b.ge(x, y)`."""
        return self._compare("ge", lhs, rhs, broadcast_dimensions, ComparisonDirection.GE)

    def gt(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs > rhs`; false if either is NaN. Example: `b.gt(x, y)`."""
        return self._compare("gt", lhs, rhs, broadcast_dimensions, ComparisonDirection.GT)

    def le(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs <= rhs`; false if either is NaN. Example: `b.le(x, y)`."""
        return self._compare("le", lhs, rhs, broadcast_dimensions, ComparisonDirection.LE)

    def lt(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()) -> XlaValue:
        """Where `lhs < rhs`; false if either is NaN. Example: `b.lt(x, y)`."""
        return self._compare("lt", lhs, rhs, broadcast_dimensions, ComparisonDirection.LT)

    def eq_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs = rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.eq_total_order(x, y)`.
        """
        return self._compare(
            "eq_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.EQ,
            total_order=True,
        )

    def ne_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs ≠ rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.ne_total_order(x, y)`.
        """
        return self._compare(
            "ne_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.NE,
            total_order=True,
        )

    def ge_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs >= rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.ge_total_order(x, y)`.
        """
        return self._compare(
            "ge_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.GE,
            total_order=True,
        )

    def gt_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs > rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.gt_total_order(x, y)`.
        """
        return self._compare(
            "gt_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.GT,
            total_order=True,
        )

    def le_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs <= rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.le_total_order(x, y)`.
        """
        return self._compare(
            "le_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.LE,
            total_order=True,
        )

    def lt_total_order(
        self, lhs: Operand, rhs: Operand, broadcast_dimensions: Sequence[int] = ()
    ) -> XlaValue:
        """
        Where `lhs < rhs` in the total order of floats.

        -NaN < -inf < -0 < +0 < inf < NaN; integers and pred have but one order.
        Example: `b.lt_total_order(x, y)`.
        """
        return self._compare(
            "lt_total_order",
            lhs,
            rhs,
            broadcast_dimensions,
            ComparisonDirection.LT,
            total_order=True,
        )
