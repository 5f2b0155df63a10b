"""
Random bits: the counter generators ThreeFry-2x32 and Philox-4x32. Rounding by chance: to the
element type of the result, up or down by random bits.

How a state becomes counters, and where words of a block go, is as in
`xla_dialect.literals.random_bits`, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import ml_dtypes

from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.random import RngBitGeneratorOp, StochasticConvertOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.types import BY_TYPE, Array, ElementClass, ElementType

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_WEYL = (0x9E3779B9, 0xBB67AE85)
_FACTORS = (0xD2511F53, 0xCD9E8D57)

Values = Sequence[XlaValue]


def random_bits(b: XlaBuilder, op: RngBitGeneratorOp, state: XlaValue) -> Values:
    """The next state and the bits."""
    result = cast(Array, op.outputs[1].type)
    sizes, width = result.get_shape(), BY_TYPE[result.element_type].bits
    (length,) = cast(Array, op.initial_state.type).get_shape()
    numbers = [b.reshape(b.slice(state, [i], [i + 1]), []) for i in range(length)]
    generate = _threefry if op.algorithm.data == RandomAlgorithm.THREE_FRY else philox
    blocks, bits = generate(b, numbers, sizes, width)
    return _advanced(b, numbers, blocks), b.bitcast_convert_type(bits, result.element_type)


def _advanced(b: XlaBuilder, state: Values, blocks: int) -> XlaValue:
    """The state with its counter moved on."""
    key, low, *rest = state
    moved = low + blocks
    counter = [moved, *(part + _carry(b, moved, low) for part in rest[:1]), *rest[1:]]
    return b.concatenate([b.reshape(part, [1]) for part in (key, *counter)], 0)


def _carry(b: XlaBuilder, total: XlaValue, term: XlaValue) -> XlaValue:
    """1 where a sum of u64 is less than a term of it, else 0."""
    return b.convert_element_type(total < term, "u64")


def _words(b: XlaBuilder, number: XlaValue) -> tuple[XlaValue, XlaValue]:
    """The low and the high 32 bits of u64."""
    high = b.shift_right_logical(number, 32)
    return b.convert_element_type(number, "u32"), b.convert_element_type(high, "u32")


def _joined(b: XlaBuilder, low: XlaValue, high: XlaValue) -> XlaValue:
    """The u64 of two words."""
    wide = b.convert_element_type(high, "u64")
    return b.convert_element_type(low, "u64") | b.shift_left(wide, 32)


def _threefry(
    b: XlaBuilder, state: Values, sizes: Sequence[int], width: int
) -> tuple[int, XlaValue]:
    """The number of blocks used, and unsigned integers of this width."""
    halves, split = list(sizes), 0
    if width < 64 and sizes:
        even = [d for d, size in enumerate(sizes) if size % 2 == 0]
        split = even[0] if even else max(range(len(sizes)), key=lambda d: sizes[d])
        halves[split] = ceil_div(sizes[split], 2)
    blocks = prod(halves)
    counter = b.iota(f"u64[{blocks}]", 0) + state[1]
    first, second = _threefry_words(b, _words(b, state[0]), _words(b, counter))
    if width == 64:
        return blocks, b.reshape(_joined(b, first, second), sizes)
    if not sizes:
        return blocks, b.convert_element_type(b.reshape(first, []), f"u{width}")
    pair = (*halves[: split + 1], 1, *halves[split + 1 :])
    both = b.concatenate([b.reshape(word, pair) for word in (first, second)], split + 1)
    doubled = [*halves[:split], 2 * halves[split], *halves[split + 1 :]]
    whole = b.slice(b.reshape(both, doubled), [0] * len(sizes), sizes)
    return blocks, b.convert_element_type(whole, f"u{width}")


def _threefry_words(b: XlaBuilder, key: Values, counter: Values) -> Values:
    """20 rounds; a part of the key is injected after every fourth."""
    keys = [*key, key[0] ^ key[1] ^ _PARITY]
    first, second = (word + part for word, part in zip(counter, key, strict=True))
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            first = first + second
            left = b.shift_left(second, rotation)
            second = (left | b.shift_right_logical(second, 32 - rotation)) ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + (group + 1)
    return first, second


def philox(b: XlaBuilder, state: Values, sizes: Sequence[int], width: int) -> tuple[int, XlaValue]:
    """The number of blocks used, and unsigned integers of this width."""
    count = prod(sizes)
    blocks = ceil_div(2 * count if width == 64 else count, 4)
    low = b.iota(f"u64[{blocks}]", 0) + state[1]
    high = _carry(b, low, state[1]) + (state[2] if len(state) > 2 else state[0])
    words = _philox_words(b, _words(b, state[0]), (*_words(b, low), *_words(b, high)))
    if width == 64:
        words = [_joined(b, words[i], words[i + 1]) for i in (0, 2)]
    columns = b.concatenate([b.reshape(word, [blocks, 1]) for word in words], 1)
    stream = b.slice(b.reshape(columns, [blocks * len(words)]), [0], [count])
    return blocks, b.convert_element_type(b.reshape(stream, sizes), f"u{width}")


def _philox_words(b: XlaBuilder, key: Values, counter: Values) -> Values:
    """10 rounds; the key is incremented after each."""
    words = list(counter)
    for step in range(10):
        keys = [part + (step * weyl & 0xFFFFFFFF) for part, weyl in zip(key, _WEYL, strict=True)]
        (low0, high0), (low1, high1) = (
            _words(b, b.convert_element_type(word, "u64") * factor)
            for word, factor in zip(words[::2], _FACTORS, strict=True)
        )
        words = [high1 ^ words[1] ^ keys[0], low1, high0 ^ words[3] ^ keys[1], low0]
    return words


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
