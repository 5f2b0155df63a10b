"""What the random number generators compute.

Both counter generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
3", 2011. How a state becomes counters, and where the words of a block go, is as XLA CPU has it
(docs/generated/worked_examples.md#rng_bit_generator).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect import types
from xla_dialect.attributes import RandomAlgorithm, RandomDistribution
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.literal import Array, DType, bit_width, numpy_dtype
from xla_dialect.ops import random as ops
from xla_dialect.reference.conversion import convert
from xla_dialect.reference.rounding import rounded
from xla_dialect.reference.tuples import as_results
from xla_dialect.shapes import ceil_div

_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_BITS_64 = (1 << 64) - 1
_BITS_128 = (1 << 128) - 1


def words(value: int) -> tuple[int, int]:
    """The low and the high 32 bits of a u64."""
    return value & 0xFFFFFFFF, value >> 32


def threefry(key: tuple[int, int], counter: Sequence[Array]) -> list[Array]:
    """ThreeFry-2x32 with 20 rounds: two arrays of 32-bit words, kept in u64."""
    keys = [np.uint64(k) for k in (*key, key[0] ^ key[1] ^ 0x1BD11BDA)]
    x = [(word + k) & _WORD for word, k in zip(counter, keys, strict=False)]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x[0] = (x[0] + x[1]) & _WORD
            left, right = np.uint64(rotation), np.uint64(32 - rotation)
            x[1] = (((x[1] << left) | (x[1] >> right)) & _WORD) ^ x[0]
        x[0] = (x[0] + keys[(group + 1) % 3]) & _WORD
        x[1] = (x[1] + keys[(group + 2) % 3] + np.uint64(group + 1)) & _WORD
    return x


def philox(key: tuple[int, int], counter: Sequence[Array]) -> list[Array]:
    """Philox-4x32 with 10 rounds: four arrays of 32-bit words, kept in u64."""
    c = list(counter)
    for step in range(10):
        k0, k1 = (
            np.uint64((k + step * weyl) & 0xFFFFFFFF)
            for k, weyl in zip(key, (0x9E3779B9, 0xBB67AE85), strict=True)
        )
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> _HALF) ^ c[1] ^ k0, p1 & _WORD, (p0 >> _HALF) ^ c[3] ^ k1, p0 & _WORD]
    return c


def counted(start: int, count: int) -> list[Array]:
    """The four words (lowest first) of `start + i` mod 2^128 for i below count."""
    low = np.arange(count, dtype=np.uint64) + np.uint64(start & _BITS_64)
    carried = low < np.uint64(start & _BITS_64)
    high = np.uint64(start >> 64) + carried.astype(np.uint64)
    return [low & _WORD, low >> _HALF, high & _WORD, high >> _HALF]


def _narrowed(words_of_elements: Array, dtype: DType) -> Array:
    """Elements of up to 32 bits: the low bits of one word each."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return words_of_elements.astype(unsigned).view(dtype)


def _joined(low: Array, high: Array, dtype: DType) -> Array:
    """Elements of 64 bits from two words each."""
    return (low | (high << _HALF)).view(dtype)


def threefry_bits(state: Sequence[int], sizes: Sequence[int], dtype: DType) -> tuple[int, Array]:
    """
    The number of blocks used, and the bits that ThreeFry gives for a state.

    Block i has the counter `state[1] + i` mod 2^64. Elements of 64 bits are one block each.
    Otherwise the two words of a block go to neighbours along one dimension: the first of even size,
    else the largest; a scalar takes the first word.
    """
    count = math.prod(sizes)
    halves = list(sizes)
    split = 0
    if bit_width(dtype) < 64 and sizes:
        even = [d for d, size in enumerate(sizes) if size % 2 == 0]
        split = even[0] if even else max(range(len(sizes)), key=lambda d: sizes[d])
        halves[split] = ceil_div(sizes[split], 2)
        blocks = math.prod(halves)
    else:
        blocks = count
    low, high, _, _ = counted(state[1], blocks)
    x = threefry(words(state[0]), (low, high))
    if bit_width(dtype) == 64:
        return blocks, _joined(x[0], x[1], dtype).reshape(sizes)
    if not sizes:
        return blocks, _narrowed(x[0], dtype).reshape(())
    pairs = np.stack([word.reshape(halves) for word in x], axis=split + 1)
    halves[split] *= 2
    whole = pairs.reshape(halves)[(slice(None),) * split + (slice(sizes[split]),)]
    return blocks, _narrowed(np.ascontiguousarray(whole), dtype)


def philox_bits(state: Sequence[int], sizes: Sequence[int], dtype: DType) -> tuple[int, Array]:
    """
    The number of blocks used, and the bits that Philox gives for a state.

    Block i has the counter `state[1] + 2^64 state[2] + i` mod 2^128, without a third number
    `state[1] + 2^64 state[0] + i`. Its words follow each other in row-major order.
    """
    count = math.prod(sizes)
    wide = bit_width(dtype) == 64
    blocks = ceil_div(count * 2 if wide else count, 4)
    start = state[1] | (state[2] if len(state) == 3 else state[0]) << 64
    stream = np.stack(philox(words(state[0]), counted(start, blocks)), axis=-1).reshape(-1)
    if wide:
        elements = _joined(stream[0 : 2 * count : 2], stream[1 : 2 * count : 2], dtype)
    else:
        elements = _narrowed(stream[:count], dtype)
    return blocks, elements.reshape(sizes)


def require_deviation(deviation: float) -> None:
    """Raises XlaError for a negative standard deviation."""
    if deviation < 0:
        raise XlaError(f"the standard deviation is {deviation}")


def blocks_of(count: int) -> int:
    """The blocks of Philox that hold `count` elements of 64 bits."""
    return ceil_div(2 * count, 4)


def advanced(state: Sequence[int], blocks: int) -> Array:
    """The state after so many blocks: its counter moved on, of the size it has."""
    if len(state) == 2:
        return np.array([state[0], (state[1] + blocks) & _BITS_64], np.uint64)
    counter = ((state[1] | state[2] << 64) + blocks) & _BITS_128
    return np.array([state[0], counter & _BITS_64, counter >> 64], np.uint64)


def random_bits(
    algorithm: RandomAlgorithm, state: Sequence[int], sizes: Sequence[int], dtype: DType
) -> tuple[Array, Array]:
    """The next state and the bits of `rng-bit-generator`."""
    generate = threefry_bits if algorithm == RandomAlgorithm.THREE_FRY else philox_bits
    blocks, bits = generate(state, sizes, dtype)
    return advanced(state, blocks), bits


FIRST_STATE = 0x7012395
"""Where the global generator of `rng-get-and-update-state` begins, as on XLA CPU."""


@register_impls
@dataclass
class RandomFunctions(InterpreterFunctions):
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
        state = (self.seed & _BITS_64, self.drawn & _BITS_64, self.drawn >> 64)
        self.drawn = (self.drawn + blocks) & _BITS_128
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
        return philox_bits(state, sizes, np.dtype(np.uint64))[1]

    def uniform(self, sizes: Sequence[int]) -> Array:
        """Independent f64, uniform on the multiples of 2^-53 in [0, 1)."""
        return (self.bits(sizes) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, sizes: Sequence[int]) -> Array:
        """Independent f64 with mean 0 and deviation 1, by the method of Box and Muller."""
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform(sizes)))
        return radius * np.cos(2 * np.pi * self.uniform(sizes))

    @impl(ops.RngOp)
    def run_rng(self, interpreter: Interpreter, op: ops.RngOp, args: PythonValues) -> PythonValues:
        """Numbers of the distribution."""
        type_ = cast("types.Array", op.result.type)
        sizes, dtype = types.sizes_of(type_), numpy_dtype(type_.element_type)
        if op.distribution.data == RandomDistribution.NORMAL:
            mean, deviation = (float(arg) for arg in args)
            require_deviation(deviation)
            return (rounded(mean + deviation * self.normal(sizes), dtype),)
        if types.element_class(type_.element_type) == types.ElementClass.FLOAT:
            return (self._uniform_floats(float(args[0]), float(args[1]), sizes, dtype),)
        return (self._uniform_integers(int(args[0]), int(args[1]), sizes, dtype),)

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
        return convert(_high_product(self.bits(sizes), b - a) + np.uint64(a & _BITS_64), dtype)

    @impl(ops.RngBitGeneratorOp)
    def run_rng_bit_generator(
        self, interpreter: Interpreter, op: ops.RngBitGeneratorOp, args: PythonValues
    ) -> PythonValues:
        """The next state and the bits."""
        bits = cast("types.Array", types.flatten(op.result_types)[1])
        state = [int(number) for number in args[0]]
        sizes, dtype = types.sizes_of(bits), numpy_dtype(bits.element_type)
        return as_results(op, random_bits(op.algorithm.data, state, sizes, dtype))

    @impl(ops.RngGetAndUpdateStateOp)
    def run_rng_get_and_update_state(
        self, interpreter: Interpreter, op: ops.RngGetAndUpdateStateOp, args: PythonValues
    ) -> PythonValues:
        """The state before it moves on."""
        return (self.move_on(op.delta.value.data),)

    def move_on(self, delta: int) -> Array:
        """The state of the global generator before it moves on by `delta`."""
        state = self.global_state
        self.global_state = (state + delta) & _BITS_128
        return np.array([state & _BITS_64, state >> 64], np.uint64)


def _high_product(x: Array, factor: int) -> Array:
    """The high 64 bits of u64 times a factor up to 2^64, by 32-bit halves."""
    if factor == 1 << 64:
        return x
    low, high = (np.uint64(half) for half in words(factor))
    x_low, x_high = x & _WORD, x >> _HALF
    middle = x_high * low + ((x_low * low) >> _HALF)
    carry = (middle & _WORD) + x_low * high
    return x_high * high + (middle >> _HALF) + (carry >> _HALF)
