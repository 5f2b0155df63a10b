"""Dynamic slices, gathers and scatters of arrays that are divided where indices point."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes

from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_operation import (
    BlockedDimension,
    LocalOperation,
    LocalRule,
    has_property_sizes,
    is_divisible,
    started_once,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import fold_of, neutral_number
from xla_dialect.builder import XlaValue
from xla_dialect.dimensions import FactorType, Traversal
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import DynamicSliceOp, DynamicUpdateSliceOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.types import S32


def admits_indexed(division: Division, factor: int, atoms: Atoms) -> bool:
    """
    Whether devices have parts of what indices point into, or of what they are applied to.

    Where an array is read each device has some of the elements, and the result is folded. Where it
    is written each skips what falls outside of its part; or each writes some of the updates.
    """
    found = division.relations.factors[factor]
    if found.along is not Traversal.INDEXED or not is_divisible(division, factor, atoms):
        return False
    return found.type is not FactorType.REDUCTION or fold_of(division.op) is not None


def dynamic_slice(local: LocalOperation) -> Sequence[XlaValue]:
    """
    What of the slice falls into the part of this device, elsewhere what changes nothing in a sum.

    Along a dimension of which one element is taken there is all of it or nothing. Else the part
    gets room for all of the slice on both sides.
    """
    b, taken = local.b, local.integers("dynamic_slice_sizes")
    divided = _divided(local, range(len(taken)))
    sizes = has_property_sizes(local, 0, taken)
    for d in divided:
        sizes[d] = taken[d]
    if not divided:
        return local.again(local.operands, dynamic_slice_sizes=sizes)
    value, *starts = local.operands
    fill = _neutral(local, value)
    for d in divided:
        value = value if taken[d] == 1 else b.without_tail(value, local.blocked(0, d), fill)
    value, places, inside = _with_room(local, value, starts, taken, fill)
    # Places outside of the part and its rooms are clamped into them.
    made = b.dynamic_slice(value, places, sizes)
    return [made if inside is None else b.select(b.broadcast(inside, sizes), made, fill)]


def dynamic_update_slice(local: LocalOperation) -> Sequence[XlaValue]:
    """
    Each device writes what falls into its part.

    Where one element is written that is all of it, or what has been there. Else the update is
    written into the part with room for all of it on both sides, at a place that is in this room
    where nothing falls into the part.
    """
    b, (value, update, *starts) = local.b, local.operands
    if not _divided(local, range(len(starts))):
        return local.again(local.operands)
    sizes, written = value.shape, update.shape
    value, places, inside = _with_room(local, value, starts, written, None)
    if inside is not None:
        old = b.dynamic_slice(value, places, written)
        update = b.select(b.broadcast(inside, written), update, old)
    # A place outside of the part and its rooms is clamped into them.
    made = b.dynamic_update_slice(value, update, places)
    for d, size in enumerate(sizes):
        room = (made.shape[d] - size) // 2
        made = b.piece(made, d, room, room + size)
    return [made]


def _divided(local: LocalOperation, mapped: Sequence[int]) -> dict[int, int]:
    """The dimensions of the operand that are divided where parts of an index point, by these."""
    relations = local.division.relations
    found = ((part, d, local.factor_of(0, d)) for part, d in enumerate(mapped))
    return {
        part: d
        for part, d, factor in found
        if factor is not None and not is_regular(relations, factor)
    }


def _with_room(
    local: LocalOperation,
    value: XlaValue,
    starts: Sequence[XlaValue],
    taken: Sequence[int],
    fill: XlaValue | None,
) -> tuple[XlaValue, list[XlaValue], XlaValue | None]:
    """
    A part with room for all that is taken on both sides where that is more than an element; the
    places in it; and whether the single elements are in the part, if there are any.
    """
    b, inside = local.b, None
    wholes = local.division.operand_sizes[0]
    places = [
        b.clamped_indices(start, max(wholes[d], size) - size)
        for d, (start, size) in enumerate(zip(starts, taken, strict=True))
    ]
    for d in _divided(local, range(len(taken))):
        here, room = local.blocked(0, d), taken[d]
        places[d] = _relative(local, places[d], here)
        if room == 1:
            inside = _both(inside, b.inside(places[d], here.block))
        else:
            value, places[d] = b.padded(value, d, room, room, fill), places[d] + room
    return value, places, inside


def _relative(local: LocalOperation, places: XlaValue, here: BlockedDimension) -> XlaValue:
    """s32 places of the whole array, counted from where the part begins."""
    return places - local.b.begin_of_block(here.atoms, here.block)


def _both(first: XlaValue | None, second: XlaValue) -> XlaValue:
    return second if first is None else first & second


def _neutral(local: LocalOperation, value: XlaValue) -> XlaValue:
    """What changes nothing where results are folded."""
    fold = fold_of(local.op)
    assert fold is not None
    return local.b.scalar(neutral_number(fold, value.element_type), value.element_type)


def gather(local: LocalOperation) -> Sequence[XlaValue]:
    """
    Where an index points into the part of this device its element, else what a sum ignores.

    Indices are clamped as those of the whole array, then count from where the part begins.
    """
    b, (value, indices) = local.b, local.operands
    whole = local.integers("slice_sizes")
    slice_sizes = has_property_sizes(local, 0, whole)
    for d in local.integers("operand_batching_dims"):
        slice_sizes[d] = min(whole[d], 1)
    mapped, vector = local.integers("start_index_map"), _vector(local)
    picked = _divided(local, mapped)
    if not picked:
        return local.again([value, indices], slice_sizes=slice_sizes)
    wholes = local.division.operand_sizes[0]
    parts = [
        b.clamped_indices(part, wholes[d] - whole[d])
        for part, d in zip(_components(local, indices, vector), mapped, strict=True)
    ]
    moved, mask = _in_part(local, parts, vector, picked)
    # Positions outside are clamped by the gather itself.
    (made,) = local.again([value, moved], slice_sizes=slice_sizes)
    places = [d for d in range(made.rank) if d not in local.integers("offset_dims")]
    sizes = [n for d, n in enumerate(mask.shape) if d != vector]
    mask = b.broadcast_in_dim(b.reshape(mask, sizes), made.shape, places)
    return [b.select(mask, made, _neutral(local, made))]


def _vector(local: LocalOperation) -> int:
    """The dimension of indices along which there are the parts of one."""
    assert isinstance(local.op, GatherOp | ScatterOp)
    return local.op.index_vector_dim.value.data


def _components(local: LocalOperation, indices: XlaValue, vector: int) -> Sequence[XlaValue]:
    """The parts of indices, each with size 1 along their dimension."""
    if vector == indices.rank:
        return [indices]
    return [local.b.piece(indices, vector, i, i + 1) for i in range(indices.shape[vector])]


def _in_part(
    local: LocalOperation, parts: Sequence[XlaValue], vector: int, picked: dict[int, int]
) -> tuple[XlaValue, XlaValue]:
    """s32 indices that count from where the part begins, and whether they point into it."""
    found, mask = list(parts), None
    for i, d in picked.items():
        here = local.blocked(0, d)
        found[i] = _relative(local, found[i], here)
        mask = _both(mask, local.b.inside(found[i], here.block))
    assert mask is not None
    return local.b.joined(found, vector), mask


def scatter(local: LocalOperation) -> Sequence[XlaValue]:
    """Indices count from where the part begins; those outside, and of padding, are skipped."""
    op, b = local.op, local.b
    assert isinstance(op, ScatterOp)
    operands, count, vector = list(local.operands), len(op.inputs), _vector(local)
    indices = operands[count]
    picked = _divided(local, local.integers("scatter_dims_to_operand_dims"))
    if picked:
        parts = _components(local, _wide(local, indices), vector)
        indices, mask = _in_part(local, parts, vector, picked)
        # An index with a part of -1 is outside of every array.
        mask = b.broadcast_in_dim(mask, indices.shape, range(indices.rank))
        indices = b.select(mask, indices, -1)
    operands[count] = _without_padded_updates(local, indices, count)
    operands[0] = started_once(local, 0)
    return local.again(operands)


def _wide(local: LocalOperation, indices: XlaValue) -> XlaValue:
    """Indices as s32; what is too large for any array stays so."""
    b, largest = local.b, 2**31 - 1
    if _largest(indices) > largest:
        return b.clamped_indices(indices, largest, -1)
    return b.converted(indices, S32)


def _largest(indices: XlaValue) -> int:
    return int(ml_dtypes.iinfo(numpy_dtype(indices.element_type)).max)


def _without_padded_updates(local: LocalOperation, indices: XlaValue, operand: int) -> XlaValue:
    """Indices of updates that are padding point outside."""
    relations = local.division.relations
    for d in range(indices.rank):
        factor = local.factor_of(operand, d)
        if factor is not None and relations.factors[factor].type is FactorType.REDUCTION:
            fill = local.b.scalar(_largest(indices), indices.element_type)
            indices = local.b.without_tail(indices, local.blocked(operand, d), fill)
    return indices


RULES: dict[type[XlaOp], LocalRule] = {
    DynamicSliceOp: LocalRule(dynamic_slice, admits=admits_indexed),
    DynamicUpdateSliceOp: LocalRule(dynamic_update_slice, admits=admits_indexed),
    GatherOp: LocalRule(gather, admits=admits_indexed),
    ScatterOp: LocalRule(scatter, admits=admits_indexed),
}
