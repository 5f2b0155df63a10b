"""The pass `linalg-fold-reshapes-by-expansion`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.reshapes import reshape, reshape_steps
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ReportingPass
from lowerings.tensors.fusion_graph import Node, node_of, view_of
from lowerings.tensors.indices import Index, Indices, affine_map
from lowerings.tensors.purity import is_pure
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import ins_of, tensor_shape

Sizes: TypeAlias = tuple[int, ...]
Groups: TypeAlias = dict[int, Sizes]
"""For loops that become several: the sizes of those."""


class LinalgFoldReshapesByExpansionPass(ReportingPass):
    """
    Lets producers and users of reshapes iterate over the expanded dimensions, so that they can
    fuse (MLIR's `populateFoldReshapeOpsByExpansionPatterns`).

    An elementwise operation whose only use is expanded computes the expanded result; one that
    reads the collapsed result of an elementwise operation reads that before it is collapsed. What
    remains are reshapes of tensors in memory, which move nothing.

    ```
    %0 = linalg.generic {.. parallel} ins(%x : tensor<6xf32>) ... { exp }
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 3]
    // becomes
    %0 = tensor.expand_shape %x [[0, 1]] output_shape [2, 3]
    %1 = linalg.generic {.. parallel, parallel} ins(%0 : tensor<2x3xf32>) ... { exp }
    ```
    """

    name = "linalg-fold-reshapes-by-expansion"
    takes = ON_TENSORS

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every block from the outside in."""
        changed = _fold_reshapes(op.body.block)
        if changed:
            remove_dead_code(op.body.block, is_pure)
        return changed


def _fold_reshapes(block: Block) -> bool:
    """Folds reshapes in a block and the regions in it; whether there were any to fold."""
    changed = False
    op = block.first_op
    while op is not None:
        following = op.next_op
        pending: list[tensor.ExpandShapeOp] = []
        if type(op) is GenericOp:
            changed |= attempt(partial(_read_before_collapse, op, pending), is_made=bool) or False
        elif type(op) is tensor.ExpandShapeOp or type(op) is tensor.CollapseShapeOp:
            shorter = attempt(partial(_shorten, op), is_made=lambda found: found is not None)
            if shorter is not None:
                following, changed = shorter, True
            elif type(op) is tensor.ExpandShapeOp:
                pending.append(op)
        elif op.regions and type(op) is not FillOp:
            for region in op.regions:
                for inner in region.blocks:
                    changed |= _fold_reshapes(inner)
        while pending:
            folding = partial(_compute_expanded, pending.pop(), pending)
            changed |= attempt(folding, is_made=bool) or False
        op = following
    return changed


def _shorten(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> Operation | None:
    """Replaces a reshape of reshapes by a shorter one, if there is; its first operation then."""
    source, length = op.src, 1
    while isinstance(source.owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp):
        source, length = source.owner.src, length + 1
    target = tensor_shape(op.result)
    if len(reshape_steps(tensor_shape(source), target)) >= length:
        return None
    block, previous = op.parent, op.prev_op
    assert block is not None
    op.result.replace_all_uses_with(reshape(source, target, op))
    following = op.next_op
    erase(op)
    first = block.first_op if previous is None else previous.next_op
    return following if first is None else first


def _group_sizes(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp, expanded: Sizes) -> list[Sizes]:
    """For each dimension of the collapsed side the sizes on the expanded one."""
    reassociation = cast("ArrayAttr[ArrayAttr[IntegerAttr[Any]]]", op.reassociation)
    return [tuple(expanded[d.value.data] for d in group) for group in reassociation.data]


def _elementwise(value: SSAValue) -> Node | None:
    owner = value.owner
    node = node_of(owner, 0) if isinstance(owner, GenericOp) else None
    return node if node is not None and node.is_pointwise else None


def _compute_expanded(op: tensor.ExpandShapeOp, pending: list[tensor.ExpandShapeOp]) -> bool:
    node = _elementwise(op.src)
    if node is None or view_of(op, 0) is not None or not op.src.has_one_use():
        return False
    if node.op.parent is not op.parent or len(node.op.res) != 1:
        return False
    sizes = _group_sizes(op, tensor_shape(op.result))
    groups = {d: s for d, s in enumerate(sizes) if len(s) > 1}
    collapsed = _expand(node, groups, pending)
    if collapsed is None:
        return False
    replace_uses(op.result, collapsed[0].src)
    return True


def _read_before_collapse(op: GenericOp, pending: list[tensor.ExpandShapeOp]) -> bool:
    for value in ins_of(op):
        owner = value.owner
        if (
            not isinstance(owner, tensor.CollapseShapeOp)
            or view_of(owner, 0) is not None
            or _elementwise(owner.src) is None
        ):
            continue
        node = node_of(op, 0)
        if node is None or node.is_contraction:
            return False
        indices = dict(node.inputs)[value]
        groups: Groups = {}
        for (loop, _, _), sizes in zip(
            indices, _group_sizes(owner, tensor_shape(owner.src)), strict=True
        ):
            if loop is not None and len(sizes) > 1:
                groups[loop] = sizes
        if groups:
            return _expand(node, groups, pending) is not None
    return False


def _expand(
    node: Node, groups: Groups, pending: list[tensor.ExpandShapeOp]
) -> list[tensor.CollapseShapeOp] | None:
    """
    Replaces a node by one whose loops are divided; gives the reshapes back to its results.

    None where an operand is not indexed by whole loops. Expansions of operands go to `pending`.
    """
    op = node.op
    accesses = [indices for _, indices in node.inputs] + list(node.outputs)
    if not all(_is_divisible(indices, groups) for indices in accesses):
        return None
    numbers: list[list[int]] = []
    count = 0
    for loop in range(len(node.sizes)):
        parts = len(groups.get(loop, (0,)))
        numbers.append(list(range(count, count + parts)))
        count += parts
    operands = [
        _expanded(operand, indices, groups, op)
        for operand, indices in zip(op.operands, accesses, strict=True)
    ]
    pending.extend(o.owner for o in operands if isinstance(o.owner, tensor.ExpandShapeOp))
    maps = [affine_map(_divided(indices, numbers), count) for indices in accesses]
    kinds = [
        kind
        for loop, kind in enumerate(op.iterator_types.data)
        for _ in range(len(groups.get(loop, (0,))))
    ]
    outputs = operands[len(op.inputs) :]
    body = op.detach_region(op.body)
    _replace_positions(body.block, numbers, groups)
    new = create(
        GenericOp,
        operands=operands,
        result_types=[value.type for value in outputs],
        properties={
            **op.properties,
            "indexing_maps": ArrayAttr(maps),
            "iterator_types": ArrayAttr(kinds),
        },
        regions=[body],
    )
    insert_before(new, op)
    collapsed: list[tensor.CollapseShapeOp] = []
    for result, old, indices in zip(new.res, op.res, node.outputs, strict=True):
        back = create(
            tensor.CollapseShapeOp,
            operands=(result,),
            result_types=(old.type,),
            properties={"reassociation": _reassociation(indices, groups)},
        )
        insert_before(back, op)
        replace_uses(old, back.result)
        collapsed.append(back)
    erase(op)
    return collapsed


def _is_divisible(indices: Indices, groups: Groups) -> bool:
    return all(index[0] not in groups or index[1:] == (1, 0) for index in indices)


def _divided(indices: Indices, numbers: Sequence[Sequence[int]]) -> Indices:
    """The indices in terms of the new loops."""
    found: list[Index] = []
    for loop, scale, offset in indices:
        if loop is None:
            found.append((None, scale, offset))
        else:
            found.extend((number, scale, offset) for number in numbers[loop])
    return tuple(found)


def _dimension_groups(indices: Indices, groups: Groups) -> list[int]:
    """Into how many dimensions each dimension of an operand is divided."""
    return [1 if loop is None else len(groups.get(loop, (0,))) for loop, _, _ in indices]


def _reassociation(indices: Indices, groups: Groups) -> ArrayAttr[ArrayAttr[Attribute]]:
    found: list[ArrayAttr[Attribute]] = []
    position = 0
    for count in _dimension_groups(indices, groups):
        found.append(ArrayAttr([IntegerAttr(position + i, i64) for i in range(count)]))
        position += count
    return ArrayAttr(found)


def _expanded(value: SSAValue, indices: Indices, groups: Groups, anchor: GenericOp) -> SSAValue:
    """An operand with its dimensions divided; before `anchor`."""
    shape: list[int] = []
    for (loop, _, _), size in zip(indices, tensor_shape(value), strict=True):
        shape.extend((size,) if loop is None else groups.get(loop, (size,)))
    if tuple(shape) == tensor_shape(value):
        return value
    type_ = TensorType(cast("TensorType[Attribute]", value.type).element_type, shape)
    owner = value.owner
    match owner:
        case tensor.CollapseShapeOp() if owner.src.type == type_:
            return owner.src
        case tensor.EmptyOp():
            new: Operation = create(tensor.EmptyOp, result_types=(type_,))
        case FillOp():
            destination = _expanded(owner.outputs[0], indices, groups, anchor)
            new = create(
                FillOp,
                operands=(owner.inputs[0], destination),
                result_types=(type_,),
                properties=owner.properties,
                regions=[region.clone() for region in owner.regions],
            )
        case _:
            new = create(
                tensor.ExpandShapeOp,
                operands=(value,),
                result_types=(type_,),
                properties={
                    "reassociation": _reassociation(indices, groups),
                    "static_output_shape": DenseArrayBase.from_list(i64, shape),
                },
            )
    return insert_before(new, anchor).results[0]


def _replace_positions(body: Block, numbers: Sequence[Sequence[int]], groups: Groups) -> None:
    """`linalg.index` of a divided loop becomes what its parts amount to."""
    for op in list(body.ops):
        if not isinstance(op, IndexOp):
            continue
        loop = op.dim.value.data
        first, *rest = numbers[loop]
        value: SSAValue = _position(first, op)
        for number, size in zip(rest, groups.get(loop, (0,))[1:], strict=True):
            factor = insert_before(arith.ConstantOp(IntegerAttr(size, IndexType())), op)
            whole = insert_before(arith.MuliOp(value, factor.result), op)
            total = arith.AddiOp(whole.result, _position(number, op))
            value = insert_before(total, op).result
        op.result.replace_all_uses_with(value)
        erase(op)


def _position(loop: int, anchor: Operation) -> SSAValue:
    return insert_before(IndexOp(loop), anchor).result
