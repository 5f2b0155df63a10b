"""What the random number generators compute.

Both counter generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
3", 2011. How a state becomes counters, and where the words of a block go, is as XLA CPU has it
(docs/generated/worked_examples.md#rng_bit_generator).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.interpreter import register_impls

from xla_dialect import types
from xla_dialect.attributes import RandomAlgorithm, RandomDistribution
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, DType, numpy_dtype
from xla_dialect.literals.random_bits import (
    BITS_64,
    BITS_128,
    blocks_of,
    random_bits,
)
from xla_dialect.ops import random as ops
from xla_dialect.reference.conversion import convert
from xla_dialect.reference.elementwise import unsigned_high_product
from xla_dialect.reference.registration import ArrayFunctions, computes
from xla_dialect.reference.rounding import rounded


def require_deviation(deviation: float) -> None:
    """Raises XlaError for a negative standard deviation."""
    if deviation < 0:
        raise XlaError(f"the standard deviation is {deviation}")


FIRST_STATE = 0x7012395
"""Where the global generator of `rng-get-and-update-state` begins, as on XLA CPU."""


@register_impls
@dataclass
class RandomFunctions(ArrayFunctions):
    """
    Random numbers: a function of their state, or of what was drawn before.

    `rng` draws from one Philox stream per run, so equal seeds give equal results.
    """

    seed: int = 0
    """The key of the stream that `rng` draws from."""
    drawn: int = field(default=0, init=False)
    """The blocks of that stream that have been used."""
    global_state: int = field(default=FIRST_STATE, init=False)

    def draw(self, blocks: int) -> tuple[int, int, int]:
        """The state, as of Philox, at which the next blocks of the stream begin; they are used."""
        state = (self.seed & BITS_64, self.drawn & BITS_64, self.drawn >> 64)
        self.drawn = (self.drawn + blocks) & BITS_128
        return state

    def draw_for(self, op: ops.RngOp, a: Array, b: Array, count: int) -> Array:
        """
        The state, as of Philox, at which `count` numbers of the operation begin; they are used.

        An empty interval uses none. Raises XlaError for a negative deviation.
        """
        if op.distribution.data == RandomDistribution.NORMAL:
            require_deviation(b.item())
            return np.array(self.draw(2 * blocks_of(count)), np.uint64)
        return np.array(self.draw(blocks_of(count) if b.item() > a.item() else 0), np.uint64)

    def bits(self, sizes: Sequence[int]) -> Array:
        """Independent u64."""
        state = self.draw(blocks_of(math.prod(sizes)))
        return random_bits(RandomAlgorithm.PHILOX, state, sizes, np.dtype(np.uint64))[1]

    def uniform(self, sizes: Sequence[int]) -> Array:
        """Independent f64, uniform on the multiples of 2^-53 in [0, 1)."""
        return (self.bits(sizes) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, sizes: Sequence[int]) -> Array:
        """Independent f64 with mean 0 and deviation 1, by the method of Box and Muller."""
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform(sizes)))
        return radius * np.cos(2 * np.pi * self.uniform(sizes))

    @computes(ops.RngOp)
    def rng(
        self,
        a: Array,
        b: Array,
        _more: Sequence[Array],
        *,
        distribution: RandomDistribution,
        op: ops.RngOp,
    ) -> Array:
        """Numbers of the distribution."""
        type_ = cast("types.Array", op.result.type)
        sizes, dtype = types.sizes_of(type_), numpy_dtype(type_.element_type)
        if distribution == RandomDistribution.NORMAL:
            require_deviation(float(b))
            return rounded(float(a) + float(b) * self.normal(sizes), dtype)
        if types.element_class(type_.element_type) == types.ElementClass.FLOAT:
            return self._uniform_floats(float(a), float(b), sizes, dtype)
        return self._uniform_integers(int(a), int(b), sizes, dtype)

    def _uniform_floats(self, a: float, b: float, sizes: Sequence[int], dtype: DType) -> Array:
        """Floats of [a, b): what rounds up to b is a."""
        if not b > a:
            return np.full(sizes, a).astype(dtype)
        found = rounded(a + (b - a) * self.uniform(sizes), dtype)
        return np.where(found.astype(np.float64) < b, found, np.full((), a).astype(dtype))

    def _uniform_integers(self, a: int, b: int, sizes: Sequence[int], dtype: DType) -> Array:
        """Integers of [a, b): a plus the high half of random 64 bits times b - a."""
        if b <= a:
            return convert(np.full(sizes, a, np.int64 if a < 0 else np.uint64), dtype)
        found = self.bits(sizes)
        if b - a < 1 << 64:
            found = unsigned_high_product(found, np.uint64(b - a))
        return convert(found + np.uint64(a & BITS_64), dtype)

    @computes(ops.RngBitGeneratorOp)
    def rng_bit_generator(
        self, initial_state: Array, *, algorithm: RandomAlgorithm, op: ops.RngBitGeneratorOp
    ) -> tuple[Array, ...]:
        """The next state and the bits."""
        if fault := op.fault():
            raise XlaError(fault)
        bits = cast("types.Array", types.flatten(op.result_types)[1])
        state = [int(number) for number in initial_state]
        sizes, dtype = types.sizes_of(bits), numpy_dtype(bits.element_type)
        return random_bits(algorithm, state, sizes, dtype)

    @computes(ops.RngGetAndUpdateStateOp)
    def rng_get_and_update_state(self, *, delta: int) -> Array:
        """The state before it moves on."""
        return self.move_on(delta)

    def move_on(self, delta: int) -> Array:
        """The state of the global generator before it moves on by `delta`."""
        state = self.global_state
        self.global_state = (state + delta) & BITS_128
        return np.array([state & BITS_64, state >> 64], np.uint64)

    @computes(ops.StochasticConvertOp)
    def stochastic_convert(
        self, operand: Array, random: Array, *, op: ops.StochasticConvertOp
    ) -> Array:
        """The operand, rounded by chance."""
        element_type = cast("types.Array", op.result.type).element_type
        return _converted_by_chance(operand, random, types.BY_TYPE[element_type])


def _converted_by_chance(x: Array, random: Array, element: types.ElementType) -> Array:
    """Floats rounded to an element type, away from zero where `random` is small enough."""
    dtype = numpy_dtype(element.type)
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
    is_finite = np.isfinite(wide)
    magnitude = np.abs(np.where(is_finite, wide, 0))
    is_float = element.element_class == types.ElementClass.FLOAT
    # The distance between neighbours of the result, as an exponent of 2.
    spacing = np.zeros(wide.shape, np.int64)
    if is_float:
        limits = cast("Any", ml_dtypes.finfo(dtype))
        spacing = np.maximum(np.frexp(magnitude)[1] - 1, limits.minexp) - limits.nmant
    scaled = np.ldexp(magnitude, -spacing)
    down = np.floor(scaled)
    chance = np.ldexp(scaled - down, 8 * random.itemsize).astype(np.uint64)
    up = random.astype(np.uint64) < chance
    if is_float:
        rounded_away = np.copysign(np.ldexp(down + up, spacing), wide)
        return convert(np.where(is_finite, rounded_away, wide), dtype)
    low, high = element.integers[0], element.integers[-1]
    inside = (wide > low) & (wide < float(high))
    number = np.where(inside, down, 0).astype(np.uint64) + (up & inside)
    number = np.where(wide < 0, -number, number)
    number = np.where(wide >= float(high), np.uint64(high), number)
    number = np.where(wide <= low, np.uint64(low & BITS_64), number)
    return convert(number, dtype)
