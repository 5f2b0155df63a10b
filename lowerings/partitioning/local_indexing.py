"""Dynamic slices, gathers and scatters of arrays that are divided where indices point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import ml_dtypes
from xdsl.ir import Attribute, SSAValue

from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_operation import (
    LocalOperation,
    LocalRule,
    array_type,
    has_property_sizes,
    integer_list,
    shape_of,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import fold_of, neutral_number
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.dimensions import FactorType, Traversal
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import BroadcastOp, DynamicSliceOp, DynamicUpdateSliceOp
from xla_dialect.ops.elementwise import AndOp, SelectOp, SubtractOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.types import PRED, S32, Array, array


def admits_slice(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """The operand may be divided where a part of it is taken, the result may not."""
    return division.relations.factors[factor].type is FactorType.REDUCTION


def dynamic_slice(local: LocalOperation) -> Sequence[SSAValue]:
    """
    What of the slice falls into the part of this device, elsewhere what changes nothing in a sum.

    Along a dimension of which one element is taken there is all of it or nothing. Else the part
    gets room for all of the slice on both sides.
    """
    value, *starts = local.operands
    taken = local.integers("dynamic_slice_sizes")
    divided = _divided(local, len(taken))
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
        origin = b.by_block(here.atoms, [q * here.block for q in range(here.parts)])
        places[d] = b.emit(SubtractOp, places[d], origin)
        if taken[d] == 1:
            inside = b.both(inside, _is_in_part(local, places[d], here.block))
            continue
        if here.size % here.parts:
            value = b.masked(value, d, origin, here.size, fill)
        value = b.pad(value, d, taken[d], taken[d], fill)
        places[d] = b.plus(places[d], b.constant(taken[d]))
    # Places outside of the part and its rooms are clamped into them.
    made = b.emit(DynamicSliceOp, value, places, dynamic_slice_sizes=sizes)
    if inside is not None:
        made = b.select(b.splat(inside, shape_of(made)), made, fill)
    return [made]


def admits_update(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """The operand may be divided where it is updated, the update may not."""
    found = division.relations.factors[factor]
    return found.along is Traversal.INDEXED and found.type is FactorType.PASS_THROUGH


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
    divided = _divided(local, len(starts))
    if not divided:
        return local.again(local.operands)
    places = _clamped_places(local, starts, written)
    for d in divided:
        here, room = local.blocked(0, d), written[d]
        origin = b.by_block(here.atoms, [q * here.block for q in range(here.parts)])
        places[d] = b.emit(SubtractOp, places[d], origin)
        if room == 1:
            inside = b.both(inside, _is_in_part(local, places[d], here.block))
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


def _divided(local: LocalOperation, rank: int) -> list[int]:
    """The dimensions of the operand that are divided where places point."""
    found = ((d, local.factor_of(0, d)) for d in range(rank))
    relations = local.division.relations
    return [d for d, factor in found if factor is not None and not is_regular(relations, factor)]


def _clamped_places(
    local: LocalOperation, starts: Sequence[SSAValue], taken: Sequence[int]
) -> list[SSAValue]:
    """The places as s32, where so many elements from there are in the whole array."""
    wholes = local.division.operand_sizes[0]
    return [
        local.b.clamped_indices(start, max(wholes[d], size) - size)
        for d, (start, size) in enumerate(zip(starts, taken, strict=True))
    ]


def _is_in_part(local: LocalOperation, place: SSAValue, block: int) -> SSAValue:
    b = local.b
    above = b.compare(place, ComparisonDirection.GE, b.constant(0))
    below = b.compare(place, ComparisonDirection.LT, b.constant(block))
    return b.emit(AndOp, above, below)


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
    DynamicSliceOp: LocalRule(admits_slice, dynamic_slice),
    DynamicUpdateSliceOp: LocalRule(admits_update, dynamic_update_slice),
    GatherOp: LocalRule(admits_gather, gather),
    ScatterOp: LocalRule(admits_scatter, scatter),
}
