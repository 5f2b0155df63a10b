"""
The reduction of arguments of any size to a rest of at most pi/4, one at a time.

A float is `m * 2**e` with an integer `m` of 53 bits. The digits of 2/pi of weight `2**(2 - e)`
and more make multiples of four right angles; the product of `m` with the 192 bits that follow is
the number of right angles to some 128 bits.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.math_functions.numbers import Number
from xla_dialect.xdsl.creation import create

REDUCTION = "xla.reduce_by_half_pi"
"""The name of the function `f64 -> (f64, i64)`: the rest, and the number of right angles."""

DIGITS = "xla.two_over_pi"
"""The name of the constant that holds the binary digits of 2/pi."""

LEADING_ZERO_WORDS = 1
"""Words of 64 zero bits before the digits, so that moderate arguments find some as well."""
DIGIT_WORDS = 21
"""Words in all: the largest exponent reaches word 16 and needs four words from there."""

HALF_PI_HIGH, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17


@cache
def digits_of_two_over_pi() -> tuple[int, ...]:
    """The words of the constant, as signed integers; pi by Machin's formula."""
    fraction_bits = 64 * (DIGIT_WORDS - LEADING_ZERO_WORDS)
    scale = 1 << (fraction_bits + 64)

    def arctangent_of_inverse(number: int) -> int:
        power, total, odd = scale // number, 0, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power //= number * number
            odd += 2
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    digits = (2 * scale << fraction_bits) // pi
    shifts = range(fraction_bits - 64, -1, -64)
    words = [0] * LEADING_ZERO_WORDS + [digits >> shift & (1 << 64) - 1 for shift in shifts]
    return tuple(word - (1 << 64) if word >> 63 else word for word in words)


def definitions() -> list[Operation]:
    """The constant and the function."""
    digits_type = MemRefType(i64, [DIGIT_WORDS])
    words = TensorType(i64, [DIGIT_WORDS])
    dense = DenseIntOrFPElementsAttr.from_list(words, digits_of_two_over_pi())
    constant = memref.GlobalOp.get(StringAttr(DIGITS), digits_type, dense, constant=UnitAttr())
    block = Block(arg_types=[f64])
    builder = LoopBuilder(FunctionConstants(block))
    digits = builder.add(memref.GetGlobalOp(DIGITS, digits_type)).memref
    results = _reduce(Number(builder, block.args[0]), digits)
    builder.add(func.ReturnOp(*(result.value for result in results)))
    block.add_ops(builder.ops)
    function = func.FuncOp(REDUCTION, ([f64], [f64, i64]), Region(block), "private")
    return [constant, function]


def _reduce(x: Number, digits: SSAValue) -> tuple[Number, Number]:
    bits = x.as_integer()
    exponent = bits.shift_right_unsigned(52) & 0x7FF
    mantissa = (bits & (1 << 52) - 1) | 1 << 52
    # The value is mantissa * 2**(exponent - 1075). Digits of weight 2**(2 - e) and more drop out.
    position = exponent + (64 * LEADING_ZERO_WORDS - 1075 - 2)
    window = _window(position, digits)
    # The product modulo 2**192, without its lowest word: `high` counts right angles in its two
    # highest bits.
    _, carried = mantissa.times_wide(window[2])
    low, carried_high = mantissa.times_wide(window[1])
    middle = low + carried
    carry = middle.is_less_unsigned(low).choose(middle.constant(1), 0)
    high = mantissa * window[0] + carried_high + carry
    quadrant = (high + (1 << 61)) >> 62
    rest = _signed_fraction(high - (quadrant << 62), middle)
    is_negative = bits.is_less(0)
    return (
        is_negative.choose(-rest, rest),
        is_negative.choose(quadrant.constant(0) - quadrant, quadrant),
    )


def _window(position: Number, digits: SSAValue) -> list[Number]:
    """Three words of the digits from a bit position on."""
    builder = position.builder
    first = Index(position.shift_right_unsigned(6).to_index())
    words: list[Number] = []
    for number in range(4):
        index = builder.materialize(builder.add_index(first, Index(None, number)))
        load = create(memref.LoadOp, operands=[digits, index], result_types=[i64])
        words.append(Number(builder, builder.add(load).res))
    shift = position & 63
    back = 63 - shift
    return [
        (word << shift) | following.shift_right_unsigned(1).shift_right_unsigned(back)
        for word, following in pairwise(words)
    ]


def _signed_fraction(high: Number, low: Number) -> Number:
    """pi/2 times a fraction of two words, of which the first is signed and counts 2**-62."""
    is_negative = high.is_less(0)
    borrow = low.is_equal(0).choose(low.constant(0), 1)
    high = is_negative.choose(high.constant(0) - high - borrow, high)
    low = is_negative.choose(low.constant(0) - low, low)
    zeros = high.leading_zeros()
    # At most 63 zeros lead: no float is nearer to a multiple of pi/2 than that.
    moved = (high << zeros) | low.shift_right_unsigned(1).shift_right_unsigned(63 - zeros)
    rest = low << zeros
    scale = ((1023 + 1 - zeros) << 52).as_float()
    head = moved.shift_right_unsigned(11).to_float(f64) * (2.0**-52)
    tail_bits = ((moved & 0x7FF) << 42) | rest.shift_right_unsigned(22)
    tail = tail_bits.to_float(f64) * (2.0**-105)
    product = head * HALF_PI_HIGH
    error = head.times_plus(HALF_PI_HIGH, -product)
    error = error + head.times_plus(HALF_PI_LOW, tail * HALF_PI_HIGH)
    result = (product + error) * scale
    return is_negative.choose(-result, result)
