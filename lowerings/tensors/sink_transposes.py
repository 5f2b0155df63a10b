"""Writes the results of reductions and contractions in the order in which they are used."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, TensorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.tensors.indices import Indices, affine_map, identity, indices_of, is_permutation


def sink_transposes(block: Block) -> None:
    """
    Replaces transposes of reductions by reductions that write the transposed result.

    Only where the transpose is the only user; in all regions of the block.
    """
    op = block.first_op
    while op is not None:
        following = op.next_op
        if isinstance(op, GenericOp):
            _sink(op)
        elif not isinstance(op, FillOp):
            for region in op.regions:
                for inner in region.blocks:
                    sink_transposes(inner)
        op = following


def _sink(transpose: GenericOp) -> None:
    order = _permutation(transpose)
    if order is None:
        return
    value = transpose.inputs[0]
    reduction = value.owner
    if (
        not isinstance(reduction, GenericOp)
        or reduction.parent is not transpose.parent
        or len(reduction.res) != 1
        or not _is_used_once(value)
        or IteratorTypeAttr.reduction() not in reduction.iterator_types.data
    ):
        return
    destination = _destination(reduction, transpose.res[0].type)
    maps = [m.data for m in reduction.indexing_maps.data]
    written = indices_of(maps[-1])
    if destination is None or written is None:
        return
    sunk: list[tuple[int | None, int, int]] = list(written)
    for dimension, (loop, _, _) in enumerate(order):
        assert loop is not None
        sunk[loop] = written[dimension]
    new_map = affine_map(tuple(sunk), maps[-1].num_dims)
    new = GenericOp.create(
        operands=[*reduction.inputs, destination],
        result_types=(destination.type,),
        properties={
            **reduction.properties,
            "indexing_maps": ArrayAttr[AffineMapAttr](
                [*reduction.indexing_maps.data[:-1], new_map]
            ),
        },
        regions=[reduction.detach_region(reduction.body)],
    )
    _insert_before(new, reduction)
    transpose.res[0].replace_all_uses_with(new.res[0])
    for old in (transpose, reduction):
        old.detach()
        old.erase()


def _permutation(op: GenericOp) -> Indices | None:
    """Where a transpose reads its input; None for any other operation."""
    body = op.body.block
    if len(op.inputs) != 1 or len(op.res) != 1 or not isinstance(body.first_op, YieldOp):
        return None
    (yielded,) = body.first_op.operands
    if not isinstance(yielded, BlockArgument) or yielded.index != 0:
        return None
    rank = len(op.iterator_types.data)
    read, written = (indices_of(m.data) for m in op.indexing_maps.data)
    if read is None or written != identity(rank) or not is_permutation(read, rank):
        return None
    return None if read == identity(rank) else read


def _is_used_once(value: SSAValue) -> bool:
    return sum(1 for _ in value.uses) == 1


def _destination(reduction: GenericOp, type_: TensorType[Attribute]) -> SSAValue | None:
    """What the reduction starts from, in another order: only fills are the same in any."""
    fill = reduction.outputs[0].owner
    if not isinstance(fill, FillOp):
        return None
    empty = tensor.EmptyOp.create(result_types=(type_,))
    _insert_before(empty, reduction)
    new = FillOp.create(
        operands=(fill.inputs[0], empty.results[0]),
        result_types=(type_,),
        properties=fill.properties,
        regions=[region.clone() for region in fill.regions],
    )
    _insert_before(new, reduction)
    return new.results[0]


def _insert_before(op: Operation, anchor: Operation) -> None:
    parent = anchor.parent
    assert parent is not None
    op.location = anchor.location
    parent.insert_op_before(op, anchor)
