"""
Gather, and scatter: loops over the updates in row-major order, each combined into its element in
place.

The arrays that are scattered into are iteration arguments and updated in place. The start of a
window decides whether it is in bounds; the loops over the elements of a window out of bounds are
skipped. Where the last dimensions of the updates are window dimensions, and long enough, windows
are combined as slices along them. Long sums of floats are kept in more digits: of f32 in f64, and
of f64 with what rounding took from them beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, f32, f64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.compensation import with_rest
from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.data_movement import concatenated_part, is_signed
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of, narrow
from lowerings.xla_to_linalg.scalar_functions.formulas import Real
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import inline_computation
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values, storage
from lowerings.xla_to_linalg.structured import (
    Body,
    affine_map,
    array_type,
    clamped_index,
    constant,
    counted_loop,
    extract_slice,
    fill,
    generic,
    identity,
    insert_slice,
    iterators,
    optional_loop,
    outside_of_bodies,
    pointwise,
)
from xla_dialect.analysis.computations import scatters_long_sums
from xla_dialect.op import Ints, decode
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import Array, array_like
from xla_dialect.xdsl.traversal import tensor_shape


def index_component(
    builder: ConversionBuilder, indices: SSAValue, vector_dim: int, component: int
) -> tuple[SSAValue, int | None]:
    """
    An array with a component of all index vectors, and which it is there; None if it is all.

    Vectors are mostly concatenated. What computes a component fuses with what reads it, unless it
    is put beside the others first.
    """
    if vector_dim == len(tensor_shape(indices)):
        return indices, None
    indices, component = concatenated_part(indices, vector_dim, component)
    sizes = tensor_shape(indices)
    if sizes[vector_dim] > 1:
        return indices, component
    return reshape(indices, without(sizes, (vector_dim,)), builder.op), None


@dataclass(frozen=True)
class IndexedDimensions:
    """
    How the index into the array that is gathered from, or scattered into, follows from that of an
    element of the windows: of a gather's result, or of a scatter's updates.
    """

    offset_of: dict[int, int]
    """From a window dimension of the array to that of the windows."""
    batch_of: dict[int, int]
    """From a batching dimension of the array to that of the windows."""
    starts: dict[int, tuple[SSAValue, int | None]]
    """For a dimension of the array that has a start index what is read for it."""
    index_vector_dim: int
    batch: Ints
    """The dimensions of the windows that are dimensions of the indices, in order."""

    @staticmethod
    def of(op: GatherOp | ScatterOp, builder: ConversionBuilder) -> IndexedDimensions:
        """The dimensions, by the formulas of docs/generated/ops.md#gather and #scatter."""
        if isinstance(op, GatherOp):
            array, windows, indices = op.operand, op.result, op.start_indices
            offsets, dropped, index_map = (
                op.offset_dims,
                op.collapsed_slice_dims,
                op.start_index_map,
            )
            batching, along = op.operand_batching_dims, op.start_indices_batching_dims
        else:
            array, windows, indices = op.inputs[0], op.updates[0], op.scatter_indices
            offsets, dropped, index_map = (
                op.update_window_dims,
                op.inserted_window_dims,
                op.scatter_dims_to_operand_dims,
            )
            batching, along = op.input_batching_dims, op.scatter_indices_batching_dims
        vector_dim = op.index_vector_dim.value.data
        own, theirs = cast(Ints, decode(batching)), cast(Ints, decode(along))
        others = (*cast(Ints, decode(dropped)), *own)
        in_windows = cast(Ints, decode(offsets))
        batch = tuple(without(range(len(tensor_shape(windows))), in_windows))
        window = without(range(len(tensor_shape(array))), others)
        return IndexedDimensions(
            dict(zip(window, in_windows, strict=True)),
            {d: batch[b - (b > vector_dim)] for d, b in zip(own, theirs, strict=True)},
            {
                d: index_component(builder, indices, vector_dim, k)
                for k, d in enumerate(decode(index_map))
            },
            vector_dim,
            batch,
        )

    def map_of(self, dimension: int, rank: int) -> AffineMapAttr:
        """From the index in the windows to where the start of a dimension is read."""
        where = [AffineExpr.dimension(d) for d in self.batch]
        component = self.starts[dimension][1]
        if component is not None:
            where.insert(self.index_vector_dim, AffineExpr.constant(component))
        return affine_map(rank, tuple(where))


def convert_gather(op: GatherOp, builder: ConversionBuilder) -> None:
    """
    A generic over the result whose body clamps the start indices and reads the operand.

    A dimension that is taken whole is indexed by its loop alone, so rows stay contiguous.
    """
    result = array_type(op.result)
    dimensions = IndexedDimensions.of(op, builder)
    limits = [
        size - slice_size
        for size, slice_size in zip(tensor_shape(op.operand), decode(op.slice_sizes), strict=True)
    ]
    # A limit of 0 clamps every start to 0: such a start need not be read.
    indexed = [d for d in dimensions.starts if limits[d]]
    signed = is_signed(op.start_indices)

    def position(s: ScalarBuilder, dimension: int, starts: dict[int, SSAValue]) -> SSAValue:
        if dimension in dimensions.batch_of:
            return s.index(dimensions.batch_of[dimension])
        loop = dimensions.offset_of.get(dimension)
        start = starts.get(dimension)
        if start is None:
            return s.constant(0, INDEX) if loop is None else s.index(loop)
        clamped = clamped_index(s, start, limits[dimension], signed)
        return clamped if loop is None else s.emit(arith.AddiOp, (clamped, s.index(loop)))

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        starts = dict(zip(indexed, elements, strict=False))
        where = [position(s, d, starts) for d in range(len(limits))]
        element_type = storage(result.element_type)
        return (s.emit(tensor.ExtractOp, (op.operand, *where), element_type),)

    rank = len(result.shape)
    inputs = [(dimensions.starts[d][0], dimensions.map_of(d, rank)) for d in indexed]
    builder.replace([pointwise(builder, inputs, result, body)])


SHORTEST_SLICE = 16
"""Windows with fewer elements in their last dimensions are done element by element."""


class LongSums:
    """How long sums of f32 or f64 are kept."""

    def __init__(self, type_: Array):
        self._type = type_
        self._is_double = type_.element_type == f64

    def opened(self, builder: ConversionBuilder, value: SSAValue) -> Sequence[SSAValue]:
        """What is carried, from the array that is added to."""
        wide = array_like(self._type, f64)
        if self._is_double:
            return value, fill(builder, constant(builder, 0.0, f64), wide)
        return (self._pointwise(builder, (value,), wide, self._widened),)

    def added(self, s: ScalarBuilder, held: Values, update: SSAValue) -> Values:
        """What is carried for an element, with an update added."""
        total, term = Real(s, held[0]), Real(s, self._widened(s, (update,))[0])
        if not self._is_double:
            return ((total + term).value,)
        return [number.value for number in with_rest(total, Real(s, held[1]), term)]

    def closed(self, builder: ConversionBuilder, carried: Values) -> SSAValue:
        """The array, from what was carried."""

        def element(s: ScalarBuilder, held: Values) -> Values:
            if not self._is_double:
                return (narrow(s, held[0], self._type.element_type),)
            total, rest = (Real(s, value) for value in held)
            # Infinite sums have none.
            return (rest.is_nan().choose(total, total + rest).value,)

        return self._pointwise(builder, carried, self._type, element)

    def _widened(self, s: ScalarBuilder, elements: Values) -> Values:
        (value,) = elements
        return (value if value.type == f64 else s.emit(arith.ExtFOp, (value,), f64),)

    @staticmethod
    def _pointwise(
        builder: ConversionBuilder, values: Values, result: Array, body: Body
    ) -> SSAValue:
        inputs = [(value, identity(len(result.shape))) for value in values]
        return pointwise(builder, inputs, result, lambda s, elements: body(s, elements[:-1]))


@dataclass(frozen=True)
class Scattering:
    """One `scatter` while its loops are made."""

    op: ScatterOp
    dimensions: IndexedDimensions
    limits: dict[int, int]
    """For a dimension of the inputs with a start index: the largest start that is inside."""
    slice_rank: int
    """How many of the updates' last dimensions are combined as slices."""
    sums: LongSums | None

    @staticmethod
    def of(op: ScatterOp, builder: ConversionBuilder) -> Scattering:
        """How a `scatter` is done."""
        dimensions, updates = IndexedDimensions.of(op, builder), tensor_shape(op.updates[0])
        extents = {d: updates[u] for d, u in dimensions.offset_of.items()}
        limits = {
            d: size - extents.get(d, 1)
            for d, size in enumerate(tensor_shape(op.inputs[0]))
            if d in dimensions.starts
        }
        first_sliced = max(dimensions.batch, default=-1) + 1
        sliced = updates[first_sliced:]
        slice_rank = len(sliced) if prod(sliced) >= SHORTEST_SLICE else 0
        return Scattering(op, dimensions, limits, slice_rank, Scattering._sums_of(op))

    @staticmethod
    def _sums_of(op: ScatterOp) -> LongSums | None:
        """How the sums of a scatter that adds up floats are kept, if they are long."""
        type_ = array_type(op.inputs[0])
        is_wide = type_.element_type in (f32, f64)
        return LongSums(type_) if is_wide and scatters_long_sums(op) else None

    @property
    def sizes(self) -> Ints:
        """The sizes of the updates."""
        return tensor_shape(self.op.updates[0])

    @property
    def looped(self) -> int:
        """How many of the updates' first dimensions have loops."""
        return len(self.sizes) - self.slice_rank

    @property
    def never_inside(self) -> bool:
        """Whether no window fits."""
        return any(limit < 0 for limit in self.limits.values())

    def loops(
        self,
        builder: ConversionBuilder,
        position: Values,
        starts: dict[int, SSAValue] | None,
        carried: Values,
    ) -> Values:
        """
        The iteration arguments after the loops over all updates whose index begins with `position`.

        `starts` are the starts of the windows in the dimensions that have a start index, known to
        be in bounds; None as long as `position` does not determine them.
        """
        depth = len(position)
        if starts is None and depth > max(self.dimensions.batch, default=-1):
            return self._if_inside(builder, position, carried)
        if depth == self.looped:
            assert starts is not None
            return self._combine(builder, position, starts, carried)

        def turn(inner: ConversionBuilder, index: SSAValue, values: Values) -> Values:
            return self.loops(inner, (*position, index), starts, values)

        return counted_loop(builder, self.sizes[depth], 1, carried, turn)

    def _if_inside(self, builder: ConversionBuilder, position: Values, carried: Values) -> Values:
        """Reads where a window starts; goes on if it is inside."""
        starts, inside = outside_of_bodies(builder, lambda s: self._starts(s, position))
        if inside is None:
            return self.loops(builder, position, starts, carried)
        return optional_loop(
            builder,
            inside,
            carried,
            lambda inner, values: self.loops(inner, position, starts, values),
        )

    def _starts(
        self, s: ScalarBuilder, position: Values
    ) -> tuple[dict[int, SSAValue], SSAValue | None]:
        """The starts, and whether all are in bounds; None where that is known statically."""
        indices, vector_dim = self.op.scatter_indices, self.dimensions.index_vector_dim
        signed, element_type = is_signed(indices), storage(elements_of(indices))
        batch = [position[d] for d in self.dimensions.batch]
        starts: dict[int, SSAValue] = {}
        inside: SSAValue | None = None
        for dimension, (read, component) in self.dimensions.starts.items():
            where = batch
            if component is not None:
                number = s.constant(component, INDEX)
                where = [*batch[:vector_dim], number, *batch[vector_dim:]]
            start = s.emit(tensor.ExtractOp, (read, *where), element_type)
            starts[dimension] = s.to_index(start, signed)
            # Unsigned, a negative start is larger than any limit.
            fits = s.compare("ule", starts[dimension], self.limits[dimension])
            inside = fits if inside is None else s.both(inside, fits)
        return starts, inside

    def _place(
        self, s: ScalarBuilder, position: Values, starts: dict[int, SSAValue]
    ) -> list[int | SSAValue]:
        """The index in the inputs of the update, or of the first element of the slice."""
        place: list[int | SSAValue] = []
        for dimension in range(len(tensor_shape(self.op.inputs[0]))):
            update = self.dimensions.offset_of.get(dimension)
            batch = self.dimensions.batch_of.get(dimension)
            start = starts.get(dimension) if batch is None else position[batch]
            offset = None if update is None or update >= self.looped else position[update]
            parts = [part for part in (start, offset) if part is not None]
            if len(parts) == 2:
                place.append(s.emit(arith.AddiOp, parts))
            else:
                place.append(parts[0] if parts else 0)
        return place

    def _combine(
        self,
        builder: ConversionBuilder,
        position: Values,
        starts: dict[int, SSAValue],
        carried: Values,
    ) -> Values:
        if self.slice_rank:
            return self._combine_slices(builder, position, starts, carried)
        return outside_of_bodies(
            builder, lambda s: self._combine_elements(s, position, starts, carried)
        )

    def _combine_elements(
        self, s: ScalarBuilder, position: Values, starts: dict[int, SSAValue], carried: Values
    ) -> Values:
        place = [
            s.constant(index, INDEX) if isinstance(index, int) else index
            for index in self._place(s, position, starts)
        ]
        elements = [
            s.emit(tensor.ExtractOp, (value, *where), storage(elements_of(value)))
            for values, where in ((carried, place), (self.op.updates, position))
            for value in values
        ]
        count = len(carried)
        combined = self._combined(s, elements[:count], elements[count:])
        return [
            s.emit(tensor.InsertOp, (value, into, *place), into.type)
            for value, into in zip(combined, carried, strict=True)
        ]

    def _combined(self, s: ScalarBuilder, held: Values, updates: Values) -> Values:
        """What is carried for an element, with its updates combined."""
        if self.sums is not None:
            return self.sums.added(s, held, *updates)
        return inline_computation(s, self.op.to_apply.block, (*held, *updates))

    def _combine_slices(
        self,
        builder: ConversionBuilder,
        position: Values,
        starts: dict[int, SSAValue],
        carried: Values,
    ) -> Values:
        """The windows in the updates' last dimensions as one operation, in place."""
        rank, count = len(tensor_shape(self.op.inputs[0])), len(self.op.updates)
        place = outside_of_bodies(builder, lambda s: self._place(s, position, starts))
        own_sizes = [1] * rank
        for dimension, update in self.dimensions.offset_of.items():
            if update >= self.looped:
                own_sizes[dimension] = self.sizes[update]
        # Window dimensions have one order on both sides; only those of size 1 may stand elsewhere.
        update_sizes = [1] * self.looped + list(self.sizes[self.looped :])
        offsets = (*position, *[0] * self.slice_rank)
        updates = [
            reshape(extract_slice(builder, value, offsets, update_sizes), own_sizes, builder.op)
            for value in self.op.updates
        ]
        current = [extract_slice(builder, value, place, own_sizes) for value in carried]

        def body(s: ScalarBuilder, elements: Values) -> Values:
            return self._combined(s, elements[count:], elements[:count])

        everywhere = identity(rank)
        combined = generic(
            builder,
            [(value, everywhere) for value in updates],
            [(value, everywhere) for value in current],
            iterators(rank),
            body,
        )
        return [
            insert_slice(builder, value, into, place)
            for value, into in zip(combined, carried, strict=True)
        ]


def convert_scatter(op: ScatterOp, builder: ConversionBuilder) -> None:
    """Loops over the updates, in place."""
    scattering = Scattering.of(op, builder)
    if 0 in scattering.sizes or scattering.never_inside:
        builder.replace(op.inputs)
        return
    carried, sums = tuple(op.inputs), scattering.sums
    if sums is not None:
        carried = sums.opened(builder, *carried)
    results = scattering.loops(builder, (), None, carried)
    builder.replace(results if sums is None else (sums.closed(builder, results),))
