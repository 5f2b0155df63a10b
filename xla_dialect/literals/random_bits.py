"""Random bits of counter generators.

Both generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
How a state becomes counters, and where the words of a block go, is as XLA CPU has it
(docs/generated/worked_examples.md#rng_bit_generator).

They are written once, for arrays of numpy and for values of a program: `b` has the methods of
`XlaBuilder`, of which `NumpyWords` computes those that are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.literals.arrays import Array, DType, bit_width
from xla_dialect.shapes.size_arithmetic import ceil_div

BITS_64 = (1 << 64) - 1
BITS_128 = (1 << 128) - 1

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_WEYL = (0x9E3779B9, 0xBB67AE85)
_FACTORS = (0xD2511F53, 0xCD9E8D57)

Values: TypeAlias = Sequence[Any]


class NumpyWords:
    """Unsigned integers of numpy, with methods of `XlaBuilder`."""

    def iota(self, spelled: str, dimension: int) -> Array:
        """The numbers below that of the elements of `u64[N]`."""
        return np.arange(int(spelled.removeprefix("u64[")[:-1]), dtype=np.uint64)

    def convert_element_type(self, x: Array, name: str) -> Array:
        """The low bits, in whole bytes."""
        width = int(name[1:])
        kept = x.astype(np.uint64) & np.uint64((1 << width) - 1)
        return kept.astype(f"u{max(width // 8, 1)}")

    def shift_left(self, x: Array, bits: int) -> Array:
        return x << bits

    def shift_right_logical(self, x: Array, bits: int) -> Array:
        return x >> bits

    def concatenate(self, parts: Sequence[Array], dimension: int) -> Array:
        return np.concatenate(parts, dimension)

    def reshape(self, x: Array, sizes: Sequence[int]) -> Array:
        return np.reshape(x, sizes)

    def slice(self, x: Array, starts: Sequence[int], limits: Sequence[int]) -> Array:
        return x[tuple(map(slice, starts, limits))]


def generated(
    b: Any, algorithm: RandomAlgorithm, state: Values, sizes: Sequence[int], width: int
) -> tuple[Any, Any]:
    """
    The next state, and unsigned integers of this width, which a state of u64 gives.

    ThreeFry: block i has the counter `state[1] + i` mod 2^64. Elements of 64 bits are one block
    each. Otherwise the two words of a block go to neighbours along one dimension: the first of even
    size, else the largest; a scalar takes the first word.

    Philox: block i has the counter `state[1] + 2^64 state[2] + i` mod 2^128, without a third number
    `state[1] + 2^64 state[0] + i`. A fourth and more are not used. Its words follow each other in
    row-major order.
    """
    generate = _threefry_bits if algorithm == RandomAlgorithm.THREE_FRY else philox_bits
    blocks, bits = generate(b, state, sizes, width)
    return _advanced(b, state, blocks), bits


def random_bits(
    algorithm: RandomAlgorithm, state: Sequence[int], sizes: Sequence[int], dtype: DType
) -> tuple[Array, Array]:
    """The next state and the bits of `rng-bit-generator`."""
    numbers = [np.array(number, np.uint64) for number in state]
    sizes = [int(size) for size in sizes]
    with np.errstate(over="ignore"):
        following, bits = generated(NumpyWords(), algorithm, numbers, sizes, bit_width(dtype))
    return following, np.ascontiguousarray(bits).reshape(sizes).view(dtype)


def blocks_of(count: int) -> int:
    """The blocks of Philox that hold `count` elements of 64 bits."""
    return ceil_div(2 * count, 4)


def _advanced(b: Any, state: Values, blocks: int) -> Any:
    """The state with its counter moved on."""
    key, low, *rest = state
    moved = low + blocks
    counter = [moved, *(part + _carry(b, moved, low) for part in rest[:1]), *rest[1:]]
    return b.concatenate([b.reshape(part, [1]) for part in (key, *counter)], 0)


def _carry(b: Any, total: Any, term: Any) -> Any:
    """1 where a sum of u64 is less than a term of it, else 0."""
    return b.convert_element_type(total < term, "u64")


def _words(b: Any, number: Any) -> Values:
    """The low and the high 32 bits of u64."""
    high = b.shift_right_logical(number, 32)
    return b.convert_element_type(number, "u32"), b.convert_element_type(high, "u32")


def _joined(b: Any, low: Any, high: Any) -> Any:
    """The u64 of two words."""
    wide = b.convert_element_type(high, "u64")
    return b.convert_element_type(low, "u64") | b.shift_left(wide, 32)


def _threefry_bits(b: Any, state: Values, sizes: Sequence[int], width: int) -> tuple[int, Any]:
    """The number of blocks used, and unsigned integers of this width."""
    halves, split = list(sizes), 0
    if width < 64 and sizes:
        even = [d for d, size in enumerate(sizes) if size % 2 == 0]
        split = even[0] if even else max(range(len(sizes)), key=lambda d: sizes[d])
        halves[split] = ceil_div(sizes[split], 2)
    blocks = prod(halves)
    counter = b.iota(f"u64[{blocks}]", 0) + state[1]
    first, second = threefry(b, _words(b, state[0]), _words(b, counter))
    if width == 64:
        return blocks, b.reshape(_joined(b, first, second), sizes)
    if not sizes:
        return blocks, b.convert_element_type(b.reshape(first, []), f"u{width}")
    pair = (*halves[: split + 1], 1, *halves[split + 1 :])
    both = b.concatenate([b.reshape(word, pair) for word in (first, second)], split + 1)
    doubled = [*halves[:split], 2 * halves[split], *halves[split + 1 :]]
    whole = b.slice(b.reshape(both, doubled), [0] * len(sizes), sizes)
    return blocks, b.convert_element_type(whole, f"u{width}")


def threefry(b: Any, key: Values, counter: Values) -> Values:
    """ThreeFry-2x32 with 20 rounds; a part of the key is injected after every fourth."""
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


def philox_bits(b: Any, state: Values, sizes: Sequence[int], width: int) -> tuple[int, Any]:
    """The number of blocks used, and unsigned integers of this width."""
    count = prod(sizes)
    blocks = blocks_of(count) if width == 64 else ceil_div(count, 4)
    low = b.iota(f"u64[{blocks}]", 0) + state[1]
    high = _carry(b, low, state[1]) + (state[2] if len(state) > 2 else state[0])
    words = philox(b, _words(b, state[0]), (*_words(b, low), *_words(b, high)))
    if width == 64:
        words = [_joined(b, words[i], words[i + 1]) for i in (0, 2)]
    columns = b.concatenate([b.reshape(word, [blocks, 1]) for word in words], 1)
    stream = b.slice(b.reshape(columns, [blocks * len(words)]), [0], [count])
    return blocks, b.convert_element_type(b.reshape(stream, sizes), f"u{width}")


def philox(b: Any, key: Values, counter: Values) -> Values:
    """Philox-4x32 with 10 rounds; the key is incremented after each."""
    words = list(counter)
    for step in range(10):
        keys = [part + (step * weyl & 0xFFFFFFFF) for part, weyl in zip(key, _WEYL, strict=True)]
        (low0, high0), (low1, high1) = (
            _words(b, b.convert_element_type(word, "u64") * factor)
            for word, factor in zip(words[::2], _FACTORS, strict=True)
        )
        words = [high1 ^ words[1] ^ keys[0], low1, high0 ^ words[3] ^ keys[1], low0]
    return words
