"""What operations make of dynamic dimensions of their operands, where it is more than one rule.

Elements beyond the size at run time take part in nothing. `shared_dimensions` says which dimensions
of different operands have to be of one size, `undefined` what has no meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation, SSAValue

from xla_dialect.op import decode
from xla_dialect.ops.contraction import ConvolutionOp, DotOp, RaggedDotOp, ScaledDotOp
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.data_movement import BitcastOp, ConcatenateOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.ops.reduction import SelectAndScatterOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.dynamic_size import DynamicSize
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.shapes.window import WindowDimension
from xla_dialect.types import Array, is_array, sizes_of

Dimensions: TypeAlias = Sequence[tuple[int, int]]
"""Numbers of operands, each with one of its dimensions."""
_Faults: TypeAlias = Iterator[tuple[int, int, str]]
"""An operand, one of its dimensions, and why that cannot be dynamic."""


def _rank(value: SSAValue) -> int:
    return cast(Array, value.type).get_num_dims()


def _listed(attribute: DenseArrayBase[Any]) -> tuple[int, ...]:
    return decode(attribute)


def _of_concatenate(op: ConcatenateOp) -> Iterator[Dimensions]:
    for d in without(range(_rank(op.inputs[0])), [decode(op.dimension)]):
        yield [(i, d) for i in range(len(op.inputs))]


def _of_dot(op: DotOp) -> Iterator[Dimensions]:
    for mine, theirs in (
        (op.lhs_batch_dims, op.rhs_batch_dims),
        (op.lhs_contracting_dims, op.rhs_contracting_dims),
    ):
        for d, other in zip(_listed(mine), _listed(theirs), strict=True):
            yield [(0, d), (1, other)]


def _of_convolution(op: ConvolutionOp) -> Iterator[Dimensions]:
    if decode(op.feature_group_count) == 1:
        labels = op.dim_labels.data
        yield [(0, labels.lhs.index("f")), (1, labels.rhs.index("i"))]


def _of_scatter(op: ScatterOp) -> Iterator[Dimensions]:
    count = len(op.inputs)
    updates = range(count + 1, 2 * count + 1)
    for d in range(_rank(op.inputs[0])):
        yield [(i, d) for i in range(count)]
    window = _listed(op.update_window_dims)
    for p in window:
        yield [(i, p) for i in updates]
    places = without(range(_rank(op.updates[0])), window)
    indices = without(range(_rank(op.scatter_indices)), [decode(op.index_vector_dim)])
    for g, p in zip(indices, places, strict=True):
        yield [(count, g), *((i, p) for i in updates)]


def _of_select_and_scatter(op: SelectAndScatterOp) -> Iterator[Dimensions]:
    for d, dimension in enumerate(op.window.data.dimensions):
        if not moves(dimension):
            yield [(0, d), (1, d)]


def _of_cholesky(op: CholeskyOp) -> Iterator[Dimensions]:
    rank = _rank(op.a)
    yield [(0, rank - 2), (0, rank - 1)]


def _of_triangular_solve(op: TriangularSolveOp) -> Iterator[Dimensions]:
    rank = _rank(op.a)
    for d in range(rank - 2):
        yield [(0, d), (1, d)]
    yield [(0, rank - 2), (0, rank - 1), (1, rank - (2 if decode(op.left_side) else 1))]


def _of_batch_norm(
    op: BatchNormTrainingOp | BatchNormInferenceOp | BatchNormGradOp,
) -> Iterator[Dimensions]:
    feature = decode(op.feature_index)
    for d in range(_rank(op.operand)):
        arrays = [(i, d) for i, x in enumerate(op.operands) if _rank(x) > 1 or not i]
        vectors = [(i, 0) for i, x in enumerate(op.operands) if i and _rank(x) == 1]
        if _rank(op.operand) == 1:
            # All of them are vectors then.
            arrays, vectors = arrays + vectors, []
        yield arrays + vectors if d == feature else arrays


_SHARED: Mapping[type[Operation], Callable[[Any], Iterator[Dimensions]]] = {
    BatchNormGradOp: _of_batch_norm,
    BatchNormInferenceOp: _of_batch_norm,
    BatchNormTrainingOp: _of_batch_norm,
    CholeskyOp: _of_cholesky,
    ConcatenateOp: _of_concatenate,
    ConvolutionOp: _of_convolution,
    DotOp: _of_dot,
    ScatterOp: _of_scatter,
    SelectAndScatterOp: _of_select_and_scatter,
    TriangularSolveOp: _of_triangular_solve,
}


def shared_dimensions(op: Operation) -> tuple[Dimensions, ...]:
    """
    The groups of dimensions of operands whose elements belong together.

    At run time the smallest size in a group is that of all of them. Operations that take elements
    of several arrays of one shape together are not among these.
    """
    find = _SHARED.get(type(op))
    return () if find is None else tuple(find(op))


def moves(dimension: WindowDimension) -> bool:
    """Whether a window does anything along a dimension: if not, it meets every element once."""
    return dimension != WindowDimension(1)


def _all_of(reason: str) -> Callable[[Operation], _Faults]:
    def faults(op: Operation) -> _Faults:
        for i, operand in enumerate(op.operands):
            for d in range(_rank(operand)):
                yield i, d, reason

    return faults


def _select_and_scatter_faults(op: SelectAndScatterOp) -> _Faults:
    for d, dimension in enumerate(op.window.data.dimensions):
        if moves(dimension):
            yield 0, d, "the window slides along it"
            yield 1, d, "the window slides along it"


def _convolution_faults(op: ConvolutionOp) -> _Faults:
    labels = op.dim_labels.data
    lhs, rhs = labels.lhs_order(), labels.rhs_order()
    for d in rhs[2:]:
        yield 1, d, "the size of the window is fixed"
    if decode(op.feature_group_count) > 1:
        for i, d in ((0, lhs[1]), (1, rhs[0]), (1, rhs[1])):
            yield i, d, "features are in groups"
    if decode(op.batch_group_count) > 1:
        for i, d in ((0, lhs[0]), (1, rhs[0])):
            yield i, d, "batches are in groups"


def _bitcast_convert_faults(op: BitcastConvertOp) -> _Faults:
    if _rank(op.result) < _rank(op.operand):
        yield 0, _rank(op.operand) - 1, "its elements become one"


def _fft_faults(op: FftOp) -> _Faults:
    rank = _rank(op.operand)
    for d in range(rank - len(_listed(op.fft_length)), rank):
        yield 0, d, "the length of the transform is fixed"


def _topk_faults(op: TopkOp) -> _Faults:
    yield 0, _rank(op.operand) - 1, "it may have fewer than k elements"


def _gather_faults(op: GatherOp) -> _Faults:
    yield 1, decode(op.index_vector_dim), "it holds the parts of an index"


def _scatter_faults(op: ScatterOp) -> _Faults:
    count = len(op.inputs)
    yield count, decode(op.index_vector_dim), "it holds the parts of an index"
    whole = whole_windows(op)
    for i in range(count + 1, 2 * count + 1):
        for p in _listed(op.update_window_dims):
            if p not in whole:
                yield i, p, "its windows do not take in all of a dimension"


def whole_windows(op: ScatterOp) -> dict[int, int]:
    """
    The window dimensions of the updates along which windows have a place and size of their own.

    For each the dimension of the inputs, all of which it takes in.
    """
    dropped = (*_listed(op.inserted_window_dims), *_listed(op.input_batching_dims))
    sizes = sizes_of(cast(Array, op.inputs[0].type))
    windows = sizes_of(cast(Array, op.updates[0].type))
    kept = without(range(len(sizes)), dropped)
    indexed = _listed(op.scatter_dims_to_operand_dims)
    return {
        p: d
        for p, d in zip(_listed(op.update_window_dims), kept, strict=True)
        if d not in indexed and windows[p] == sizes[d]
    }


_FAULTS: Mapping[type[Operation], Callable[[Any], _Faults]] = {
    BitcastConvertOp: _bitcast_convert_faults,
    BitcastOp: _all_of("bytes in memory have no dynamic sizes"),
    ConvolutionOp: _convolution_faults,
    FftOp: _fft_faults,
    GatherOp: _gather_faults,
    RaggedDotOp: _all_of("groups and dynamic sizes do not go together"),
    ScaledDotOp: _all_of("blocks and dynamic sizes do not go together"),
    ScanOp: _all_of("the number of steps and what they take are fixed"),
    ScatterOp: _scatter_faults,
    SelectAndScatterOp: _select_and_scatter_faults,
    TopkOp: _topk_faults,
}


def undefined(op: Operation) -> str | None:
    """Why dynamic dimensions of the operands have no meaning for an operation; None if they do."""
    find = _FAULTS.get(type(op))
    for i, d, reason in () if find is None else find(op):
        type_ = op.operands[i].type
        if is_array(type_):
            sizes = sizes_of(cast(Array, type_))
            if d < len(sizes) and isinstance(sizes[d], DynamicSize):
                return f"dimension {d} of operand {i} cannot be dynamic: {reason}"
    return None
