"""
What programs compute of what calls of the process give: folds of collectives, random numbers.

The numbers are as `xla_dialect.reference.random` has them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Region

from xla_dialect.attributes import RandomDistribution
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.builder.recorder import XlaComputation
from xla_dialect.literals.random_bits import blocks_of, philox_bits
from xla_dialect.ops.random import RngOp
from xla_dialect.types import BY_TYPE, Array, ElementClass

UNROLLED = 8
"""So many members, at most, are folded in one pass over their arrays."""


def fold(
    b: XlaBuilder, computation: Region, is_full: bool, *brought: XlaValue
) -> Sequence[XlaValue]:
    """
    The left fold over the members, every array by itself.

    `brought`: arrays with a place for each member along dimension 0, and the number of members.
    The result is place 0 where that is at most 1. `is_full`: whether all places are always taken.
    """
    *stacks, count = brought
    reducer = XlaComputation("to_apply", computation.clone(), True, ())
    places = stacks[0].shape[0] if stacks else 0
    if places <= UNROLLED:
        known = None if is_full else count
        return [_folded_at_once(b, stack, known, reducer) for stack in stacks]
    return _folded_in_a_loop(b, stacks, count, reducer)


def _folded_at_once(
    b: XlaBuilder, stack: XlaValue, count: XlaValue | None, reducer: XlaComputation
) -> XlaValue:
    places, *sizes = stack.shape
    zeros = [0] * len(sizes)
    rows = [
        b.reshape(b.slice(stack, [number, *zeros], [number + 1, *sizes]), sizes)
        for number in range(places)
    ]
    total = rows[0]
    for number, row in enumerate(rows[1:], 1):
        combined = b.map([total, row], reducer)
        total = combined if count is None else b.select(count > number, combined, total)
    return total


def _folded_in_a_loop(
    b: XlaBuilder, stacks: Sequence[XlaValue], count: XlaValue, reducer: XlaComputation
) -> Sequence[XlaValue]:
    def place(stack: XlaValue, number: Any) -> XlaValue:
        sizes = stack.shape[1:]
        starts = [number, *[b.constant(0, "s32")] * len(sizes)]
        return b.reshape(b.dynamic_slice(stack, starts, [1, *sizes]), sizes)

    def combined(number: XlaValue, *totals: XlaValue) -> Sequence[XlaValue]:
        parts = [place(stack, number) for stack in stacks]
        pairs = zip(totals, parts, strict=True)
        return (number + 1, *(b.map(list(pair), reducer) for pair in pairs))

    first = [place(stack, b.constant(0, "s32")) for stack in stacks]
    start = [b.constant(1, "s32"), *first]

    def goes_on(number: XlaValue, *totals: XlaValue) -> XlaValue:
        return number < count

    return b.while_(goes_on, combined, start)[1:]


def numbers(
    b: XlaBuilder, op: RngOp, state: XlaValue, a: XlaValue, x: XlaValue
) -> Sequence[XlaValue]:
    """Numbers of the distribution with the parameters `a` and `x`."""
    type_ = cast(Array, op.result.type)
    sizes = type_.get_shape()
    words = [b.reshape(b.slice(state, [i], [i + 1]), []) for i in range(3)]
    if op.distribution.data == RandomDistribution.NORMAL:
        return [_normal(b, words, a, x, sizes)]
    is_float = BY_TYPE[type_.element_type].element_class == ElementClass.FLOAT
    found = (_uniform if is_float else _uniform_integers)(b, words, a, x, sizes)
    return [b.select(b.broadcast(a < x, sizes), found, b.broadcast(a, sizes))]


def _bits(b: XlaBuilder, state: Sequence[XlaValue], sizes: Sequence[int]) -> XlaValue:
    return philox_bits(b, state, sizes, 64)[1]


def _unit(b: XlaBuilder, bits: XlaValue) -> XlaValue:
    """f64, uniform on the multiples of 2^-53 in [0, 1)."""
    return b.convert_element_type(b.shift_right_logical(bits, 11), "f64") * 2.0**-53


def _uniform(
    b: XlaBuilder, state: Sequence[XlaValue], a: XlaValue, x: XlaValue, sizes: Sequence[int]
) -> XlaValue:
    """Floats of [a, x): what rounds up to x is a."""
    low, high = (b.convert_element_type(value, "f64") for value in (a, x))
    unit = _unit(b, _bits(b, state, sizes))
    width = b.broadcast(high - low, sizes)
    found = b.convert_element_type(b.broadcast(low, sizes) + width * unit, a.element_type)
    inside = b.convert_element_type(found, "f64") < b.broadcast(high, sizes)
    return b.select(inside, found, b.broadcast(a, sizes))


def _uniform_integers(
    b: XlaBuilder, state: Sequence[XlaValue], a: XlaValue, x: XlaValue, sizes: Sequence[int]
) -> XlaValue:
    """Integers of [a, x): a plus the high half of random 64 bits times x - a."""
    low, high = (b.convert_element_type(value, "u64") for value in (a, x))
    product = b.mulhi(_bits(b, state, sizes), b.broadcast(high - low, sizes))
    return b.convert_element_type(product + b.broadcast(low, sizes), a.element_type)


def _normal(
    b: XlaBuilder, state: Sequence[XlaValue], mean: XlaValue, x: XlaValue, sizes: Sequence[int]
) -> XlaValue:
    """By the method of Box and Muller, from two uniform numbers each."""
    count, length = math.prod(sizes), 2 * blocks_of(math.prod(sizes))
    bits = _bits(b, state, [2, length])
    first, second = (
        _unit(b, b.reshape(b.slice(bits, [row, 0], [row + 1, count]), sizes)) for row in (0, 1)
    )
    radius = b.sqrt(b.log1p(-first) * -2.0)
    normal = radius * b.cos(second * (2 * math.pi))
    center, deviation = (
        b.broadcast(b.convert_element_type(value, "f64"), sizes) for value in (mean, x)
    )
    return b.convert_element_type(center + deviation * normal, mean.element_type)
