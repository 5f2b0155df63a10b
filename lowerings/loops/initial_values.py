"""
Reductions that start from a constant instead of from what was stored a moment before.

```mlir
linalg.fill ins(%zero) outs(%sums)             %sum = scf.for ... iter_args(%partial = %zero)
linalg.generic ... outs(%sums)           ->    memref.store %sum, %sums[...]
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.dialects.schedule import Loop, Step, outer_steps
from lowerings.ir.memref_views import VIEWS, viewed_by
from lowerings.loops.access import Access
from lowerings.loops.nest import Nest
from xla_dialect.xdsl.traversal import ins_of

WITHOUT_MEMORY_EFFECT = (
    *VIEWS,
    arith.ConstantOp,
    memref.AllocOp,
    memref.AllocaOp,
    memref.GetGlobalOp,
)
"""Operations that may stand between the one that fills a memref and the one that reduces."""


def filled_with(op: Operation) -> dict[SSAValue, SSAValue]:
    """
    The memrefs or tensors that an operation fills, all over, each with its scalar; empty if it is
    none.

    The scalar may be a constant inside of the operation.
    """
    if isinstance(op, FillOp):
        return {(op.results or op.outputs)[0]: op.inputs[0]}
    if type(op) is not GenericOp or ins_of(op) or not all(map(_is_permutation, op.indexing_maps)):
        return {}
    terminator = op.body.block.last_op
    assert terminator is not None
    result: dict[SSAValue, SSAValue] = {}
    for target, value in zip(op.results or op.outputs, terminator.operands, strict=True):
        owner = value.owner
        is_inside = not isinstance(owner, Operation) or owner.parent is op.body.block
        if is_inside and not isinstance(owner, arith.ConstantOp):
            return {}
        result[target] = value
    return result


def _is_permutation(attribute: AffineMapAttr) -> bool:
    """Whether a map gives each dimension once and nothing else."""
    results = attribute.data.results
    dimensions = {index.position for index in results if isinstance(index, AffineDimExpr)}
    return len(dimensions) == len(results) == attribute.data.num_dims


def fillers_before(op: Operation) -> dict[SSAValue, Operation]:
    """The operations that fill an operand: a tensor, or a memref, then right before `op`."""
    result: dict[SSAValue, Operation] = {}
    if op.results:
        owners = {value: value.owner for value in op.operands}
        return {v: o for v, o in owners.items() if isinstance(o, Operation) and v in filled_with(o)}
    buffers: dict[SSAValue, SSAValue] = {}
    previous = op.prev_op
    while previous is not None:
        filled = filled_with(previous)
        if not filled and not isinstance(previous, WITHOUT_MEMORY_EFFECT):
            break
        for target in filled:
            if buffers.setdefault(viewed_by(target), target) is not target:
                return result
        for target in filled:
            result.setdefault(target, previous)
        previous = previous.prev_op
    return result


def covers_memref(nest: Nest, access: Access) -> bool:
    """Whether the nest writes every element of the memref exactly once, apart from reductions."""
    points, reach = 1, 0
    for stride, extent in sorted(zip(map(abs, access.strides or ()), nest.extents, strict=False)):
        if stride * (extent - 1):
            if stride <= reach:
                return False
            points *= extent
            reach += stride * (extent - 1)
    return points == prod(access.type.get_shape())


def starts_before_reductions(nest: Nest, steps: Sequence[Step], output: int) -> bool:
    """Whether all loops that reduce an output are inside those that choose its element."""
    mask = nest.mask[nest.accumulators[output]]
    loops = [step.dimension for step in steps if isinstance(step, Loop)]
    own = [i for i, dimension in enumerate(loops) if mask >> dimension & 1]
    reducing = [i for i, dimension in enumerate(loops) if nest.is_reduction[dimension]]
    around = steps[: outer_steps(steps)]
    if any(isinstance(step, Loop) and nest.is_reduction[step.dimension] for step in around):
        return False
    return not own or not reducing or max(own) < min(reducing)


def foldable_fills(nest: Nest, steps: Sequence[Step]) -> dict[int, Operation]:
    """The outputs that may start from what they are filled with, with the operations that do it."""
    if not any(nest.is_reduction):
        return {}
    fillers = fillers_before(nest.op)
    operands = list(nest.op.operands)
    folded: dict[int, Operation] = {}
    for output, access in enumerate(nest.outputs):
        filler = fillers.get(access.memref)
        if (
            filler is not None
            and operands.count(access.memref) == 1
            and covers_memref(nest, access)
            and starts_before_reductions(nest, steps, output)
        ):
            folded[output] = filler
    used = {nest.outputs[output].memref for output in folded}
    return {o: filler for o, filler in folded.items() if set(filled_with(filler)) <= used}


def fold_fills(nest: Nest, fills: Mapping[int, Operation]) -> Nest:
    """The nest with some outputs starting from what operations before it fill them with."""

    def scalar(output: int) -> SSAValue | None:
        filler = fills.get(output)
        if filler is None:
            return None
        value = filled_with(filler)[nest.outputs[output].memref]
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and owner.parent_op() is filler:
            return arith.ConstantOp(owner.value, value.type).result
        return value

    return replace(nest, initial=tuple(map(scalar, range(len(nest.outputs)))))
