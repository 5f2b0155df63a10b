"""
Accesses that share what they read: each takes every `n`-th element, together they take all.

The elements of one point lie side by side, then those of the next: channels of pixels, or the
numbers that a stage of a Fourier transform combines. Vectors of each are made of as many vectors of
consecutive elements, by shuffles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from xdsl.dialects import vector
from xdsl.ir import SSAValue

from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import vector_of
from lowerings.loops.memory import LaneStride, MemoryAccess, lane_stride, shuffled
from lowerings.loops.nest import Access, Strides
from xla_dialect.xdsl.creation import create

SIZES = (2, 4)
"""How many accesses are taken apart together: each doubling is one shuffle more for a vector."""


Group: TypeAlias = "tuple[Access, ...]"
"""Accesses that begin at consecutive elements, and each steps over those of the others."""


def interleaved(accesses: Iterable[Access], dimension: int) -> list[Group]:
    """The groups of accesses that interleave where a dimension runs in lanes."""
    alike: dict[tuple[SSAValue, Strides], dict[int, Access]] = {}
    for access in accesses:
        strides, offset = access.strides, access.offset
        if strides is None or offset is None or strides[dimension] not in SIZES:
            continue
        if lane_stride(access, dimension) is LaneStride.STRIDED:
            alike.setdefault((access.memref, strides), {})[offset] = access
    found: list[Group] = []
    for (_, strides), by_offset in alike.items():
        count = strides[dimension]
        while by_offset:
            first = min(by_offset)
            group = [by_offset.pop(first + number, None) for number in range(count)]
            whole = tuple(access for access in group if access is not None)
            if len(whole) == count:
                found.append(whole)
    return found


class InterleavedAccess:
    """A group with the view that it goes through, which is written when this is made."""

    def __init__(
        self, group: Group, extents: tuple[int, ...], dimension: int, builder: LoopBuilder
    ):
        self.access = MemoryAccess(group[0], extents, dimension, builder, len(group) - 1)
        self.count = len(group)
        self.builder = builder

    def load_vectors(self, position: Sequence[Index], lanes: int) -> list[SSAValue]:
        """For each access the elements at a point and the next ones in the vector dimension."""
        builder, access = self.builder, self.access
        *others, last = access.indices(position)
        vectors: list[SSAValue] = []
        for number in range(self.count):
            start = builder.materialize(Index(last, number * lanes))
            op = create(
                vector.LoadOp,
                operands=[access.access.memref, *others, start],
                result_types=[vector_of(access.element_type, lanes)],
            )
            vectors.append(builder.add(op).result)
        return self._taken_apart(vectors, lanes)

    def _taken_apart(self, vectors: Sequence[SSAValue], lanes: int) -> list[SSAValue]:
        """Every `n`-th element of `n` vectors one after the other, for each of the `n` starts."""
        if len(vectors) == 1:
            return list(vectors)
        result: list[SSAValue] = [vectors[0]] * len(vectors)
        for parity in (0, 1):
            mask = range(parity, 2 * lanes, 2)
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            halved = [shuffled(pair, mask, self.builder) for pair in pairs]
            result[parity::2] = self._taken_apart(halved, lanes)
        return result
