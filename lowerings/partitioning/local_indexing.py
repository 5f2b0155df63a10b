"""Gathers and scatters of arrays that are divided where indices point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import ml_dtypes
from xdsl.ir import Attribute, SSAValue

from lowerings.partitioning.factor_atoms import Division, is_regular
from lowerings.partitioning.folds import fold_of, neutral_number
from lowerings.partitioning.local_builder import array_type, shape_of
from lowerings.partitioning.local_operation import (
    LocalOperation,
    LocalRule,
    has_property_sizes,
    integer_list,
)
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.dimensions import FactorType, Traversal
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.elementwise import AndOp, SelectOp, SubtractOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.types import PRED, S32, Array, array


def admits_gather(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """Whether one element of a divided dimension is picked: others have it, and it is masked."""
    found = division.relations.factors[factor]
    return (
        found.along is Traversal.INDEXED
        and found.type is FactorType.REDUCTION
        and fold_of(op) is not None
        and neutral_number(fold_of(op) or "", _element_type(op)) is not None
    )


def _element_type(op: XlaOp) -> Attribute:
    return cast(Array, op.result_types[0]).element_type


def gather(local: LocalOperation) -> Sequence[SSAValue]:
    """
    Where an index points into the part of this device its element, else what a sum ignores.

    Indices are clamped as those of the whole array, then count from where the part begins.
    """
    op = local.op
    assert isinstance(op, GatherOp)
    value, indices = local.operands
    slice_sizes = has_property_sizes(local, 0, local.integers("slice_sizes"))
    whole = local.integers("slice_sizes")
    picked = _divided_places(local, local.integers("start_index_map"))
    for d in local.integers("operand_batching_dims"):
        slice_sizes[d] = min(whole[d], 1)
    sized = {"slice_sizes": integer_list(slice_sizes)}
    if not picked:
        return local.again([value, indices], sized)
    b, vector = local.b, op.index_vector_dim.value.data
    limits = [local.division.operand_sizes[0][d] - whole[d] for d in _mapped(local)]
    moved = _clamped(local, indices, vector, limits)
    moved, mask = _relative(local, moved, vector, picked)
    # Positions outside are clamped by the gather itself.
    (made,) = local.again([value, moved], sized)
    places = [d for d in range(len(shape_of(made))) if d not in local.integers("offset_dims")]
    type_ = array(PRED, shape_of(made))
    properties = {"dimensions": integer_list(places)}
    spread = b.insert(BroadcastOp.make([mask], properties, result_types=[type_])).results[0]
    fold = fold_of(op)
    assert fold is not None
    neutral = neutral_number(fold, array_type(made).element_type)
    return [b.select(spread, made, b.constant(neutral))]


def _mapped(local: LocalOperation) -> tuple[int, ...]:
    name = "start_index_map" if isinstance(local.op, GatherOp) else "scatter_dims_to_operand_dims"
    return local.integers(name)


def _divided_places(local: LocalOperation, mapped: Sequence[int]) -> dict[int, int]:
    """The parts of an index that point into divided dimensions, and these."""
    found: dict[int, int] = {}
    for part, d in enumerate(mapped):
        factor = local.factor_of(0, d)
        if factor is not None and not is_regular(local.division.relations, factor):
            found[part] = d
    return found


def _clamped(
    local: LocalOperation, indices: SSAValue, vector: int, limits: Sequence[int]
) -> SSAValue:
    """Indices as s32, each between 0 and its limit."""
    b = local.b
    if vector == len(shape_of(indices)):
        return b.clamped_indices(indices, limits[0])
    parts = [
        b.clamped_indices(b.slice(indices, vector, i, i + 1), limit)
        for i, limit in enumerate(limits)
    ]
    return b.concatenate(parts, vector)


def _relative(
    local: LocalOperation, indices: SSAValue, vector: int, picked: dict[int, int]
) -> tuple[SSAValue, SSAValue]:
    """s32 indices that count from where the part begins, and whether they point into it."""
    b, mask = local.b, cast("SSAValue | None", None)
    has_vector = vector < len(shape_of(indices))
    parts = (
        [b.slice(indices, vector, i, i + 1) for i in range(shape_of(indices)[vector])]
        if has_vector
        else [indices]
    )
    for i, d in picked.items():
        here, part = local.blocked(0, d), parts[i]
        sizes = shape_of(part)
        origin = b.by_block(here.atoms, [q * here.block for q in range(here.parts)])
        moved = b.emit(SubtractOp, part, b.splat(origin, sizes))
        parts[i] = moved
        above = b.compare(moved, ComparisonDirection.GE, b.constant(0))
        below = b.compare(moved, ComparisonDirection.LT, b.constant(here.block))
        inside = b.emit(AndOp, above, below)
        if has_vector:
            inside = b.reshape(inside, [*sizes[:vector], *sizes[vector + 1 :]])
        mask = b.both(mask, inside)
    assert mask is not None
    return (b.concatenate(parts, vector) if has_vector else parts[0]), mask


def admits_scatter(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """
    Whether windows are one element thick where the operand is divided, or updates are folded.

    A device skips what falls outside of its part; or each scatters some of the updates.
    """
    found = division.relations.factors[factor]
    if found.along is not Traversal.INDEXED:
        return False
    if found.type is FactorType.REDUCTION:
        return fold_of(op) is not None
    return found.type is FactorType.PASS_THROUGH


def scatter(local: LocalOperation) -> Sequence[SSAValue]:
    """Indices count from where the part begins; those outside, and of padding, are skipped."""
    op = local.op
    assert isinstance(op, ScatterOp)
    count = len(op.inputs)
    operands = list(local.operands)
    indices = operands[count]
    vector = op.index_vector_dim.value.data
    picked = _divided_places(local, _mapped(local))
    if picked:
        element_type = array_type(indices).element_type
        indices = _wide(local, indices, element_type)
        indices, mask = _relative(local, indices, vector, picked)
        indices = _skipped(local, indices, mask, vector)
    operands[count] = _without_padded_updates(local, indices, count)
    return local.again(operands)


def _wide(local: LocalOperation, indices: SSAValue, element_type: object) -> SSAValue:
    """Indices as s32; what is too large for any array stays so."""
    b, largest = local.b, 2**31 - 1
    info = ml_dtypes.iinfo(numpy_dtype(array_type(indices).element_type))
    if int(info.max) > largest:
        return b.clamped_indices(indices, largest, -1)
    return b.convert(indices, S32)


def _skipped(local: LocalOperation, indices: SSAValue, mask: SSAValue, vector: int) -> SSAValue:
    """Where the mask does not hold all parts of an index are -1, outside of every array."""
    b, sizes = local.b, shape_of(indices)
    places = [d for d in range(len(sizes)) if d != vector]
    properties = {"dimensions": integer_list(places)}
    spread = BroadcastOp.make([mask], properties, result_types=[array(PRED, sizes)])
    return b.emit(SelectOp, b.insert(spread).results[0], indices, b.splat(b.constant(-1), sizes))


def _without_padded_updates(local: LocalOperation, indices: SSAValue, operand: int) -> SSAValue:
    """Indices of updates that are padding point outside."""
    relations = local.division.relations
    for d in range(len(shape_of(indices))):
        factor = local.factor_of(operand, d)
        here = local.blocked(operand, d)
        if factor is None or here.parts == 1 or here.size % here.parts == 0:
            continue
        if relations.factors[factor].type is FactorType.REDUCTION:
            element_type = array_type(indices).element_type
            start = local.b.by_block(here.atoms, [q * here.block for q in range(here.parts)])
            outside = int(ml_dtypes.iinfo(numpy_dtype(element_type)).max)
            fill = local.b.scalar(outside, element_type)
            indices = local.b.masked(indices, d, start, here.size, fill)
    return indices


RULES: dict[type[XlaOp], LocalRule] = {
    GatherOp: LocalRule(admits_gather, gather),
    ScatterOp: LocalRule(admits_scatter, scatter),
}
