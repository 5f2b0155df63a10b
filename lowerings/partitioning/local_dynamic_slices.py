"""Dynamic slices, and updates of them, of arrays that are divided where they begin."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

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
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import DynamicSliceOp, DynamicUpdateSliceOp
from xla_dialect.ops.elementwise import AndOp, SelectOp, SubtractOp


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
    places = _clamped(local, starts, taken)
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
    places = _clamped(local, starts, written)
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


def _clamped(
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


RULES: dict[type[XlaOp], LocalRule] = {
    DynamicSliceOp: LocalRule(admits_slice, dynamic_slice),
    DynamicUpdateSliceOp: LocalRule(admits_update, dynamic_update_slice),
}
