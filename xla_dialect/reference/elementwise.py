"""What the elementwise operations compute.

Functions of double precision that numpy lacks, or has inaccurate near some argument, come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.literals.arrays import COMPUTE_DTYPES, ELEMENT_OF_DTYPE, Array, bit_width, bits_of
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise as ops
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import (
    Function,
    as_complex,
    in_compute_type,
    in_double,
    rounded,
    widened,
)
from xla_dialect.types import ElementClass

erf: Function = np.vectorize(math.erf, otypes=[np.float64])
"""The error function of f64, which numpy has not."""


def logistic(x: Array) -> Array:
    """`1 / (1 + e^(-x))`, written so that the exponential does not overflow."""
    decayed = np.exp(np.where(np.real(x) < 0, x, -x))
    return np.where(np.real(x) < 0, decayed, 1.0) / (1.0 + decayed)


def complex_expm1(z: Array) -> Array:
    """`e^z - 1` with `Re = expm1(x) cos y - 2 sin²(y / 2)`, which does not cancel near 0."""
    x, y = np.real(z), np.imag(z)
    half = np.sin(0.5 * y)
    real = np.expm1(x) * np.cos(y) - 2.0 * half * half
    # For real z the imaginary part is that of z, where 0 * infinity would give NaN.
    imaginary = np.where(y == 0.0, y, np.exp(x) * np.sin(y))
    return as_complex(np.where(y == 0.0, np.expm1(x), real), imaginary)


def complex_log1p(z: Array) -> Array:
    """`ln(1 + z)` with `Re = log1p(x (2 + x) + y²) / 2` near 0, where `|1 + z|` loses digits."""
    x, y = np.real(z), np.imag(z)
    near = np.maximum(np.abs(x), np.abs(y)) < 0.5
    small = 0.5 * np.log1p(np.where(near, x * (2.0 + x) + y * y, 0.0))
    return as_complex(np.where(near, small, np.log(np.hypot(1.0 + x, y))), np.arctan2(y, 1.0 + x))


def complex_quotient(z: Array, w: Array) -> Array:
    """`z / w`; infinite over finite and finite over infinite numbers as in C99, G.5.1."""
    quotient = np.divide(z, w)
    over, under = np.isinf(z), np.isinf(w)
    lost = np.isnan(np.real(quotient)) & np.isnan(np.imag(quotient)) & (over != under)
    (a, b), (c, d) = directions(z), directions(w)
    size = np.where(over, np.inf, 0.0)
    found = as_complex(size * (a * c + b * d), size * (b * c - a * d))
    return np.where(lost, found.astype(quotient.dtype), quotient)


def directions(z: Array) -> tuple[Array, Array]:
    """The parts of a number; where it is infinite ones for those that are, zeros for the other."""
    infinite, x, y = np.isinf(z), np.real(z), np.imag(z)
    return (
        np.where(infinite, np.copysign(np.isinf(x), x), x),
        np.where(infinite, np.copysign(np.isinf(y), y), y),
    )


def complex_power(z: Array, w: Array) -> Array:
    """`z^w`; 1 over a product, which may overflow, for negative whole w."""
    n = np.real(w)
    inverse = (np.imag(w) == 0.0) & (n < 0.0) & (n == np.trunc(n)) & (z != 0.0)
    power = np.power(z, np.where(inverse, -w, w))
    return np.where(inverse, complex_quotient(np.ones_like(power), power), power)


def complex_sign(z: Array) -> Array:
    """`z / |z|`, 0 for 0, NaN + NaN i if a part is NaN."""
    largest = np.maximum(np.abs(np.real(z)), np.abs(np.imag(z)))
    scale = np.where(largest == 0.0, 1.0, largest)
    x, y = np.real(z) / scale, np.imag(z) / scale
    modulus = np.where(largest == 0.0, 1.0, np.hypot(x, y))
    invalid = np.isnan(np.real(z)) | np.isnan(np.imag(z))
    return np.where(invalid, complex(np.nan, np.nan), as_complex(x / modulus, y / modulus))


def complex_atan2(y: Array, x: Array) -> Array:
    """`-i ln((x + i y) / √(x² + y²))`."""
    logarithm = np.log((x + 1j * y) / np.sqrt(x * x + y * y))
    return as_complex(np.imag(logarithm), -np.real(logarithm))


def round_half_away(x: Array) -> Array:
    """The nearest integer, ties away from zero; keeps the sign of zero."""
    whole = np.trunc(x)
    away = np.abs(x - whole) >= 0.5
    return np.where(away, whole + np.copysign(x.dtype.type(1), x), whole)


def integer_power(base: Array, exponent: Array) -> Array:
    """
    Integers to integer powers, wrapping.

    A negative exponent gives 1 for base 1, ±1 for base -1, else 0.
    """
    one: Array = np.ones((), base.dtype)
    result = np.power(base, np.maximum(exponent, one - one))
    if base.dtype.kind == "u":
        return result
    of_minus_one = np.where(exponent & 1, -one, one)
    reciprocal = np.where(base == -1, of_minus_one, np.where(base == 1, one, one - one))
    return np.where(exponent < 0, reciprocal, result)


def high_product(lhs: Array, rhs: Array) -> Array:
    """The high half of the product of double width."""
    dtype = lhs.dtype
    row = ELEMENT_OF_DTYPE[dtype]
    signed = row.element_class == ElementClass.SIGNED
    if row.bits < 64:
        wide = np.dtype(np.int64 if signed else np.uint64)
        high = (lhs.astype(wide) * rhs.astype(wide)) >> wide.type(row.bits)
        return high.astype(COMPUTE_DTYPES.get(dtype, dtype)).astype(dtype)
    high = unsigned_high_product(lhs.view(np.uint64), rhs.view(np.uint64)).view(dtype)
    if signed:
        # A negative operand counts 2^64 too much when it is read as unsigned.
        high = high - np.where(lhs < 0, rhs, 0) - np.where(rhs < 0, lhs, 0)
    return high


def unsigned_high_product(lhs: Array, rhs: Array | np.uint64) -> Array:
    """64 x 64 bits by halves of 32 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low, high = lhs & mask, lhs >> half
    other_low, other_high = rhs & mask, rhs >> half
    carry = (low * other_low) >> half
    middle = high * other_low + carry
    other_middle = low * other_high + (middle & mask)
    return high * other_high + (middle >> half) + (other_middle >> half)


def real_or_complex(real: Function, complex_: Function) -> Function:
    """One function for real operands, another for complex ones."""

    def evaluate(x: Array) -> Array:
        return complex_(x) if x.dtype.kind == "c" else real(x)

    return evaluate


def imaginary_part(x: Array) -> Array:
    """The imaginary part; 0 for a float operand."""
    if x.dtype.kind == "c":
        return np.imag(x)
    return np.full(x.shape, rounded(np.zeros((), np.float32), x.dtype))


def real_part(x: Array) -> Array:
    """The real part; a float operand unchanged."""
    return np.real(x) if x.dtype.kind == "c" else x


def is_finite(x: Array) -> Array:
    """True where x is neither infinite nor NaN."""
    return np.isfinite(widened(x))


def sign(x: Array) -> Array:
    """-1, 0 or 1; keeps -0 and NaN."""
    return np.where((x > 0) | (x < 0), np.sign(x), x)


def count_set_bits(x: Array) -> Array:
    """The number of set bits."""
    return np.bitwise_count(bits_of(x)).astype(x.dtype)


def count_leading_zeros(x: Array) -> Array:
    """The width less the number of bits from the highest set one down."""
    bits = bits_of(x)
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < 8 * bits.dtype.itemsize:
            bits = bits | (bits >> shift)
    return (bit_width(x.dtype) - np.bitwise_count(bits)).astype(x.dtype)


def reciprocal_square_root(x: Array) -> Array:
    """`1 / √x`; ±infinity at ±0."""
    root = np.sqrt(x)
    return complex_quotient(np.ones_like(root), root) if root.dtype.kind == "c" else 1.0 / root


def complex_inverse_hyperbolic_cosine(z: Array) -> Array:
    """`acosh z`. Numpy's in double precision is off by 3 ULP near -1."""
    return np.arccosh(z.astype(np.clongdouble)).astype(z.dtype)


UNARY: dict[type[XlaOp], Function] = {
    ops.AbsOp: in_compute_type(np.abs),
    ops.AcosOp: in_double(np.arccos),
    ops.AcoshOp: in_double(real_or_complex(np.arccosh, complex_inverse_hyperbolic_cosine)),
    ops.AsinOp: in_double(np.arcsin),
    ops.AsinhOp: in_double(np.arcsinh),
    ops.AtanhOp: in_double(np.arctanh),
    ops.CbrtOp: in_double(np.cbrt),
    ops.CeilOp: in_compute_type(np.ceil),
    ops.CountLeadingZerosOp: count_leading_zeros,
    ops.CosineOp: in_double(np.cos),
    ops.CoshOp: in_double(np.cosh),
    ops.ErfOp: in_double(erf),
    ops.ExponentialOp: in_double(np.exp),
    ops.ExponentialMinusOneOp: in_double(real_or_complex(np.expm1, complex_expm1)),
    ops.FloorOp: in_compute_type(np.floor),
    ops.ImagOp: imaginary_part,
    ops.IsFiniteOp: is_finite,
    ops.LogOp: in_double(np.log),
    ops.LogPlusOneOp: in_double(real_or_complex(np.log1p, complex_log1p)),
    ops.LogisticOp: in_double(logistic),
    ops.NegateOp: in_compute_type(np.negative),
    ops.NotOp: in_compute_type(np.invert),
    ops.PopcntOp: count_set_bits,
    ops.RealOp: real_part,
    ops.RoundNearestAfzOp: in_compute_type(round_half_away),
    ops.RoundNearestEvenOp: in_compute_type(np.rint),
    ops.RsqrtOp: in_double(reciprocal_square_root),
    ops.SignOp: real_or_complex(in_compute_type(sign), in_double(complex_sign)),
    ops.SineOp: in_double(np.sin),
    ops.SinhOp: in_double(np.sinh),
    ops.SqrtOp: real_or_complex(in_compute_type(np.sqrt), in_double(np.sqrt)),
    ops.TanOp: in_double(np.tan),
    ops.TanhOp: in_double(np.tanh),
}
"""From the operation to the function of arrays of any shape."""


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
    ops.DivideOp: in_compute_type(
        by_kind(integer=divide_integers, floating=np.divide, complex_=complex_quotient)
    ),
    ops.PowerOp: in_compute_type(
        by_kind(
            integer=integer_power, floating=in_double(np.power), complex_=in_double(complex_power)
        )
    ),
    ops.RemainderOp: in_compute_type(by_kind(integer=remainder_integers, floating=np.fmod)),
    ops.MaximumOp: in_compute_type(maximum),
    ops.MinimumOp: in_compute_type(minimum),
    ops.AndOp: in_compute_type(np.bitwise_and),
    ops.OrOp: in_compute_type(np.bitwise_or),
    ops.XorOp: in_compute_type(np.bitwise_xor),
    ops.MulhiOp: high_product,
    ops.ShiftLeftOp: shift_left,
    ops.ShiftRightArithmeticOp: shift_right_arithmetic,
    ops.ShiftRightLogicalOp: shift_right_logical,
    ops.Atan2Op: in_compute_type(
        by_kind(
            integer=np.arctan2,
            floating=in_double(np.arctan2),
            complex_=in_double(complex_atan2),
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


def clamp(low: Array, operand: Array, high: Array) -> Array:
    """`min(max(low, operand), high)`."""
    return minimum(maximum(low, operand), high)


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """`pred ? on_true : on_false`, element by element or as a whole."""
    if pred.ndim == 0:
        return on_true if pred else on_false
    return np.where(pred, on_true, on_false)


FUNCTIONS: Mapping[type[XlaOp], Function] = {
    **UNARY,
    **BINARY,
    ops.CompareOp: compare,
    ops.ClampOp: in_compute_type(clamp),
    ops.SelectOp: select,
}
"""From the operation to the function of arrays that broadcast."""

ElementwiseFunctions = registration("ElementwiseFunctions", FUNCTIONS)
