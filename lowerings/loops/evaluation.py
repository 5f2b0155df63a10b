"""
Writes the values of a nest's body at given points, as scalars or as vectors, each once.

A tile unrolls dimensions: a value is wanted at many points at once. It is written once for all
points that agree in the dimensions that it depends on, which is how a register tile of a
matrix product comes to load each element of its operands once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, complex, math, memref, vector
from xdsl.dialects.builtin import (
    ComplexType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
    f32,
    i1,
    i32,
)
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.dialects.arith_extension import (
    EXTENSIONS,
    NO_FAST_MATH,
    IndexCastOp,
    with_element_type,
)
from lowerings.dialects.vector_extension import GatherOp
from lowerings.dialects.words import DotProductOp, JoinOp, PairProductOp
from lowerings.loops.access import Access
from lowerings.loops.builder import ZERO, Index, LoopBuilder
from lowerings.loops.constants import vector_of
from lowerings.loops.lane_analysis import COMPLEX, Lanewise
from lowerings.loops.loop_tree import InnerLoops
from lowerings.loops.memory import (
    InterleavedAccess,
    MemoryAccess,
    shuffled,
    transpose_block,
)
from lowerings.loops.narrow_products import (
    dot_product,
    pair_product,
    word,
)
from lowerings.loops.views import as_parts, strided_view
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import operations_in

PRODUCTS = frozenset((PairProductOp, DotProductOp))

Combination: TypeAlias = tuple[int, ...]
"""For each tiled dimension the number of one of its points."""


@dataclass(frozen=True)
class Point:
    """Where one unrolled iteration is in its dimension; of a vector, where its first lane is."""

    position: Index
    lanes: int = 1


ORIGIN = (Point(ZERO),)


class BodyEvaluator:
    """Writes values of a body, at the points that its dimensions are bound to."""

    def __init__(self, loops: InnerLoops, builder: LoopBuilder):
        nest, order, extents = loops.nest, loops.order, loops.nest.extents
        self.nest = nest
        self.lane_analysis = loops.lane_analysis
        self.tiled = loops.tiled
        self.builder = builder
        self.vector = order.vector
        self.points: list[tuple[Point, ...]] = [ORIGIN] * len(extents)
        if order.vector is not None:
            self.points[order.vector] = (Point(ZERO, min(order.lanes, extents[order.vector])),)
        self.transposed = order.transposed
        self.turned = {
            access: MemoryAccess(access, extents, order.transposed, builder)
            for access in loops.turned
        }
        self.together: dict[Access, InterleavedAccess] = {}
        for group in loops.together:
            together = InterleavedAccess(group, extents, self.vector, builder)
            self.together |= dict.fromkeys(group, together)
        self.memory = {
            access: MemoryAccess(access, extents, self.vector, builder)
            for access in dict.fromkeys(nest.accesses)
            if access not in self.together or access in nest.outputs
        }
        self.indexing = {
            index.position
            for view in (*self.memory.values(), *self.turned.values())
            for index in view.access.indices
            if isinstance(index, AffineDimExpr)
        }
        """The dimensions whose position is itself an index into memory."""
        self.outputs = [self.memory[access] for access in nest.outputs]
        self._known: dict[tuple[object, ...], SSAValue] = {}
        self._scopes: list[list[tuple[object, ...]]] = [[]]
        """What became known in each scope that is open."""
        self._forms: dict[SSAValue, tuple[SSAValue, Lanewise, int | None]] = {}

    def open_scope(self) -> None:
        """What is written from here on is known until `close_scope`."""
        self._scopes.append([])

    def close_scope(self) -> None:
        for key in self._scopes.pop():
            self._known.pop(key, None)

    def _keep(self, key: tuple[object, ...], value: SSAValue) -> SSAValue:
        """Makes a value known until the open scope is closed."""
        self._known[key] = value
        self._scopes[-1].append(key)
        return value

    def lanewise(self, value: SSAValue) -> Lanewise:
        return Lanewise.UNIFORM if self.lane_analysis is None else self.lane_analysis.of(value)

    def combinations(self, mask: int) -> list[Combination]:
        """One combination of points for each that dimensions in `mask` tell apart."""
        return list(
            product(
                *(range(len(self.points[d])) if mask >> d & 1 else range(1) for d in self.tiled)
            )
        )

    def restrict(self, combination: Combination, mask: int) -> Combination:
        """The combination with what dimensions outside `mask` do left out."""
        tiled = self.tiled
        return tuple([n if mask >> tiled[i] & 1 else 0 for i, n in enumerate(combination)])

    def lanes(self, combination: Combination) -> int:
        """The lanes of vectors at a combination of points."""
        if self.vector is None:
            return 1
        return self.points[self.vector][combination[self.tiled.index(self.vector)]].lanes

    def position(self, combination: Combination) -> list[Index]:
        """The position in every dimension."""
        result = [points[0].position for points in self.points]
        for dimension, number in zip(self.tiled, combination, strict=True):
            result[dimension] = self.points[dimension][number].position
        return result

    def remember(self, value: SSAValue, combination: Combination, result: SSAValue) -> None:
        """Makes `result` what `value` of the body is at `combination`, in the open scope."""
        is_vector = self.lanewise(value) is Lanewise.VARYING
        own = self.restrict(combination, self.nest.mask[value])
        self._keep((value, is_vector, own), result)

    def value(self, value: SSAValue, combination: Combination, *, is_vector: bool) -> SSAValue:
        """The value in all lanes, or as a scalar."""
        return self.as_vector(value, combination) if is_vector else self.scalar(value, combination)

    def scalar(self, value: SSAValue, combination: Combination) -> SSAValue:
        """The value as a scalar: that of the first lane if it is linear in the lanes."""
        value, _, mask = self.form(value)
        if mask is None:
            return self.builder.constants.within(value)
        return self._written(value, self.restrict(combination, mask), is_vector=False)

    def form(self, value: SSAValue) -> tuple[SSAValue, Lanewise, int | None]:
        """
        What stands for a value, how it depends on the lane, and on which dimensions; on None if it
        comes from outside.
        """
        found = self._forms.get(value)
        if found is None:
            own = self.nest.scalars.get(value, value)
            found = self._forms[value] = own, self.lanewise(own), self.nest.mask.get(own)
        return found

    def as_vector(self, value: SSAValue, combination: Combination) -> SSAValue:
        """The value in all lanes."""
        value, lanewise, mask = self.form(value)
        own = self.restrict(combination, mask or 0)
        if lanewise is Lanewise.VARYING:
            return self._written(value, own, is_vector=True)
        lanes = self.lanes(combination)
        owner = value.owner
        if type(owner) is arith.ConstantOp:
            return self._constant_vector(owner, lanes)
        key = (value, lanes, own)
        known = self._known.get(key)
        if known is None:
            known = self.builder.broadcast(self.scalar(value, combination), lanes)
            if lanewise is Lanewise.LINEAR:
                known = self._spread(known, value, lanes)
            self._keep(key, known)
        return known

    def _constant_vector(self, op: arith.ConstantOp, lanes: int) -> SSAValue:
        value, element_type = op.value, op.result.type
        if not isinstance(value, IntegerAttr | FloatAttr):
            raise TypeError(f"no element of a vector: {value}")
        number = value.value.data
        return self.builder.constants.number(number, vector_of(element_type, lanes))

    def _spread(self, broadcast: SSAValue, value: SSAValue, lanes: int) -> SSAValue:
        """The lanes of a linear value, from its first lane's value in all of them."""
        assert self.lane_analysis is not None
        step = self.lane_analysis.steps[value]
        if step == 0:
            return broadcast
        offsets = [step * lane for lane in range(lanes)]
        constant = self.builder.constants.elements(offsets, value.type)
        return self.builder.binary(arith.AddiOp, broadcast, constant)

    def _written(self, value: SSAValue, combination: Combination, *, is_vector: bool) -> SSAValue:
        key = (value, is_vector, combination)
        known = self._known.get(key)
        if known is not None:
            return known
        access = self.nest.read.get(value)
        if is_vector and access in self.turned and self._is_square(combination):
            self._read_turned(value, self.turned[access], combination)
        elif is_vector and access in self.together:
            self._read_together(self.together[access], combination)
        elif access is not None:
            lanes = self.lanes(combination) if is_vector else None
            return self._keep(key, self.memory[access].load(self.position(combination), lanes))
        else:
            op = cast(Operation, value.owner)
            outside = self.builder.at(op.location)
            results = self._write(op, combination, is_vector=is_vector)
            self.builder.location = outside
            for old, new in zip(op.results, results, strict=True):
                self._keep((old, is_vector, combination), new)
        return self._known[key]

    def _is_square(self, combination: Combination) -> bool:
        """Whether the tile at a combination is a block that registers can transpose."""
        assert self.transposed is not None
        rows, lanes = len(self.points[self.transposed]), self.lanes(combination)
        return rows == lanes and lanes & (lanes - 1) == 0

    def _read_turned(self, value: SSAValue, access: MemoryAccess, combination: Combination) -> None:
        """Reads a block of an input along the transposed dimension, for all its points."""
        assert self.transposed is not None
        assert self.vector is not None
        lanes, place = self.lanes(combination), self.tiled.index(self.transposed)
        position = self.position((*combination[:place], 0, *combination[place + 1 :]))
        start = position[self.vector]
        rows: list[SSAValue] = []
        for lane in range(lanes):
            position[self.vector] = Index(start.value, start.constant + lane)
            rows.append(access.load(position, lanes))
        for number, column in enumerate(transpose_block(rows, self.builder)):
            own = (*combination[:place], number, *combination[place + 1 :])
            self._keep((value, True, own), column)

    def _read_together(self, group: InterleavedAccess, combination: Combination) -> None:
        """Reads inputs whose elements alternate."""
        found = group.load_vectors(self.position(combination), self.lanes(combination))
        for argument, access in self.nest.read.items():
            if access in found:
                self._keep((argument, True, combination), found[access])

    def _write(
        self, op: Operation, combination: Combination, *, is_vector: bool
    ) -> Sequence[SSAValue]:
        # By class: `isinstance` of an operation costs as much as making one.
        if type(op) is IndexOp:
            index = self.position(combination)[op.dim.value.data]
            return [self.builder.materialize(index)]
        if type(op) is arith.ConstantOp:
            return [self.builder.constants.attribute(op.value, op.result.type)]
        if is_vector:
            return self._write_vector(op, combination)
        if op.regions:
            return self._clone_with_regions(op, combination)
        operands = [self.scalar(operand, combination) for operand in op.operands]
        if type(op) is JoinOp:
            return [word(operands, self.builder)]
        if type(op) in PRODUCTS:
            return [self._product_of_words(op, operands)]
        clone = create(
            type(op),
            operands=operands,
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        return self.builder.add(clone).results

    def _clone_with_regions(self, op: Operation, combination: Combination) -> Sequence[SSAValue]:
        inside = {result for inner in operations_in(op) for result in inner.results}
        mapping: dict[SSAValue, SSAValue] = {}
        for inner in operations_in(op):
            for operand in inner.operands:
                if operand not in inside and operand in self.nest.mask:
                    mapping[operand] = self.scalar(operand, combination)
                elif operand in self.nest.scalars:
                    mapping[operand] = self.nest.scalars[operand]
        return self.builder.add(op.clone(mapping)).results

    def _write_vector(self, op: Operation, combination: Combination) -> Sequence[SSAValue]:
        lanes = self.lanes(combination)
        (element_type,) = op.result_types
        result_type = vector_of(element_type, lanes)
        if type(op) is memref.LoadOp:
            return [self._load_by_value(op, combination, result_type)]
        if type(op) is JoinOp:
            return [word([self.as_vector(part, combination) for part in op.parts], self.builder)]
        if type(op) in COMPLEX:
            return [self._shuffled_parts(op, combination)]
        assert self.lane_analysis is not None
        first = len(op.operands) - len(self.lane_analysis.operands_in_lanes(op))
        operands = [
            self.value(operand, combination, is_vector=number >= first)
            for number, operand in enumerate(op.operands)
        ]
        if type(op) in PRODUCTS:
            return [self._product_of_words(op, operands)]
        vector_class = EXTENSIONS.get(op.name, type(op))
        clone = create(
            vector_class,
            operands=operands,
            result_types=[result_type],
            properties=op.properties,
            attributes=op.attributes,
        )
        return self.builder.add(clone).results

    def _product_of_words(self, op: Operation, factors: Sequence[SSAValue]) -> SSAValue:
        if not isinstance(op, DotProductOp):
            return pair_product(factors[0], factors[1], self.builder)
        type_ = with_element_type(factors[0].type, op.result.type)
        zero = self.builder.constants.number(-0.0 if op.result.type == f32 else 0, type_)
        return dot_product(op, factors, zero, self.builder)

    def _shuffled_parts(self, op: Operation, combination: Combination) -> SSAValue:
        """Complex numbers from vectors of their parts, or one of the parts of all."""
        vectors = [self.as_vector(operand, combination) for operand in op.operands]
        lanes = self.lanes(combination)
        if type(op) is complex.CreateOp:
            mask = [lane + part * lanes for lane in range(lanes) for part in (0, 1)]
        else:
            mask = list(range(int(type(op) is complex.ImOp), 2 * lanes, 2))
        return shuffled([vectors[0], vectors[-1]], mask, self.builder)

    def _load_by_value(
        self, op: memref.LoadOp, combination: Combination, result_type: VectorType[Attribute]
    ) -> SSAValue:
        """A load whose index the body computes."""
        assert self.lane_analysis is not None
        builder, lanes = self.builder, self.lanes(combination)
        base = self.scalar(op.memref, combination)
        *others, last = op.indices
        if self.lane_analysis.load_step(op) == 1:
            indices = [self.scalar(index, combination) for index in others]
            first = self.scalar(last, combination)
            if type(op.res.type) is ComplexType:
                base = builder.shared(("parts", base), partial(as_parts, base, builder))
                first = builder.materialize(builder.scale_index(Index(first), 2))
            indices.append(first)
            return builder.write(vector.LoadOp, [base, *indices], result_type)
        everywhere = builder.constants.number(1, vector_of(i1, lanes))
        zero = builder.constants.number(0, result_type)
        first = self.lane_analysis.first_in_lanes(op)
        assert first is not None
        type_ = cast("MemRefType[Attribute]", op.memref.type)
        sizes = type_.get_shape()[first:]
        # A vector has twice as many distances of 32 bits as indices.
        distance_type = vector_of(i32 if prod(sizes) < 1 << 31 else IndexType(), lanes)
        distances: SSAValue | None = None
        for index, size in zip(op.indices[first:], sizes, strict=True):
            added = self.as_vector(index, combination)
            if distance_type.element_type == i32:
                added = builder.write(IndexCastOp, [added], distance_type)
            if distances is not None:
                width = builder.constants.number(size, distance_type)
                rows = builder.binary(arith.MuliOp, distances, width)
                added = builder.binary(arith.AddiOp, rows, added)
            distances = added
        assert distances is not None
        if len(sizes) > 1:
            strides = cast("Sequence[int]", type_.get_strides())
            own = [*type_.get_shape()[:first], prod(sizes)], [*strides[:first], 1]
            base = strided_view(base, 0, *own, builder)
        indices = [self.scalar(index, combination) for index in op.indices[:first]]
        indices.append(builder.constants.index(0))
        return builder.add(GatherOp(base, indices, distances, everywhere, zero)).result

    def multiply_add(
        self, product: arith.MulfOp | DotProductOp, addend: SSAValue, combination: Combination
    ) -> SSAValue:
        """A product added to a number, or in all lanes, rounded once."""
        result_type: Attribute = addend.type
        is_vector = result_type != product.result.type
        operands = [
            self.value(factor, combination, is_vector=is_vector) for factor in product.operands
        ]
        if isinstance(product, DotProductOp):
            return dot_product(product, operands, addend, self.builder)
        write = partial(self.builder.write, operands=[*operands, addend], type_=result_type)
        if is_vector:
            return write(vector.FMAOp, location=product.location)
        return write(math.FmaOp, properties={"fastmath": NO_FAST_MATH}, location=product.location)
