"""What the elementwise operations of two operands compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array, bit_width, bits_of
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as ops
from xla_dialect.reference import special_functions
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import (
    Function,
    as_complex,
    in_compute_type,
    in_double,
    widened,
)

BinaryFunction = Callable[[Array, Array], Array]


def by_kind(*, integer: Function, floating: Function, complex_: Function | None = None) -> Function:
    """One function for integers, another for floats, a third for complex numbers."""
    functions = {"i": integer, "u": integer, "f": floating, "c": complex_ or floating}

    def evaluate(lhs: Array, rhs: Array) -> Array:
        return functions[lhs.dtype.kind](lhs, rhs)

    return evaluate


def _safe_divisor(lhs: Array, rhs: Array) -> Array:
    """1 where dividing lhs by rhs has no result: rhs = 0, and INT_MIN / -1."""
    undefined = rhs == 0
    if lhs.dtype.kind == "i":
        undefined = undefined | ((rhs == -1) & (lhs == np.iinfo(lhs.dtype).min))
    return np.where(undefined, lhs.dtype.type(1), rhs)


def divide_integers(lhs: Array, rhs: Array) -> Array:
    """The quotient, toward zero; all ones by 0; `INT_MIN / -1 = INT_MIN`."""
    divisor = _safe_divisor(lhs, rhs)
    quotient = (lhs - np.fmod(lhs, divisor)) // divisor
    return np.where(rhs == 0, np.invert(lhs.dtype.type(0)), quotient)


def remainder_integers(lhs: Array, rhs: Array) -> Array:
    """The remainder with the sign of lhs; `x rem 0 = x`, `INT_MIN rem -1 = 0`."""
    return np.where(rhs == 0, lhs, np.fmod(lhs, _safe_divisor(lhs, rhs)))


def maximum(lhs: Array, rhs: Array) -> Array:
    """The larger operand; NaN if either is NaN; `max(-0, +0) = +0`."""
    larger = np.maximum(lhs, rhs)
    if larger.dtype.kind == "f" and not np.all(larger):
        # -0 + +0 = +0, -0 + -0 = -0
        return np.where((lhs == 0) & (rhs == 0), lhs + rhs, larger)
    return larger


def minimum(lhs: Array, rhs: Array) -> Array:
    """The smaller operand; NaN if either is NaN; `min(-0, +0) = -0`."""
    smaller = np.minimum(lhs, rhs)
    if smaller.dtype.kind == "f" and not np.all(smaller):
        return np.where((lhs == 0) & (rhs == 0), -(-lhs + -rhs), smaller)
    return smaller


def shift_left(lhs: Array, rhs: Array) -> Array:
    """`lhs << rhs`; 0 from the bit width on."""
    return _shifted(np.left_shift, lhs, rhs)


def shift_right_logical(lhs: Array, rhs: Array) -> Array:
    """The right shift that fills with zeros; 0 from the bit width on."""
    return _shifted(np.right_shift, lhs, rhs)


def _shifted(shift: BinaryFunction, lhs: Array, rhs: Array) -> Array:
    bits, amount = bits_of(lhs), bits_of(rhs)
    last = amount.dtype.type(bit_width(lhs.dtype) - 1)
    shifted = np.where(amount > last, bits.dtype.type(0), shift(bits, np.minimum(amount, last)))
    return shifted.astype(widened(lhs).dtype).astype(lhs.dtype)


def shift_right_arithmetic(lhs: Array, rhs: Array) -> Array:
    """The right shift that fills with the top bit, of unsigned types too."""
    width, storage = bit_width(lhs.dtype), 8 * lhs.dtype.itemsize
    # The value in the top bits of its storage, so that its top bit is the sign.
    raised = (bits_of(lhs) << (storage - width)).view(f"i{storage // 8}")
    amount = bits_of(rhs)
    last = amount.dtype.type(width - 1)
    steps = np.minimum(amount, last).astype(raised.dtype) + raised.dtype.type(storage - width)
    return (raised >> steps).astype(widened(lhs).dtype).astype(lhs.dtype)


BINARY: dict[type[XlaOp], Function] = {
    ops.AddOp: in_compute_type(np.add),
    ops.SubtractOp: in_compute_type(np.subtract),
    ops.MultiplyOp: in_compute_type(np.multiply),
    ops.DivideOp: in_compute_type(by_kind(integer=divide_integers, floating=np.divide)),
    ops.PowerOp: in_compute_type(
        by_kind(integer=special_functions.integer_power, floating=in_double(np.power))
    ),
    ops.RemainderOp: in_compute_type(by_kind(integer=remainder_integers, floating=np.fmod)),
    ops.MaximumOp: in_compute_type(maximum),
    ops.MinimumOp: in_compute_type(minimum),
    ops.AndOp: in_compute_type(np.bitwise_and),
    ops.OrOp: in_compute_type(np.bitwise_or),
    ops.XorOp: in_compute_type(np.bitwise_xor),
    ops.MulhiOp: special_functions.high_product,
    ops.ShiftLeftOp: shift_left,
    ops.ShiftRightArithmeticOp: shift_right_arithmetic,
    ops.ShiftRightLogicalOp: shift_right_logical,
    ops.Atan2Op: in_compute_type(
        by_kind(
            integer=np.arctan2,
            floating=in_double(np.arctan2),
            complex_=in_double(special_functions.complex_atan2),
        )
    ),
    ops.ComplexOp: as_complex,
}
"""From the operation to the function of two arrays that broadcast."""

_RELATIONS: dict[ComparisonDirection, BinaryFunction] = {
    ComparisonDirection.EQ: np.equal,
    ComparisonDirection.NE: np.not_equal,
    ComparisonDirection.GE: np.greater_equal,
    ComparisonDirection.GT: np.greater,
    ComparisonDirection.LE: np.less_equal,
    ComparisonDirection.LT: np.less,
}


def total_order_key(x: Array) -> Array:
    """
    Integers that order as the floats do: -NaN < -inf < -0 < +0 < inf < NaN.

    The bits as a signed integer, all but the sign bit flipped where that is negative. Formats with
    one NaN that has no sign (fnuz, f8e8m0fnu) have it above everything.
    """
    name, bits = ELEMENT_OF_DTYPE[x.dtype].name, bits_of(x)
    if name == "f8e8m0fnu":
        return bits.astype(np.int16)
    storage = 8 * x.dtype.itemsize
    signed = (bits << (storage - bit_width(x.dtype))).view(f"i{x.dtype.itemsize}")
    key = np.where(signed < 0, signed ^ np.iinfo(signed.dtype).max, signed)
    if name.endswith("fnuz"):
        return np.where(bits == 0x80, 0x80, key.astype(np.int16))
    return key


def compare(lhs: Array, rhs: Array, *, direction: ComparisonDirection, op: ops.CompareOp) -> Array:
    """`lhs direction rhs`: the direction picks the relation, the comparison type the order."""
    key = total_order_key if op.order == ComparisonType.TOTALORDER else widened
    return _RELATIONS[direction](key(lhs), key(rhs))


ElementwiseBinaryFunctions = registration(
    "ElementwiseBinaryFunctions", {**BINARY, ops.CompareOp: compare}
)
