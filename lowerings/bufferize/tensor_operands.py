"""
What operations of the tensors level do with their tensor operands: read, view, overwrite.

A *destination* is an operand whose buffer the result may take over: `outs` of linalg operations,
`dest` of `tensor.insert_slice` and `tensor.insert`. A *view* is a result that can be the same
memory as its operand, seen with other strides.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xla_dialect.xdsl.traversal import ins_of, operands_of, operations_in, outs_of

__all__ = [
    "LINALG_OPERATIONS",
    "captured_tensors",
    "destination_of_result",
    "is_linalg_operation",
    "is_permutation",
    "is_tensor",
    "linalg_inputs",
    "linalg_outputs",
    "overwrites_destination",
    "slice_put_back",
    "transposed_dimensions",
    "view_source",
]

LINALG_OPERATIONS: tuple[type[Operation], ...] = (
    linalg.GenericOp,
    linalg.FillOp,
    linalg.CopyOp,
    linalg.TransposeOp,
    linalg.BroadcastOp,
    linalg.ReduceOp,
    linalg.MatmulOp,
    linalg.AddOp,
    linalg.SubOp,
    linalg.MulOp,
    linalg.MaxOp,
    linalg.MinOp,
    linalg.ExpOp,
    linalg.LogOp,
    linalg.SqrtOp,
    linalg.SelectOp,
)
"""The linalg operations that are bufferized; all but `linalg.generic` are met in tests mostly."""

_LINALG_OPERATIONS = frozenset(LINALG_OPERATIONS)
_ACCUMULATING = (linalg.ReduceOp, linalg.MatmulOp)
_WITHOUT_SEGMENTS = frozenset((linalg.BroadcastOp, linalg.ReduceOp, linalg.TransposeOp))
_VIEWS = (
    tensor.ExtractSliceOp,
    tensor.CollapseShapeOp,
    tensor.ExpandShapeOp,
    tensor.ReshapeOp,
    tensor.CastOp,
)


def is_tensor(value: SSAValue) -> bool:
    return type(value.type) is TensorType


def is_linalg_operation(op: Operation) -> bool:
    return type(op) in _LINALG_OPERATIONS


def linalg_inputs(op: Operation) -> Sequence[SSAValue]:
    """The `ins` of a linalg operation."""
    return ins_of(op) if type(op) not in _WITHOUT_SEGMENTS else operands_of(op)[:1]


def linalg_outputs(op: Operation) -> Sequence[SSAValue]:
    """The `outs` of a linalg operation."""
    return outs_of(op) if type(op) not in _WITHOUT_SEGMENTS else operands_of(op)[1:]


def is_permutation(affine_map: AffineMap) -> bool:
    """Whether every loop of the map walks exactly one dimension of the operand."""
    seen = {expr.position for expr in affine_map.results if isinstance(expr, AffineDimExpr)}
    return len(seen) == len(affine_map.results) == affine_map.num_dims


def transposed_dimensions(op: Operation) -> tuple[int, ...] | None:
    """
    For an operation that only transposes its input, which dimension of that each dimension of the
    result is; None for any other operation.
    """
    if type(op) is not linalg.GenericOp or len(ins_of(op)) != 1 or len(outs_of(op)) != 1:
        return None
    yielded = op.body.block.first_op
    if not isinstance(yielded, linalg.YieldOp) or yielded.operands[0] is not op.body.block.args[0]:
        return None
    read, written = (map_.data for map_ in op.indexing_maps.data)
    if not is_permutation(read) or not is_permutation(written):
        return None
    dimension_of = {expr.position: d for d, expr in enumerate(_loops(read))}
    return tuple(dimension_of[expr.position] for expr in _loops(written))


def _loops(map_: AffineMap) -> list[AffineDimExpr]:
    return [expr for expr in map_.results if isinstance(expr, AffineDimExpr)]


def overwrites_destination(op: Operation, output: int) -> bool:
    """Whether a linalg operation writes all of this `outs` operand without reading it."""
    if type(op) is linalg.GenericOp:
        block = op.body.block
        count = len(ins_of(op))
        argument = block.args[count + output]
        if argument.first_use is not None:
            return False
        return is_permutation(op.indexing_maps.data[count + output].data)
    return not isinstance(op, _ACCUMULATING)


def slice_put_back(op: Operation, output: int) -> tensor.InsertSliceOp | None:
    """
    The insertion of a result of a linalg operation into the very place that this `outs` operand was
    taken from, perhaps by way of other operations on it, as its fill; None unless that is all that
    becomes of the slice, the results and the tensor.
    """
    start, result = linalg_outputs(op)[output], op.results[output]
    while isinstance(start, OpResult) and is_linalg_operation(start.op) and start.has_one_use():
        start = linalg_outputs(start.op)[start.index]
    taken, put_back = start.owner, result.get_user_of_unique_use()
    while put_back is not None and is_linalg_operation(put_back):
        destinations = linalg_outputs(put_back)
        if result not in destinations:
            return None
        result = put_back.results[destinations.index(result)]
        put_back = result.get_user_of_unique_use()
    if not isinstance(taken, tensor.ExtractSliceOp) or not taken.result.has_one_use():
        return None
    if not isinstance(put_back, tensor.InsertSliceOp) or put_back.source is not result:
        return None
    if put_back.dest is not taken.source or put_back.parent is not op.parent:
        return None
    if {use.operation for use in put_back.dest.uses} != {taken, put_back}:
        return None
    same = all(
        getattr(taken, name) == getattr(put_back, name)
        for name in ("static_offsets", "static_sizes", "static_strides")
    )
    dynamic = (taken.offsets, put_back.offsets), (taken.sizes, put_back.sizes)
    return put_back if same and all(tuple(a) == tuple(b) for a, b in dynamic) else None


def captured_tensors(region: Region) -> list[tensor.ExtractOp]:
    """The `tensor.extract` operations in the body of a linalg operation."""
    return [op for op in operations_in(region) if type(op) is tensor.ExtractOp]


def destination_of_result(op: Operation, index: int) -> SSAValue | None:
    """
    The operand whose content result `index` starts from, and whose buffer it would like to take
    over; None for operations without one, or that write all of the result anyway.
    """
    if type(op) is tensor.InsertSliceOp or type(op) is tensor.InsertOp:
        return operands_of(op)[1]
    if is_linalg_operation(op) and not overwrites_destination(op, index):
        return linalg_outputs(op)[index]
    return None


def view_source(op: Operation) -> SSAValue | None:
    """The operand that the result of `op` is a view of; None if it is not a view."""
    return operands_of(op)[0] if type(op) in _VIEWS else None
