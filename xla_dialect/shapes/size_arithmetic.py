"""Pure arithmetic on the dimension sizes of arrays (sizes as tuples, dimension 0 first)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

Sizes = tuple[int, ...]


def ceil_div(a: int, b: int) -> int:
    """`⌈a / b⌉` for a >= 0, b > 0."""
    return -(-a // b)


def without(values: Sequence[int], positions: Iterable[int]) -> Sizes:
    """The values whose position is not among `positions`, in order."""
    dropped = set(positions)
    return tuple(value for i, value in enumerate(values) if i not in dropped)


def are_dimensions(numbers: Sequence[int], rank: int) -> bool:
    """Whether all numbers name a dimension of an array of that rank, none twice."""
    return all(0 <= n < rank for n in numbers) and len(set(numbers)) == len(numbers)


def is_ascending(numbers: Sequence[int]) -> bool:
    """Whether every number is greater than the one before."""
    return all(a < b for a, b in pairwise(numbers))


def permuted(sizes: Sequence[int], permutation: Sequence[int]) -> Sizes:
    """Sizes of a transpose: `result[i] = sizes[permutation[i]]`."""
    return tuple(sizes[p] for p in permutation)


def sliced(start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Sizes:
    """Sizes of a slice: `⌈(limit - start) / stride⌉` per dimension."""
    return tuple(ceil_div(e - b, s) for b, e, s in zip(start, limit, strides, strict=True))


def padded(
    sizes: Sequence[int], low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> Sizes:
    """Sizes of a pad: `low + d + max(d - 1, 0) * interior + high` per dimension."""
    return tuple(
        lo + d + max(d - 1, 0) * i + hi
        for d, lo, hi, i in zip(sizes, low, high, interior, strict=True)
    )


def dilated(size: int, dilation: int) -> int:
    """The size with `dilation - 1` holes between neighbours: `(size - 1) * dilation + 1`, or 0."""
    return (size - 1) * dilation + 1 if size else 0


def contracted(
    lhs: Sequence[int],
    rhs: Sequence[int],
    lhs_batch: Sequence[int],
    lhs_contracting: Sequence[int],
    rhs_batch: Sequence[int],
    rhs_contracting: Sequence[int],
) -> Sizes:
    """Sizes of a dot: batch dimensions, free dimensions of lhs, free dimensions of rhs."""
    batch = tuple(lhs[d] for d in lhs_batch)
    lhs_free = without(lhs, (*lhs_batch, *lhs_contracting))
    rhs_free = without(rhs, (*rhs_batch, *rhs_contracting))
    return batch + lhs_free + rhs_free


def rejoined(
    sizes: Sequence[int], split: int, concat: int, count: int
) -> tuple[Sizes, tuple[int, ...], Sizes]:
    """
    How `count` blocks that follow each other along `split` come to do so along `concat`.

    Sizes with a dimension for the blocks in front of `split`; the order of these dimensions that
    puts it in front of `concat`; the sizes of the result, where it is merged.
    """
    apart = (*sizes[:split], count, sizes[split] // count, *sizes[split + 1 :])
    order = [d for d in range(len(apart)) if d != split]
    order.insert(order.index(concat + (concat > split)), split)
    joined = list(sizes)
    joined[split] = sizes[split] // count
    joined[concat] = sizes[concat] * count
    return apart, tuple(order), tuple(joined)


def with_index_vector(sizes: Sequence[int], index_vector_dim: int) -> Sizes:
    """Sizes of start indices, with the implied trailing 1 if `index_vector_dim` is the rank."""
    return (*sizes, 1) if index_vector_dim == len(sizes) else tuple(sizes)


def gathered(
    start_indices: Sequence[int],
    index_vector_dim: int,
    slice_sizes: Sequence[int],
    dropped_slice_dims: Sequence[int],
    offset_dims: Sequence[int],
) -> Sizes:
    """
    Sizes of a gather.

    `start_indices` with its index vector dimension; `dropped_slice_dims` are the collapsed and
    the operand batching dimensions. Offset dimensions stand where `offset_dims` says, the batch
    dimensions fill the rest.
    """
    batch = iter(without(start_indices, (index_vector_dim,)))
    window = iter(without(slice_sizes, dropped_slice_dims))
    rank = len(start_indices) - 1 + len(offset_dims)
    offsets = set(offset_dims)
    return tuple(next(window) if i in offsets else next(batch) for i in range(rank))


def reassociation(wide: Sequence[int], narrow: Sequence[int]) -> list[list[int]] | None:
    """
    The groups of dimensions of `wide` whose products are the sizes of `narrow`, in order.

    None where there are none. Both have as many elements, more than 0; sizes of 1 go to the group
    on their left, at the start to the first.
    """
    groups: list[list[int]] = []
    position = 0
    for size in narrow:
        group: list[int] = []
        product = 1
        while position < len(wide) and (product < size or not group):
            product *= wide[position]
            group.append(position)
            position += 1
        if product != size or not group:
            return None
        groups.append(group)
    rest = range(position, len(wide))
    if any(wide[d] != 1 for d in rest):
        return None
    if rest and groups:
        groups[-1].extend(rest)
    return groups


def reshape_groups(
    before: Sequence[int], after: Sequence[int]
) -> list[tuple[list[int], list[int]]]:
    """
    The finest groups of consecutive dimensions of `before` and of `after` with equal products.

    Both have as many elements; a group may have no dimension on one side, where it has one element.
    Without elements there is one group.
    """
    if 0 in before:
        return [(list(range(len(before))), list(range(len(after))))]
    groups: list[tuple[list[int], list[int]]] = []
    i, j = 0, 0
    while i < len(before) or j < len(after):
        mine, theirs = [i][: len(before) - i], [j][: len(after) - j]
        left = math.prod(before[d] for d in mine)
        right = math.prod(after[d] for d in theirs)
        i, j = i + len(mine), j + len(theirs)
        while left != right:
            if left < right:
                left *= before[i]
                mine.append(i)
                i += 1
            else:
                right *= after[j]
                theirs.append(j)
                j += 1
        groups.append((mine, theirs))
    return groups


def common_collapse(before: Sequence[int], after: Sequence[int]) -> Sizes:
    """The products of the groups of `reshape_groups`, without those that are 1."""
    sizes: list[int] = []
    left, right = iter(before), iter(after)
    total = math.prod(before)
    taken = 1
    while taken < total:
        a, b = next(left), next(right)
        while a != b:
            if a < b:
                a *= next(left)
            else:
                b *= next(right)
        if a != 1:
            sizes.append(a)
        taken *= a
    return tuple(sizes)


def refined(before: Sequence[int], after: Sequence[int]) -> Sizes | None:
    """
    The sizes of `before`, divided where a dimension of `after` begins inside of one of its own.

    None where a division leaves a remainder. Both have as many elements, more than 0.
    """
    starts = sorted({math.prod(after[:d]) for d in range(len(after))})
    sizes: list[int] = []
    position = 1
    for size in before:
        end = position * size
        for start in (*(s for s in starts if position < s < end), end):
            if start % position:
                return None
            sizes.append(start // position)
            position = start
    return tuple(sizes)
