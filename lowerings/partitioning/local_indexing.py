"""Dynamic slices, gathers and scatters of arrays that are divided where indices point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import ml_dtypes
from xdsl.ir import SSAValue

from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_operation import (
    BlockedDimension,
    LocalOperation,
    LocalRule,
    array_type,
    has_property_sizes,
    integer_list,
    is_divisible,
    shape_of,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import fold_of, neutral_number
from xla_dialect.dimensions import FactorType, Traversal
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import DynamicSliceOp, DynamicUpdateSliceOp
from xla_dialect.ops.elementwise import SelectOp, SubtractOp
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


def dynamic_slice(local: LocalOperation) -> Sequence[SSAValue]:
    """
    What of the slice falls into the part of this device, elsewhere what changes nothing in a sum.

    Along a dimension of which one element is taken there is all of it or nothing. Else the part
    gets room for all of the slice on both sides.
    """
    value, *starts = local.operands
    taken = local.integers("dynamic_slice_sizes")
    divided = _divided(local, range(len(taken)))
    sizes = has_property_sizes(local, 0, taken)
    for d in divided:
        sizes[d] = taken[d]
    if not divided:
        return local.again(local.operands, {"dynamic_slice_sizes": integer_list(sizes)})
    b = local.b
    fold = fold_of(local.op)
    assert fold is not None
    neutral = neutral_number(fold, array_type(value).element_type)
    assert neutral is not None
    fill, inside = b.constant(neutral), None
    places = _clamped_places(local, starts, taken)
    for d in divided:
        here = local.blocked(0, d)
        places[d] = _relative(local, places[d], here)
        if taken[d] == 1:
            inside = b.both(inside, b.inside(places[d], here.block))
            continue
        value = b.pad(b.without_tail(value, here, fill), d, taken[d], taken[d], fill)
        places[d] = b.plus(places[d], b.constant(taken[d]))
    # Places outside of the part and its rooms are clamped into them.
    made = b.emit(DynamicSliceOp, value, places, dynamic_slice_sizes=sizes)
    if inside is not None:
        made = b.select(b.splat(inside, shape_of(made)), made, fill)
    return [made]


def dynamic_update_slice(local: LocalOperation) -> Sequence[SSAValue]:
    """
    Each device writes what falls into its part.

    Where one element is written that is all of it, or what has been there. Else the update is
    written into the part with room for all of it on both sides, at a place that is in this room
    where nothing falls into the part.
    """
    value, update, *starts = local.operands
    b, rooms, inside = local.b, dict[int, int](), None
    written = shape_of(update)
    divided = _divided(local, range(len(starts)))
    if not divided:
        return local.again(local.operands)
    places = _clamped_places(local, starts, written)
    for d in divided:
        here, room = local.blocked(0, d), written[d]
        places[d] = _relative(local, places[d], here)
        if room == 1:
            inside = b.both(inside, b.inside(places[d], here.block))
            continue
        value = b.pad(value, d, room, room)
        places[d] = b.plus(places[d], b.constant(room))
        rooms[d] = room
    if inside is not None:
        old = b.emit(DynamicSliceOp, value, places, dynamic_slice_sizes=list(written))
        update = b.emit(SelectOp, b.splat(inside, written), update, old)
    # A place outside of the part and its rooms is clamped into them.
    made = b.emit(DynamicUpdateSliceOp, value, update, places)
    for d, room in rooms.items():
        made = b.slice(made, d, room, shape_of(made)[d] - room)
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


def _relative(local: LocalOperation, places: SSAValue, here: BlockedDimension) -> SSAValue:
    """s32 places of the whole array, counted from where the part begins."""
    begin = local.b.begin_of_block(here.atoms, here.block)
    return local.b.emit(SubtractOp, places, local.b.splat(begin, shape_of(places)))


def _clamped_places(
    local: LocalOperation, starts: Sequence[SSAValue], taken: Sequence[int]
) -> list[SSAValue]:
    """The places as s32, where so many elements from there are in the whole array."""
    wholes = local.division.operand_sizes[0]
    return [
        local.b.clamped_indices(start, max(wholes[d], size) - size)
        for d, (start, size) in enumerate(zip(starts, taken, strict=True))
    ]


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
    picked = _divided(local, local.integers("start_index_map"))
    for d in local.integers("operand_batching_dims"):
        slice_sizes[d] = min(whole[d], 1)
    sized = {"slice_sizes": integer_list(slice_sizes)}
    if not picked:
        return local.again([value, indices], sized)
    b, vector = local.b, op.index_vector_dim.value.data
    limits = [
        local.division.operand_sizes[0][d] - whole[d] for d in local.integers("start_index_map")
    ]
    moved = _clamped(local, indices, vector, limits)
    moved, mask = _in_part(local, moved, vector, picked)
    # Positions outside are clamped by the gather itself.
    (made,) = local.again([value, moved], sized)
    places = [d for d in range(len(shape_of(made))) if d not in local.integers("offset_dims")]
    fold = fold_of(op)
    assert fold is not None
    neutral = neutral_number(fold, array_type(made).element_type)
    return [b.select(b.broadcast(mask, places, shape_of(made)), made, b.constant(neutral))]


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


def _in_part(
    local: LocalOperation, indices: SSAValue, vector: int, picked: dict[int, int]
) -> tuple[SSAValue, SSAValue]:
    """s32 indices that count from where the part begins, and whether they point into it."""
    b, mask = local.b, cast("SSAValue | None", None)
    sizes = shape_of(indices)
    has_vector = vector < len(sizes)
    count = sizes[vector] if has_vector else 0
    parts = [b.slice(indices, vector, i, i + 1) for i in range(count)] or [indices]
    for i, d in picked.items():
        here = local.blocked(0, d)
        parts[i] = _relative(local, parts[i], here)
        inside = b.inside(parts[i], here.block)
        if has_vector:
            inside = b.reshape(inside, [*sizes[:vector], *sizes[vector + 1 :]])
        mask = b.both(mask, inside)
    assert mask is not None
    return (b.concatenate(parts, vector) if has_vector else parts[0]), mask


def scatter(local: LocalOperation) -> Sequence[SSAValue]:
    """Indices count from where the part begins; those outside, and of padding, are skipped."""
    op = local.op
    assert isinstance(op, ScatterOp)
    count = len(op.inputs)
    operands = list(local.operands)
    indices = operands[count]
    vector = op.index_vector_dim.value.data
    picked = _divided(local, local.integers("scatter_dims_to_operand_dims"))
    if picked:
        indices = _wide(local, indices)
        indices, mask = _in_part(local, indices, vector, picked)
        indices = _skipped(local, indices, mask, vector)
    operands[count] = _without_padded_updates(local, indices, count)
    return local.again(operands)


def _wide(local: LocalOperation, indices: SSAValue) -> SSAValue:
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
    return b.select(b.broadcast(mask, places, sizes), indices, b.constant(-1))


def _without_padded_updates(local: LocalOperation, indices: SSAValue, operand: int) -> SSAValue:
    """Indices of updates that are padding point outside."""
    relations = local.division.relations
    for d in range(len(shape_of(indices))):
        factor = local.factor_of(operand, d)
        if factor is not None and relations.factors[factor].type is FactorType.REDUCTION:
            element_type = array_type(indices).element_type
            outside = int(ml_dtypes.iinfo(numpy_dtype(element_type)).max)
            fill = local.b.scalar(outside, element_type)
            indices = local.b.without_tail(indices, local.blocked(operand, d), fill)
    return indices


RULES: dict[type[XlaOp], LocalRule] = {
    DynamicSliceOp: LocalRule(dynamic_slice, admits=admits_indexed),
    DynamicUpdateSliceOp: LocalRule(dynamic_update_slice, admits=admits_indexed),
    GatherOp: LocalRule(gather, admits=admits_indexed),
    ScatterOp: LocalRule(scatter, admits=admits_indexed),
}
