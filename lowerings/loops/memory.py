"""
Loads and stores of single elements and of vectors along one dimension of a nest.

Square blocks that are read along one dimension and used along another are transposed in registers.
Accesses that each take every `n`-th element and together take all, such as channels of pixels or
the numbers that a stage of a Fourier transform combines, share vectors of consecutive elements,
which shuffles take apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import cast

import numpy as np
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import ComplexType, VectorType
from xdsl.ir import Attribute, SSAValue

from lowerings.loops.access import Access, Strides
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.constants import element_bits, integer_array, vector_of
from lowerings.loops.views import as_parts, materialize_view, reaches_by_last_index
from xla_dialect.xdsl.creation import create


class LaneStride(Enum):
    """How the lanes of a vector lie in memory."""

    INVARIANT = auto()
    """All at one place."""
    UNIT = auto()
    REVERSED = auto()
    """One after the other, the first lane last."""
    STRIDED = auto()


def lane_stride(access: Access, dimension: int | None) -> LaneStride | None:
    """How steps in `dimension` move an access; None where vectors cannot reach the elements."""
    if dimension is None or not access.reaches(dimension):
        return LaneStride.INVARIANT
    if access.strides is None:
        return None
    step = access.strides[dimension]
    if abs(step) == 1:
        return LaneStride.UNIT if step == 1 else LaneStride.REVERSED
    return None if isinstance(access.type.element_type, ComplexType) else LaneStride.STRIDED


def is_read_turned(access: Access, dimension: int | None, transposed: int | None) -> bool:
    """Whether vectors along a dimension are read in blocks along the transposed one."""
    return (
        transposed is not None
        and lane_stride(access, dimension) is LaneStride.STRIDED
        and lane_stride(access, transposed) is LaneStride.UNIT
    )


def shuffled(vectors: Sequence[SSAValue], mask: Sequence[int], builder: LoopBuilder) -> SSAValue:
    """Elements of two vectors, counted through."""
    type_ = cast("VectorType[Attribute]", vectors[0].type)
    result_type = vector_of(type_.element_type, len(mask))
    properties = {"mask": integer_array(tuple(mask))}
    return builder.write(vector.ShuffleOp, vectors, result_type, properties)


class MemoryAccess:
    """An access with the view that it goes through, which is written when this is made."""

    def __init__(
        self,
        access: Access,
        extents: tuple[int, ...],
        dimension: int | None,
        builder: LoopBuilder,
    ):
        self.stride = lane_stride(access, dimension)
        self.dimension = dimension
        self.builder = builder
        self.parts: SSAValue | None = None
        """Complex numbers, where they are vectors, as their parts in turn."""
        is_vector = self.stride in (LaneStride.UNIT, LaneStride.REVERSED)
        if is_vector and not reaches_by_last_index(access, dimension):
            access = replace(access, recast=True)
        last = dimension if is_vector else None
        self.access = materialize_view(access, extents, last, builder)
        self.element_type: Attribute = self.access.type.element_type
        if is_vector and isinstance(self.element_type, ComplexType):
            self.parts = as_parts(self.access.memref, builder)

    def _vector_indices(self, position: Sequence[Index], lanes: int) -> list[SSAValue]:
        """The indices of the first element of a vector, in the view that it goes through."""
        builder, lowest = self.builder, self._lowest(position, lanes)
        if self.parts is None:
            return builder.indices(self.access.indices, lowest)
        *others, last = self.access.indices
        return builder.indices([*others, last * 2], lowest)

    def load(self, position: Sequence[Index], lanes: int | None) -> SSAValue:
        """The element at a point, or so many from there on in the vector dimension."""
        builder, base = self.builder, self.parts or self.access.memref
        if lanes is None:
            operands = [self.access.memref, *builder.indices(self.access.indices, position)]
            return builder.write(memref.LoadOp, operands, self.element_type)
        vector_type = vector_of(self.element_type, lanes)
        if self.stride is LaneStride.STRIDED:
            result = builder.constants.number(0, vector_type)
            for lane, place in self._apart(position, lanes):
                operands = [self.load(place, None), result]
                result = builder.write(vector.InsertOp, operands, vector_type, lane)
            return result
        indices = self._vector_indices(position, lanes)
        loaded = builder.write(vector.LoadOp, [base, *indices], vector_type)
        return self._in_lane_order(loaded, lanes)

    def _apart(
        self, position: Sequence[Index], lanes: int
    ) -> Iterator[tuple[Mapping[str, Attribute], Sequence[Index]]]:
        """
        The lanes of a vector, as operations on one of them say it, and their points: to load and to
        store them one by one is quicker than the processor's instructions for all of them.
        """
        for lane in range(lanes):
            point = [
                Index(start.value, start.constant + lane) if d == self.dimension else start
                for d, start in enumerate(position)
            ]
            yield {"static_position": integer_array((lane,))}, point

    def store(self, value: SSAValue, position: Sequence[Index], lanes: int | None) -> None:
        """Writes the element at a point, or so many from there on in the vector dimension."""
        builder, base = self.builder, self.parts or self.access.memref
        if lanes is None:
            indices = builder.indices(self.access.indices, position)
            operands = [value, self.access.memref, *indices]
            builder.add(create(memref.StoreOp, operands=operands))
            return
        if self.stride is LaneStride.STRIDED:
            for lane, place in self._apart(position, lanes):
                element = builder.write(vector.ExtractOp, [value], self.element_type, lane)
                self.store(element, place, None)
            return
        indices = self._vector_indices(position, lanes)
        value = self._in_lane_order(value, lanes)
        builder.add(create(vector.StoreOp, operands=[value, base, *indices]))

    def _lowest(self, position: Sequence[Index], lanes: int) -> Sequence[Index]:
        """The point whose element has the lowest address."""
        if self.stride is not LaneStride.REVERSED or self.dimension is None:
            return position
        lowest = list(position)
        first = lowest[self.dimension]
        lowest[self.dimension] = Index(first.value, first.constant + lanes - 1)
        return lowest

    def _in_lane_order(self, value: SSAValue, lanes: int) -> SSAValue:
        """`value`, reversed where memory and lanes run in opposite directions."""
        if self.stride is not LaneStride.REVERSED:
            return value
        if self.parts is None:
            return shuffled([value, value], range(lanes - 1, -1, -1), self.builder)
        mask = [2 * lane + part for lane in range(lanes - 1, -1, -1) for part in (0, 1)]
        return shuffled([value, value], mask, self.builder)


LARGEST_BLOCK = 16
"""Rows and lanes of the largest block: its vectors, read and transposed, fit the register file."""


def transpose_block(rows: Sequence[SSAValue], builder: LoopBuilder) -> list[SSAValue]:
    """
    The columns of a square block given by its rows, each a vector; a power of two of them.

    For each bit of the row number a pair of rows changes places with two that have the elements of
    both. Each is one instruction of x86: within 128 bits it interleaves their halves, and larger
    vectors are put together of every second 128 bits. The former leave the columns in another
    order.
    """
    result = list(rows)
    count = len(rows)
    element_type = cast("VectorType[Attribute]", rows[0].type).element_type
    inside = min(count, 128 // (element_bits(element_type) or 64))
    bit = 1
    while bit < count:
        lanes = np.arange(2 * count)
        if bit < inside:
            parts = lanes.reshape(2, -1, 2, inside // (2 * bit), bit).transpose(2, 1, 3, 0, 4)
        else:
            parts = lanes.reshape(2, -1, 2, inside).transpose(2, 0, 1, 3)
        first, second = parts.reshape(2, count).tolist()
        for row in range(count):
            if not row & bit:
                pair = result[row], result[row | bit]
                result[row] = shuffled(pair, first, builder)
                result[row | bit] = shuffled(pair, second, builder)
        bit *= 2
    bits = inside.bit_length() - 1
    order = np.arange(count).reshape(-1, *[2] * bits).transpose(0, *range(bits, 0, -1))
    return [result[row] for row in order.flat]


INTERLEAVED = (2, 4)
"""How many accesses are taken apart together: each doubling is one shuffle more for a vector."""


def interleaved(accesses: Iterable[Access], dimension: int | None) -> list[Sequence[Access]]:
    """
    The accesses that begin at consecutive elements, where each steps over those of the others if a
    dimension runs in lanes; those that step over one element alone if no other access has it.
    """
    alike: dict[tuple[SSAValue, Strides], dict[int, Access]] = {}
    for access in accesses:
        strides, offset = access.strides, access.offset
        if dimension is None or strides is None:
            continue
        if (
            strides[dimension] in INTERLEAVED
            and lane_stride(access, dimension) is LaneStride.STRIDED
        ):
            alike.setdefault((access.memref, strides), {})[offset] = access
    found: list[Sequence[Access]] = []
    for (_, strides), by_offset in alike.items():
        count = strides[dimension or 0]
        while by_offset:
            first = min(by_offset)
            group = [by_offset.pop(first + number, None) for number in range(count)]
            there = [access for access in group if access is not None]
            if len(there) == count or count == 2:
                found.append(there)
    return found


class InterleavedAccess:
    """Accesses that interleave, with the view that they go through, written when this is made."""

    def __init__(
        self,
        group: Sequence[Access],
        extents: tuple[int, ...],
        dimension: int | None,
        builder: LoopBuilder,
    ):
        self.group = group
        self.builder = builder
        first = replace(group[0], recast=True)
        self.access = materialize_view(first, extents, dimension, builder, len(group) - 1)

    def load_vectors(self, position: Sequence[Index], lanes: int) -> Mapping[Access, SSAValue]:
        """For each access the elements at a point and the next ones in the vector dimension."""
        count = len(self.group)
        if count > 1:
            vectors = self._following(position, lanes, [number * lanes for number in range(count)])
            return dict(zip(self.group, self._taken_apart(vectors, lanes), strict=True))
        # Two vectors that overlap in one element, so that nothing after the last lane is read.
        vectors = self._following(position, lanes, [0, lanes - 1])
        mask = [i if i < lanes else i + 1 for i in range(0, 2 * lanes, 2)]
        return {self.group[0]: shuffled(vectors, mask, self.builder)}

    def _following(
        self, position: Sequence[Index], lanes: int, distances: Sequence[int]
    ) -> Sequence[SSAValue]:
        """Vectors that begin so many elements behind a point."""
        builder, type_ = self.builder, vector_of(self.access.type.element_type, lanes)
        *others, last = builder.indices(self.access.indices, position)
        first = [self.access.memref, *others]
        starts = (builder.materialize(Index(last, distance)) for distance in distances)
        return [builder.write(vector.LoadOp, [*first, start], type_) for start in starts]

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
