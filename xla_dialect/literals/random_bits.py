"""Random bits of counter generators.

Both generators are those of J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.
How a state becomes counters, and where the words of a block go, is as XLA CPU has it
(docs/generated/worked_examples.md#rng_bit_generator).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.literals.arrays import Array, DType, bit_width
from xla_dialect.shapes.size_arithmetic import ceil_div

WORD = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
BITS_64 = (1 << 64) - 1
BITS_128 = (1 << 128) - 1


def words(value: int) -> tuple[int, int]:
    """The low and the high 32 bits of a u64."""
    return value & 0xFFFFFFFF, value >> 32


def threefry(key: tuple[int, int], counter: Sequence[Array]) -> list[Array]:
    """ThreeFry-2x32 with 20 rounds: two arrays of 32-bit words, kept in u64."""
    keys = [np.uint64(k) for k in (*key, key[0] ^ key[1] ^ 0x1BD11BDA)]
    x = [(word + k) & WORD for word, k in zip(counter, keys, strict=False)]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x[0] = (x[0] + x[1]) & WORD
            left, right = np.uint64(rotation), np.uint64(32 - rotation)
            x[1] = (((x[1] << left) | (x[1] >> right)) & WORD) ^ x[0]
        x[0] = (x[0] + keys[(group + 1) % 3]) & WORD
        x[1] = (x[1] + keys[(group + 2) % 3] + np.uint64(group + 1)) & WORD
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
        c = [(p1 >> HALF) ^ c[1] ^ k0, p1 & WORD, (p0 >> HALF) ^ c[3] ^ k1, p0 & WORD]
    return c


def counted(start: int, count: int) -> list[Array]:
    """The four words (lowest first) of `start + i` mod 2^128 for i below count."""
    low = np.arange(count, dtype=np.uint64) + np.uint64(start & BITS_64)
    carried = low < np.uint64(start & BITS_64)
    high = np.uint64(start >> 64) + carried.astype(np.uint64)
    return [low & WORD, low >> HALF, high & WORD, high >> HALF]


def _narrowed(words_of_elements: Array, dtype: DType) -> Array:
    """Elements of up to 32 bits: the low bits of one word each."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    kept = words_of_elements & np.uint64((1 << bit_width(dtype)) - 1)
    return kept.astype(unsigned).view(dtype)


def _joined(low: Array, high: Array, dtype: DType) -> Array:
    """Elements of 64 bits from two words each."""
    return (low | (high << HALF)).view(dtype)


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
    `state[1] + 2^64 state[0] + i`. A fourth and more are not used. Its words follow each other in
    row-major order.
    """
    count = math.prod(sizes)
    wide = bit_width(dtype) == 64
    blocks = ceil_div(count * 2 if wide else count, 4)
    start = state[1] | (state[2] if len(state) > 2 else state[0]) << 64
    stream = np.stack(philox(words(state[0]), counted(start, blocks)), axis=-1).reshape(-1)
    if wide:
        elements = _joined(stream[0 : 2 * count : 2], stream[1 : 2 * count : 2], dtype)
    else:
        elements = _narrowed(stream[:count], dtype)
    return blocks, elements.reshape(sizes)


def blocks_of(count: int) -> int:
    """The blocks of Philox that hold `count` elements of 64 bits."""
    return ceil_div(2 * count, 4)


def advanced(state: Sequence[int], blocks: int) -> Array:
    """The state after so many blocks: its counter moved on, of the size it has."""
    if len(state) == 2:
        return np.array([state[0], (state[1] + blocks) & BITS_64], np.uint64)
    counter = ((state[1] | state[2] << 64) + blocks) & BITS_128
    return np.array([state[0], counter & BITS_64, counter >> 64, *state[3:]], np.uint64)


def random_bits(
    algorithm: RandomAlgorithm, state: Sequence[int], sizes: Sequence[int], dtype: DType
) -> tuple[Array, Array]:
    """The next state and the bits of `rng-bit-generator`."""
    generate = threefry_bits if algorithm == RandomAlgorithm.THREE_FRY else philox_bits
    blocks, bits = generate(state, sizes, dtype)
    return advanced(state, blocks), bits
