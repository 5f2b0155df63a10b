"""
Building structured operations: generics over affine maps, fills, slices; and `scf.for` loops on
tensors, for computations that no structured operation expresses.

The body of a `linalg.generic` is made of scalar operations. A computation with control flow or
small arrays in it runs once an element instead, in loops that update results in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import ceil
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.ir.independent_loops import LEAST_MICROSECONDS, promise_independence
from lowerings.ir.scalar_attributes import scalar_attribute, scalar_of
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.scalars import (
    INDEX,
    ScalarBuilder,
    Values,
    int_width,
    storage,
)
from xla_dialect.dimensions import DimensionRelations, FactorType, Traversal
from xla_dialect.op import XlaOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import BY_TYPE, Array, without_layout
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append
from xla_dialect.xdsl.traversal import tensor_shape


def stored(literal: DenseIntOrFPElementsAttr[Any]) -> DenseIntOrFPElementsAttr[Any]:
    """A literal with signless elements and the default layout; the bytes are shared."""
    old = cast("TensorType[Attribute]", literal.type)
    type_ = TensorType(storage(old.element_type), old.shape)
    if type_ == old:
        return literal
    data = literal.data.data
    bits = BY_TYPE[old.element_type].bits
    if isinstance(type_.element_type, IntegerType) and bits < 8:
        # xDSL holds narrow signed values sign-extended to a byte.
        unused = 8 - bits
        values = (np.frombuffer(data, np.uint8) << unused).view(np.int8) >> unused
        data = values.tobytes()
    return DenseIntOrFPElementsAttr(cast("TensorType[Any]", type_), BytesAttr(data))


Operand: TypeAlias = tuple[SSAValue, AffineMapAttr]
"""A tensor, and the map from the iteration space to its indices."""


def element_loops(
    builder: ConversionBuilder, inputs: Sequence[Operand], outputs: Sequence[Operand], body: Block
) -> Values:
    """
    The results of a `linalg.generic` with these operands and this body, which is used up.

    The last loop is the innermost: elements are combined in the order of the iteration space.
    """
    sizes = _sizes((*inputs, *outputs))

    def innermost(s: ScalarBuilder, position: Values, carried: Values) -> Values:
        outs = [(value, map_) for value, (_, map_) in zip(carried, outputs, strict=True)]
        places = [_place(s, map_, position) for _, map_ in (*inputs, *outs)]
        for (value, _), place, argument in zip((*inputs, *outs), places, body.args, strict=True):
            read = s.emit(tensor.ExtractOp, (value, *place), argument.type)
            argument.replace_all_uses_with(read)
        for op in list(body.walk()):
            if isinstance(op, IndexOp):
                op.result.replace_all_uses_with(position[op.dim.value.data])
                op.detach()
                op.erase()
        *operations, end = list(body.ops)
        end.detach()
        for op in operations:
            op.detach()
            append(s.block, op)
        written = [
            s.emit(tensor.InsertOp, (result, into, *place), into.type)
            for result, into, place in zip(
                end.operands, carried, places[len(inputs) :], strict=True
            )
        ]
        end.erase()
        return written

    def nest(builder: ConversionBuilder, position: Values, carried: Values) -> Values:
        if len(position) == len(sizes):
            return outside_of_bodies(builder, lambda s: innermost(s, position, carried))
        bounds = [constant(builder, bound, INDEX) for bound in (0, sizes[len(position)], 1)]
        return loop(
            builder,
            bounds,
            carried,
            lambda inner, index, values: nest(inner, (*position, index), values),
        )

    return nest(builder, (), [value for value, _ in outputs])


def _sizes(operands: Sequence[Operand]) -> tuple[int, ...]:
    """How many iterations each loop has, by the dimensions of tensors that it goes along."""
    found: dict[int, int] = {}
    for value, map_ in operands:
        shape = cast("TensorType[Attribute]", value.type).get_shape()
        for expression, size in zip(map_.data.results, shape, strict=True):
            if isinstance(expression, AffineDimExpr):
                found[expression.position] = size
    return tuple(found[loop] for loop in range(operands[0][1].data.num_dims))


def _place(s: ScalarBuilder, map_: AffineMapAttr, position: Values) -> list[SSAValue]:
    return [_index(s, expression, position) for expression in map_.data.results]


def _index(s: ScalarBuilder, expression: AffineExpr, position: Values) -> SSAValue:
    if isinstance(expression, AffineDimExpr):
        return position[expression.position]
    if isinstance(expression, AffineConstantExpr):
        return s.constant(expression.value, INDEX)
    assert isinstance(expression, AffineBinaryOpExpr)
    assert expression.kind in _ARITHMETIC
    both = [_index(s, side, position) for side in (expression.lhs, expression.rhs)]
    return s.emit(_ARITHMETIC[expression.kind], both)


_ARITHMETIC = {AffineBinaryOpKind.Add: arith.AddiOp, AffineBinaryOpKind.Mul: arith.MuliOp}


PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()

Body = Callable[[ScalarBuilder, Sequence[SSAValue]], Sequence[SSAValue]]
"""Makes the results of one iteration from the elements of inputs and outputs."""


def array_type(value: SSAValue) -> Array:
    """The type of a tensor value."""
    return cast(Array, value.type)


@lru_cache(4096)
def affine_map(rank: int, results: tuple[AffineExpr, ...]) -> AffineMapAttr:
    """The map of an iteration space of that rank to these expressions."""
    return AffineMapAttr(AffineMap(rank, 0, results))


@cache
def projection(rank: int, dimensions: tuple[int, ...]) -> AffineMapAttr:
    """The map to some of the dimensions, in that order: `(d0, d1, d2) -> (d2, d0)`."""
    return affine_map(rank, tuple(AffineExpr.dimension(d) for d in dimensions))


@cache
def identity(rank: int) -> AffineMapAttr:
    """The map of an iteration space to itself."""
    return projection(rank, tuple(range(rank)))


@cache
def iterators(parallel: int, reduction: int = 0) -> ArrayAttr[IteratorTypeAttr]:
    """First the parallel, then the reduction iterators."""
    return ArrayAttr([PARALLEL] * parallel + [REDUCTION] * reduction)


@dataclass(frozen=True)
class IndexingMaps:
    """How a generic that computes an operation walks through its operands and results."""

    operands: tuple[AffineMapAttr, ...]
    results: tuple[AffineMapAttr, ...]
    iterator_types: ArrayAttr[IteratorTypeAttr]


def indexing_maps(op: XlaOp) -> IndexingMaps:
    """
    The maps that follow from how the dimensions of an operation relate: a loop for each factor.

    Each dimension is one factor, walked through forwards or backwards; reductions come last.
    """
    relations = op.dimension_relations()
    assert relations is not None
    return _indexing_maps(relations)


@lru_cache(1 << 12)
def _indexing_maps(relations: DimensionRelations) -> IndexingMaps:
    factors = relations.factors
    reduced = tuple(relations.of_type(FactorType.REDUCTION))
    parallel = without(range(len(factors)), reduced)
    loops = {factor: AffineExpr.dimension(n) for n, factor in enumerate((*parallel, *reduced))}

    def index(factor: int, *, is_read: bool) -> AffineExpr:
        if is_read and factors[factor].along is Traversal.REVERSED:
            return AffineExpr.constant(factors[factor].size - 1) - loops[factor]
        return loops[factor]

    operands, results = (
        tuple(
            affine_map(len(loops), tuple(index(f, is_read=is_read) for (f,) in dimensions))
            for dimensions in arrays
        )
        for arrays, is_read in ((relations.operands, True), (relations.results, False))
    )
    return IndexingMaps(operands, results, iterators(len(parallel), len(reduced)))


@cache
def _segments(*sizes: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, sizes)


def empty(builder: ConversionBuilder, type_: Array) -> SSAValue:
    """A tensor of unspecified elements."""
    return builder.insert(create(tensor.EmptyOp, result_types=(without_layout(type_),))).results[0]


def generic(
    builder: ConversionBuilder,
    inputs: Sequence[tuple[SSAValue, AffineMapAttr]],
    outputs: Sequence[tuple[SSAValue, AffineMapAttr]],
    iterator_types: ArrayAttr[IteratorTypeAttr],
    body: Body,
) -> Sequence[SSAValue]:
    """
    A `linalg.generic`; its results.

    Every operand comes with the map from the iteration space to its indices. Where the body holds
    tensors, loops over scalars compute the same.
    """
    operands = [value for value, _ in (*inputs, *outputs)]
    block = Block(arg_types=[storage(array_type(value).element_type) for value in operands])
    scalars = ScalarBuilder(block, builder.op.location)
    results = body(scalars, block.args)
    block.add_op(create(YieldOp, operands=results))
    if scalars.holds_tensors:
        return element_loops(builder, inputs, outputs, block)
    op = create(
        GenericOp,
        operands=operands,
        result_types=[value.type for value, _ in outputs],
        properties={
            "indexing_maps": ArrayAttr([map_ for _, map_ in (*inputs, *outputs)]),
            "iterator_types": iterator_types,
            "operandSegmentSizes": _segments(len(inputs), len(outputs)),
        },
        regions=[Region(block)],
    )
    return builder.insert(op).results


def pointwise(
    builder: ConversionBuilder,
    inputs: Sequence[tuple[SSAValue, AffineMapAttr]],
    result: Array,
    body: Body,
) -> SSAValue:
    """A generic that computes every element of one new tensor from elements of the inputs."""
    rank = len(result.shape)
    outputs = ((empty(builder, result), identity(rank)),)
    return generic(builder, inputs, outputs, iterators(rank), body)[0]


def constant(builder: ConversionBuilder, value: float | int, type_: Attribute) -> SSAValue:
    """A scalar constant outside of any body."""
    return builder.insert(
        create(
            arith.ConstantOp,
            result_types=(storage(type_),),
            properties={"value": scalar_attribute(value, type_)},
        )
    ).results[0]


def fill(builder: ConversionBuilder, scalar: SSAValue, type_: Array) -> SSAValue:
    """A new tensor all of whose elements are one scalar."""
    if isinstance(type_.element_type, ComplexType):
        # xDSL 0.74.0 refuses `linalg.fill` of complex numbers.
        return pointwise(builder, (), type_, lambda _scalars, _elements: (scalar,))
    return fill_into(builder, scalar, empty(builder, type_))


def fill_into(builder: ConversionBuilder, scalar: SSAValue, destination: SSAValue) -> SSAValue:
    """`linalg.fill` of a tensor."""
    body = Block(arg_types=(scalar.type, scalar.type))
    body.add_op(create(YieldOp, operands=(body.args[0],)))
    return builder.insert(
        create(
            FillOp,
            operands=(scalar, destination),
            result_types=(destination.type,),
            properties={"operandSegmentSizes": _segments(1, 1)},
            regions=[Region(body)],
        )
    ).results[0]


def extract_scalar(builder: ConversionBuilder, value: SSAValue) -> SSAValue:
    """The element of a tensor of rank 0; a constant of a constant."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        scalar = scalar_of(cast("DenseIntOrFPElementsAttr[Any]", owner.value))
        if not isinstance(scalar, ArrayAttr):
            return builder.insert(arith.ConstantOp(cast("Any", scalar))).result
    return builder.insert(
        create(
            tensor.ExtractOp,
            operands=(value,),
            result_types=(storage(array_type(value).element_type),),
        )
    ).results[0]


def _index_list(
    values: Sequence[int | SSAValue],
) -> tuple[DenseArrayBase, list[SSAValue]]:
    static = [value if isinstance(value, int) else _DYNAMIC for value in values]
    return _integers(*static), [v for v in values if not isinstance(v, int)]


@cache
def _integers(*values: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


_DYNAMIC = -(2**63)


def extract_slice(
    builder: ConversionBuilder,
    source: SSAValue,
    offsets: Sequence[int | SSAValue],
    sizes: Sequence[int],
    strides: Sequence[int] | None = None,
    dropped: Sequence[int] = (),
) -> SSAValue:
    """`source[offset + i * stride]`, without dimensions of size 1 that are dropped."""
    if tuple(sizes) == tensor_shape(source) and not dropped:
        return source
    static_offsets, dynamic = _index_list(offsets)
    return builder.insert(
        create(
            tensor.ExtractSliceOp,
            operands=(source, *dynamic),
            result_types=(TensorType(array_type(source).element_type, without(sizes, dropped)),),
            properties={
                "static_offsets": static_offsets,
                "static_sizes": _integers(*sizes),
                "static_strides": _integers(*(strides or [1] * len(sizes))),
                "operandSegmentSizes": _segments(1, len(dynamic), 0, 0),
            },
        )
    ).results[0]


def insert_slice(
    builder: ConversionBuilder,
    source: SSAValue,
    destination: SSAValue,
    offsets: Sequence[int | SSAValue],
    strides: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
) -> SSAValue:
    """
    `destination` with the elements at `offset + i * stride` taken from `source`; `sizes` where that
    has no dimensions of size 1.
    """
    sizes = sizes or tensor_shape(source)
    static_offsets, dynamic = _index_list(offsets)
    return builder.insert(
        create(
            tensor.InsertSliceOp,
            operands=(source, destination, *dynamic),
            result_types=(destination.type,),
            properties={
                "static_offsets": static_offsets,
                "static_sizes": _integers(*sizes),
                "static_strides": _integers(*(strides or [1] * len(sizes))),
                "operandSegmentSizes": _segments(1, 1, len(dynamic), 0, 0),
            },
        )
    ).results[0]


def clamped_start(
    builder: ConversionBuilder, start: SSAValue, limit: int, signed: bool
) -> int | SSAValue:
    """The index of a start index in a tensor of rank 0, clamped to [0, limit]."""
    if limit == 0:
        return 0
    scalar = extract_scalar(builder, start)
    return outside_of_bodies(builder, lambda s: clamped_index(s, scalar, limit, signed))


MadeT = TypeVar("MadeT")


def outside_of_bodies(builder: ConversionBuilder, make: Callable[[ScalarBuilder], MadeT]) -> MadeT:
    """The scalars that `make` computes, in front of the operation that is being converted."""
    # Scalar operations go to a block of their own, then into place.
    scalars = ScalarBuilder(Block(), builder.op.location)
    result = make(scalars)
    for op in list(scalars.block.ops):
        op.detach()
        builder.insert(op)
    return result


def on_scalars(
    step: Callable[[ScalarBuilder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
) -> LoopBody:
    """The body of a loop that is made of scalar operations only."""

    def body(
        inner: ConversionBuilder, place: SSAValue, carried: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        return outside_of_bodies(inner, lambda s: step(s, place, carried))

    return body


def clamped_index(scalars: ScalarBuilder, start: SSAValue, limit: int, signed: bool) -> SSAValue:
    """
    An integer scalar as an index, clamped to [0, limit]: as it is, if it can hold the limit, for
    vectors have twice as many numbers of 32 bits as indices.
    """
    fits = not limit >> (int_width(start) - signed)
    number = start if fits else scalars.to_index(start, signed)
    top = scalars.constant(limit, number.type)
    if signed:
        number = scalars.emit(arith.MaxSIOp, (number, scalars.constant(0, number.type)))
    number = scalars.emit(arith.MinSIOp if signed else arith.MinUIOp, (number, top))
    return scalars.to_index(number, signed) if fits else number


PARTS = 16
"""In how many parts loops are divided at most: enough for a few threads to end together, few enough
for each part to have memory of its own."""

LoopBody: TypeAlias = Callable[
    [ConversionBuilder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]
]
"""From a builder in the loop, the induction variable and iteration arguments to yielded values."""


def counted_loop(
    builder: ConversionBuilder, count: int, step: int, carried: Sequence[SSAValue], body: LoopBody
) -> Sequence[SSAValue]:
    """An `scf.for` from 0 to `count` with at least one iteration; a single one is inlined."""
    if count <= step:
        return body(builder, constant(builder, 0, INDEX), carried)
    bounds = [constant(builder, bound, INDEX) for bound in (0, count, step)]
    return loop(builder, bounds, carried, body)


def shared_loop(
    builder: ConversionBuilder,
    count: int,
    step: int,
    nanoseconds: float,
    results: Sequence[SSAValue],
    scratch: Sequence[Array],
    body: LoopBody,
    most: int = PARTS,
) -> Sequence[SSAValue]:
    """
    A loop from 0 to `count`, a multiple of `step`, with independent iterations.

    An iteration writes a part of `results` that no other one reads or writes, and scratch tensors
    of the types `scratch`, which are iteration arguments of unspecified content. It takes
    `nanoseconds` times `step`. Large loops are divided into parts for threads, `most` at most, each
    with its own scratch memory; the division does not depend on the number of threads.
    """
    size = ceil(count / most / step) * step
    parts = ceil(count / size)
    microseconds = count * nanoseconds / 1000

    def carried(builder: ConversionBuilder, results: Sequence[SSAValue]) -> list[SSAValue]:
        return [*results, *(empty(builder, type_) for type_ in scratch)]

    if parts < 2 or microseconds < LEAST_MICROSECONDS:
        return counted_loop(builder, count, step, carried(builder, results), body)[: len(results)]

    def part(
        inner: ConversionBuilder, number: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        def ends(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
            first = s.emit(arith.MuliOp, (number, s.constant(size, INDEX)))
            last = s.emit(arith.AddiOp, (first, s.constant(size, INDEX)))
            return first, s.emit(arith.MinSIOp, (last, s.constant(count, INDEX)))

        first, last = outside_of_bodies(inner, ends)
        own = carried(inner, results)
        if size == step:
            return body(inner, first, own)[: len(results)]
        bounds = first, last, constant(inner, step, INDEX)
        return loop(inner, bounds, own, body)[: len(results)]

    bounds = [constant(builder, bound, INDEX) for bound in (0, parts, 1)]
    found = loop(builder, bounds, results, part)
    whole = found[0].owner
    assert isinstance(whole, scf.ForOp)
    promise_independence(whole, microseconds)
    return found


def optional_loop(
    builder: ConversionBuilder,
    condition: SSAValue,
    carried: Sequence[SSAValue],
    body: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    The iteration arguments if the condition, an i1, is false; else the results of `body` on them.

    It is a loop of one iteration or none, so that tensors are updated in place.
    """
    turns = outside_of_bodies(builder, lambda s: s.emit(IndexCastUIOp, (condition,), INDEX))
    bounds = (constant(builder, 0, INDEX), turns, constant(builder, 1, INDEX))
    return loop(builder, bounds, carried, lambda inner, _turn, values: body(inner, values))


def loop(
    builder: ConversionBuilder,
    bounds: Sequence[SSAValue],
    carried: Sequence[SSAValue],
    body: LoopBody,
) -> Sequence[SSAValue]:
    """An `scf.for`; `bounds` are the first position, the end and the step."""
    block = Block(arg_types=[INDEX, *(value.type for value in carried)])
    end = scf.YieldOp()
    end.location = builder.op.location
    block.add_op(end)
    inner = ConversionBuilder(builder.module, end)
    end.operands = body(inner, block.args[0], block.args[1:])
    return builder.insert(
        create(
            scf.ForOp,
            operands=(*bounds, *carried),
            result_types=[value.type for value in carried],
            regions=[Region(block)],
        )
    ).results
