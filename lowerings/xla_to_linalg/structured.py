"""Building structured operations: generics over affine maps, fills, slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from lowerings.ir.scalar_attributes import scalar_attribute
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.dense import scalar_of
from lowerings.xla_to_linalg.element_loops import element_loops
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from xla_dialect.dimensions import DimensionRelations, FactorType, Traversal
from xla_dialect.op import XlaOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import Array, without_layout
from xla_dialect.xdsl.creation import create

PARALLEL = IteratorTypeAttr.parallel()
REDUCTION = IteratorTypeAttr.reduction()

Body = Callable[[ScalarBuilder, Sequence[SSAValue]], Sequence[SSAValue]]
"""Makes the results of one iteration from the elements of inputs and outputs."""


def array_type(value: SSAValue) -> Array:
    """The type of a tensor value."""
    return cast(Array, value.type)


def sizes_of(value: SSAValue) -> tuple[int, ...]:
    """The dimension sizes of a tensor value."""
    return array_type(value).get_shape()


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
        return outside_of_bodies(builder, lambda s: element_loops(s, inputs, outputs, block))
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
) -> SSAValue:
    """`source[offset + i * stride]`, of the same rank."""
    if tuple(sizes) == sizes_of(source):
        return source
    static_offsets, dynamic = _index_list(offsets)
    return builder.insert(
        create(
            tensor.ExtractSliceOp,
            operands=(source, *dynamic),
            result_types=(TensorType(array_type(source).element_type, sizes),),
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
) -> SSAValue:
    """`destination` with the elements at `offset + i * stride` taken from `source`."""
    sizes = sizes_of(source)
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


def clamped_index(scalars: ScalarBuilder, start: SSAValue, limit: int, signed: bool) -> SSAValue:
    """An integer scalar as an index, clamped to [0, limit]."""
    index = scalars.to_index(start, signed)
    top = scalars.constant(limit, INDEX)
    if not signed:
        return scalars.emit(arith.MinUIOp, (index, top))
    return scalars.emit(
        arith.MinSIOp, (scalars.emit(arith.MaxSIOp, (index, scalars.constant(0, INDEX))), top)
    )
