"""Pure arithmetic on the dimension sizes of arrays (sizes as tuples, dimension 0 first)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from xla_dialect.diagnostics import XlaError

# Sizes that are not known: of bounded dynamic dimensions, and of unbounded ones.


class DynamicSize(int):
    """
    The upper bound of a dynamic dimension.

    It compares as the bound, for no constraint looks at the mark; what is computed from it is
    dynamic too. So a shape function carries marks from operands to results without naming them.
    """

    def __repr__(self) -> str:
        return f"<={int(self)}"

    def __add__(self, value: int, /) -> int:
        return marked(int(self) + value, self)

    def __sub__(self, value: int, /) -> int:
        return marked(int(self) - value, self)

    def __rsub__(self, value: int, /) -> int:
        return marked(value - int(self), self)

    def __mul__(self, value: int, /) -> int:
        return marked(int(self) * value, self)

    def __floordiv__(self, value: int, /) -> int:
        return marked(int(self) // value, self)

    def __neg__(self) -> int:
        return DynamicSize(-int(self))

    __radd__ = __add__
    __rmul__ = __mul__


class UnknownSize(int):
    """
    The size of a dimension of which nothing is known: MLIR's `?`, by its number.

    What is computed from it is unknown too, but for its product with 0. It equals itself only:
    whether a size may be another one says `compatible`, whether it may be in some range `bounded`.
    `UNKNOWN` is the only one.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def _same(self, value: int, /) -> Self:
        return self

    def __mul__(self, value: int, /) -> int:
        return self if value else 0

    def __neg__(self) -> Self:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _same
    __rmul__ = __mul__


UNKNOWN = UnknownSize(-(1 << 63))
"""It equals xDSL's `DYNAMIC_INDEX`."""


def is_unknown(size: int) -> bool:
    """Whether nothing is known of a size."""
    return isinstance(size, UnknownSize)


def compatible_sizes(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether arrays of these sizes may have one shape: as many, and each pair compatible."""
    return len(a) == len(b) and all(map(compatible, a, b))


def compatible(a: int, b: int) -> bool:
    """Whether two sizes may be equal: they are, or one of them is unknown."""
    return a == b or is_unknown(a) or is_unknown(b)


def bounded(least: int, size: int, most: int | None = None) -> bool:
    """Whether a size may be at least, and at most, another one; what is unknown may."""
    if is_unknown(size):
        return True
    return (is_unknown(least) or least <= size) and (
        most is None or is_unknown(most) or size <= most
    )


def divisible(size: int, parts: int) -> bool:
    """Whether a size may be a multiple of a positive one."""
    return is_unknown(size) or is_unknown(parts) or size % parts == 0


def is_dynamic(sizes: Sequence[int]) -> bool:
    """Whether one of the sizes is dynamic."""
    return any(isinstance(size, DynamicSize) for size in sizes)


def marked(size: int, *others: int) -> int:
    """The size, dynamic if it or one of the others is; one that is unknown stays so."""
    if is_unknown(size) or not is_dynamic((size, *others)):
        return size
    return DynamicSize(size)


def united(sizes: Sequence[int], *others: Sequence[int]) -> tuple[int, ...]:
    """
    The sizes of dimensions that are equal in all of the lists, which are equally long.

    A dimension is dynamic where it is in one of them, and unknown where it is in all. Raises
    Violation for two known sizes that differ, which one that is unknown does not tell.
    """
    return tuple(map(_united, zip(sizes, *others, strict=True)))


def _united(column: Sequence[int]) -> int:
    known = [size for size in column if not is_unknown(size)]
    if len(known) == len(column):
        return marked(*column)
    if any(size != known[0] for size in known):
        # What runs programs asks for sizes too, and has no use for xDSL.
        from xla_dialect.violations import Violation  # noqa: PLC0415

        raise Violation("Size", f"sizes {known} are those of one dimension")
    return marked(*known) if known else UNKNOWN


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
    """Sizes of a padded array: `low + d + max(d - 1, 0) * interior + high` per dimension."""
    return tuple(
        lo + d + max(d - 1, 0) * i + hi
        for d, lo, hi, i in zip(sizes, low, high, interior, strict=True)
    )


def dilated(size: int, dilation: int) -> int:
    """The size with `dilation - 1` holes between neighbours: `(size - 1) * dilation + 1`, or 0."""
    return (size - 1) * dilation + 1 if size else 0


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

    None where there are none. Both have as many elements, more than 0; a size of 1 goes to the
    group on its right, at the end to the last.
    """
    groups: list[list[int]] = []
    for mine, theirs in finest_groups(wide, narrow):
        if len(theirs) > 1 or not mine:
            return None
        if theirs:
            groups.append(mine)
        elif groups:
            groups[-1] += mine
    return groups


def finest_groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
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


@dataclass(frozen=True)
class ReshapeGroup:
    """A reassociation group: dimensions of an operand and of a result with equal element counts."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    bounds: tuple[int, ...]
    """The sizes of the dimensions of the result, dynamic ones as `DynamicSize`."""

    @property
    def open(self) -> int | None:
        """The one dynamic dimension of the result here, which takes what is left; None if none."""
        found = [d for d, n in zip(self.after, self.bounds, strict=True) if is_dynamic([n])]
        return found[0] if len(found) == 1 else None

    @property
    def rest(self) -> int:
        """The product of the static sizes of the result."""
        return math.prod(int(n) for n in self.bounds if not isinstance(n, DynamicSize))

    def resolved(self, count: int) -> tuple[int, ...]:
        """
        The sizes at run time of the dimensions of the result, which have `count` elements.

        Raises XlaError where they do not follow: one dimension at most may be dynamic, unless all
        dimensions are as large as they can be.
        """
        if count == math.prod(map(int, self.bounds)):
            return tuple(map(int, self.bounds))
        if self.open is None or count % self.rest:
            raise XlaError(f"{count} {self.unresolved}")
        return tuple(count // self.rest if isinstance(n, DynamicSize) else n for n in self.bounds)

    @property
    def unresolved(self) -> str:
        """What is wrong with a number of elements that `resolved` refuses."""
        return f"elements do not tell the sizes of {list(self.bounds)}"


def reshape_groups(before: Sequence[int], after: Sequence[int]) -> list[ReshapeGroup]:
    """
    The groups of a reshape, in which sizes at run time follow one by one from those of the operand.

    There is one group only where a static dimension of the result would be made of dynamic ones.
    """
    groups = finest_groups(list(map(int, before)), list(map(int, after)))
    if any(
        is_dynamic([before[d] for d in mine]) and not is_dynamic([after[d] for d in theirs])
        for mine, theirs in groups
    ):
        groups = [(list(range(len(before))), list(range(len(after))))]
    return [
        ReshapeGroup(tuple(mine), tuple(theirs), tuple(after[d] for d in theirs))
        for mine, theirs in groups
    ]


def reshaped_sizes(
    sizes: Sequence[int], before: Sequence[int], after: Sequence[int]
) -> tuple[int, ...]:
    """
    The sizes at run time of a reshape of an array that has these sizes.

    `before` and `after` are the types' sizes. Raises XlaError where they do not follow.
    """
    found = [int(n) for n in after]
    for group in reshape_groups(before, after):
        count = math.prod(sizes[d] for d in group.before)
        for d, size in zip(group.after, group.resolved(count), strict=True):
            found[d] = size
    return tuple(found)
