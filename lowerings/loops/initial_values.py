"""
Reductions that start from a constant instead of from what was stored a moment before.

```mlir
linalg.fill ins(%zero) outs(%sums)             %sum = scf.for ... iter_args(%partial = %zero)
linalg.generic ... outs(%sums)           ->    memref.store %sum, %sums[...]
```
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.loops.body import Body
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.nest import Access, Nest
from lowerings.loops.schedule import Schedule

VIEWS = (
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ReinterpretCastOp,
    memref.SubviewOp,
    memref.ViewOp,
)

WITHOUT_MEMORY_EFFECT = (
    *VIEWS,
    arith.ConstantOp,
    memref.AllocOp,
    memref.AllocaOp,
    memref.GetGlobalOp,
)
"""Operations that may stand between the one that fills a memref and the one that reduces."""


def filled_with(op: Operation, constants: FunctionConstants) -> dict[SSAValue, SSAValue]:
    """The memrefs that an operation fills, all over, each with its scalar; empty if it is none."""
    if isinstance(op, FillOp):
        return {op.outputs[0]: op.inputs[0]}
    if (
        not isinstance(op, GenericOp)
        or op.inputs
        or not all(map(_is_permutation, op.indexing_maps))
    ):
        return {}
    terminator = op.body.block.last_op
    assert terminator is not None
    result: dict[SSAValue, SSAValue] = {}
    for target, value in zip(op.outputs, terminator.operands, strict=True):
        owner = value.owner
        if isinstance(owner, arith.ConstantOp):
            value = constants.attribute(owner.value, owner.result.type)
        elif not isinstance(owner, Operation) or owner.parent is op.body.block:
            return {}
        result[target] = value
    return result


def _is_permutation(attribute: AffineMapAttr) -> bool:
    """Whether a map gives each dimension once and nothing else."""
    results = attribute.data.results
    dimensions = {index.position for index in results if isinstance(index, AffineDimExpr)}
    return len(dimensions) == len(results) == attribute.data.num_dims


def buffer_of(value: SSAValue) -> SSAValue:
    """The memref that a chain of views starts from."""
    while isinstance(value.owner, VIEWS):
        value = value.owner.operands[0]
    return value


def fillers_before(op: Operation, constants: FunctionConstants) -> dict[SSAValue, Operation]:
    """The operations right before `op` that fill a memref, by the memref."""
    result: dict[SSAValue, Operation] = {}
    buffers: dict[SSAValue, SSAValue] = {}
    previous = op.prev_op
    while previous is not None:
        filled = filled_with(previous, constants)
        if not filled and not isinstance(previous, WITHOUT_MEMORY_EFFECT):
            break
        for target in filled:
            if buffers.setdefault(buffer_of(target), target) is not target:
                return result
        for target in filled:
            result.setdefault(target, previous)
        previous = previous.prev_op
    return result


def covers_memref(nest: Nest, access: Access) -> bool:
    """Whether the nest writes every element of the memref exactly once, apart from reductions."""
    memref_type = access.memref.type
    assert isinstance(memref_type, MemRefType)
    if access.recast:
        return False
    dimensions = [index.position for index in access.indices if isinstance(index, AffineDimExpr)]
    points = prod(nest.extents[d] for d in dimensions)
    return len(set(dimensions)) == len(dimensions) and points == prod(memref_type.get_shape())


def starts_before_reductions(nest: Nest, body: Body, schedule: Schedule, output: int) -> bool:
    """Whether all loops that reduce an output are inside those that choose its element."""
    mask = body.mask[body.accumulators[output]]
    own = [i for i, loop in enumerate(schedule.loops) if mask >> loop.dimension & 1]
    reducing = [i for i, loop in enumerate(schedule.loops) if nest.is_reduction[loop.dimension]]
    return not own or not reducing or max(own) < min(reducing)


def fold_initial_values(
    nest: Nest, body: Body, schedule: Schedule | None, constants: FunctionConstants
) -> tuple[Nest, list[Operation]]:
    """
    The nest starting from constants where its outputs are filled just before.

    Also returns the operations that are thereby without effect. Without a schedule, all loops
    that reduce are promised to be innermost.
    """
    if not any(nest.is_reduction):
        return nest, []
    fillers = fillers_before(nest.op, constants)
    operands = list(nest.op.operands)
    folded: dict[int, SSAValue] = {}
    for output, access in enumerate(nest.outputs):
        filler = fillers.get(access.memref)
        if (
            filler is not None
            and operands.count(access.memref) == 1
            and covers_memref(nest, access)
            and (schedule is None or starts_before_reductions(nest, body, schedule, output))
        ):
            folded[output] = filled_with(filler, constants)[access.memref]
    used = {nest.outputs[output].memref for output in folded}
    dead: list[Operation] = []
    for filler in dict.fromkeys(fillers.values()):
        targets = set(filled_with(filler, constants))
        if targets <= used:
            dead.append(filler)
        else:
            folded = {o: v for o, v in folded.items() if nest.outputs[o].memref not in targets}
    initial = tuple(folded.get(output) for output in range(len(nest.outputs)))
    return replace(nest, initial=initial), dead
