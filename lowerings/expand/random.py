"""
Random bits, by the counter generators of `xla_dialect.literals.random_bits`. Rounding by chance: to
the element type of the result, up or down by random bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import ml_dtypes

from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.literals.random_bits import generated
from xla_dialect.ops.random import RngBitGeneratorOp, StochasticConvertOp
from xla_dialect.types import BY_TYPE, Array, ElementClass, ElementType

Values = Sequence[XlaValue]


def random_bits(b: XlaBuilder, op: RngBitGeneratorOp, state: XlaValue) -> Values:
    """The next state and the bits."""
    result = cast(Array, op.outputs[1].type)
    sizes, width = result.get_shape(), BY_TYPE[result.element_type].bits
    (length,) = cast(Array, op.initial_state.type).get_shape()
    numbers = [b.reshape(b.slice(state, [i], [i + 1]), []) for i in range(length)]
    following, bits = generated(b, op.algorithm.data, numbers, sizes, width)
    return following, b.bitcast_convert_type(bits, result.element_type)


_EXPONENTS = {"f32": ("u32", 0x7F800000), "f64": ("u64", 0x7FF0000000000000)}
"""The unsigned integers of the bits of a float, and where its exponent is in them."""


def stochastic_convert(
    b: XlaBuilder, op: StochasticConvertOp, operand: XlaValue, random: XlaValue
) -> Sequence[XlaValue]:
    """What rounding down leaves is compared with the random bits, in f32 or, of f64, in f64."""
    source = BY_TYPE[operand.element_type]
    target = BY_TYPE[cast(Array, op.result.type).element_type]
    compute = "f64" if source.name == "f64" else "f32"
    x = b.convert_element_type(operand, compute)
    convert = _to_float if target.element_class == ElementClass.FLOAT else _to_integer
    return [convert(b, x, random, source, target)]


def _to_integer(
    b: XlaBuilder, x: XlaValue, random: XlaValue, source: ElementType, target: ElementType
) -> XlaValue:
    """Integers; what is outside of their range is its end, NaN is 0."""
    down, up = _divided(b, b.abs(x), random)
    number = b.convert_element_type(down, target.type) + b.convert_element_type(up, target.type)
    is_signed = target.element_class == ElementClass.SIGNED
    low = -1 << target.bits - 1 if is_signed else 0
    high = (1 << target.bits - is_signed) - 1
    number = b.select(x < 0.0, -number, number)
    number = b.select(x >= float(high), b.constant(high, number.type), number)
    number = b.select(x <= float(low), b.constant(low, number.type), number)
    return b.select(b.eq(x, x), number, b.constant(0, number.type))


def _to_float(
    b: XlaBuilder, x: XlaValue, random: XlaValue, source: ElementType, target: ElementType
) -> XlaValue:
    """Floats; infinities, NaN and what is too large become what `convert` makes of them."""
    given, wanted = (cast("Any", ml_dtypes.finfo(numpy_dtype(t.type))) for t in (source, target))
    if wanted.nmant >= given.nmant and wanted.minexp <= given.minexp:
        return b.convert_element_type(x, target.type)
    compute = BY_TYPE[x.element_type].name
    integers, exponent = _EXPONENTS[compute]
    power = b.bitcast_convert_type(b.bitcast_convert_type(x, integers) & exponent, compute)
    # The distance between neighbours of the result; subnormal ones have that of the least normal.
    spacing = b.max(power, 2.0**wanted.minexp) * 2.0**-wanted.nmant
    down, up = _divided(b, b.abs(x) / spacing, random)
    magnitude = (down + b.convert_element_type(up, compute)) * spacing
    is_negative = b.shift_right_logical(b.bitcast_convert_type(x, integers), _TOP[compute])
    signed = b.select(b.ne(is_negative, 0), -magnitude, magnitude)
    return b.convert_element_type(b.select(b.is_finite(x), signed, x), target.type)


_TOP = {"f32": 31, "f64": 63}
"""The bit that is the sign."""


def _divided(b: XlaBuilder, scaled: XlaValue, random: XlaValue) -> tuple[XlaValue, XlaValue]:
    """A magnitude rounded down to a whole number, and whether it is one more by chance."""
    down = b.floor(scaled)
    width = BY_TYPE[random.element_type].bits
    chance = b.convert_element_type((scaled - down) * 2.0**width, random.element_type)
    return down, random < chance
