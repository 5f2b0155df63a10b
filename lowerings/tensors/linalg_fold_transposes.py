"""The pass `linalg-fold-transposes`."""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ReportingPass
from lowerings.tensors.indices import Indices, affine_map, identity, indices_of, is_permutation
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import ins_of


class LinalgFoldTransposesPass(ReportingPass):
    """
    Folds transposes into the reductions and contractions that they are the only users of.

    The indexing map of the result is permuted, so that it is written as it is read.

    ```
    %0 = linalg.generic {indexing_maps = [.., (i, j, k) -> (i, j)]} ins(%x, %y) ... { mulf, addf }
    %1 = linalg.generic {indexing_maps = [(i, j) -> (j, i), (i, j) -> (i, j)]} ins(%0) ... { }
    // becomes
    %1 = linalg.generic {indexing_maps = [.., (i, j, k) -> (j, i)]} ins(%x, %y) ... { mulf, addf }
    ```
    """

    name = "linalg-fold-transposes"
    takes = ON_TENSORS

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every block from the outside in."""
        return _fold_transposes(op.body.block)


def _fold_transposes(block: Block) -> bool:
    """Folds transposes in a block and the regions in it; whether there were any to fold."""
    changed = False
    op = block.first_op
    while op is not None:
        following = op.next_op
        if type(op) is GenericOp:
            changed |= attempt(partial(_fold, op), is_made=bool) or False
        elif op.regions and type(op) is not FillOp:
            for region in op.regions:
                for inner in region.blocks:
                    changed |= _fold_transposes(inner)
        op = following
    return changed


def _fold(transpose: GenericOp) -> bool:
    order = _permutation(transpose)
    if order is None:
        return False
    value = transpose.inputs[0]
    reduction = value.owner
    if (
        not isinstance(reduction, GenericOp)
        or reduction.parent is not transpose.parent
        or len(reduction.res) != 1
        or not value.has_one_use()
        or IteratorTypeAttr.reduction() not in reduction.iterator_types.data
    ):
        return False
    destination = _destination(reduction, transpose.res[0].type)
    maps = [m.data for m in reduction.indexing_maps.data]
    written = indices_of(maps[-1])
    if destination is None or written is None:
        return False
    permuted: list[tuple[int | None, int, int]] = list(written)
    for dimension, (loop, _, _) in enumerate(order):
        assert loop is not None
        permuted[loop] = written[dimension]
    new_map = affine_map(tuple(permuted), maps[-1].num_dims)
    new = create(
        GenericOp,
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
    insert_before(new, reduction)
    transpose.res[0].replace_all_uses_with(new.res[0])
    for old in (transpose, reduction):
        erase(old)
    return True


def _permutation(op: GenericOp) -> Indices | None:
    """Where a transpose reads its input; None for any other operation."""
    body = op.body.block
    if len(op.results) != 1 or len(ins_of(op)) != 1 or not isinstance(body.first_op, YieldOp):
        return None
    (yielded,) = body.first_op.operands
    if not isinstance(yielded, BlockArgument) or yielded.index != 0:
        return None
    rank = len(op.iterator_types.data)
    read, written = (indices_of(m.data) for m in op.indexing_maps.data)
    if read is None or written != identity(rank) or not is_permutation(read, rank):
        return None
    return None if read == identity(rank) else read


def _destination(reduction: GenericOp, type_: TensorType[Attribute]) -> SSAValue | None:
    """What the reduction starts from, in another order: only fills are the same in any."""
    fill = reduction.outputs[0].owner
    if not isinstance(fill, FillOp):
        return None
    empty = create(tensor.EmptyOp, result_types=(type_,))
    insert_before(empty, reduction)
    new = create(
        FillOp,
        operands=(fill.inputs[0], empty.results[0]),
        result_types=(type_,),
        properties=fill.properties,
        regions=[region.clone() for region in fill.regions],
    )
    return insert_before(new, reduction).results[0]
