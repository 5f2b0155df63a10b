"""`stablehlo.collective_reduce`: HLO has no operation for it; it is made of broadcasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Region, SSAValue

from xla_dialect.devices.process_grid import MAX_PROCESSES
from xla_dialect.devices.replica_groups import ListedGroups, ReplicaGroupsAttr
from xla_dialect.ops.collectives import CollectiveBroadcastOp, PartitionIdOp, ReplicaIdOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import DynamicSliceOp, ReshapeOp, SliceOp
from xla_dialect.ops.reduction import MapOp
from xla_dialect.ops.transfers import U32
from xla_dialect.stablehlo.collectives import take_groups, take_roots
from xla_dialect.stablehlo.conversion import Conversion, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.legalize.reduction import promoted
from xla_dialect.stablehlo.ops.reduction import accumulators_of
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.terms import Terms
from xla_dialect.types import S32, Array, array, as_array, fits, spell_all


def convert_collective_reduce(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    `stablehlo.collective_reduce`: the root of a group has the reduction of all, others have zeros.

    Every member in turn broadcasts its operands; their order in the group is that of the reduction.
    """
    properties = take_groups(op, conversion)
    groups = cast(ReplicaGroupsAttr, properties["replica_groups"]).data.expand()
    members = {len(group) for group in groups}
    if len(members) != 1 or 0 in members:
        op.fail(f"replica_groups have {sorted(members)} members, expected as many each")
    numbers = [number for group in groups for number in group]
    if not 0 <= min(numbers) <= max(numbers) < MAX_PROCESSES:
        ids = f"{min(numbers)} to {max(numbers)}"
        op.fail(f"replica_groups have ids from {ids}, there are {MAX_PROCESSES} processes at most")
    (computation,) = conversion.regions(op)
    if len(computation.block.args) != 2:
        op.fail(f"(C4) its computation takes {len(computation.block.args)} values, not two")
    told = take_roots(op)
    operands = conversion.operands(op)
    roots = operands.pop() if told and operands else None
    if not operands or not all(as_array(value.type) for value in operands):
        op.fail("takes arrays, at least one")
    if roots is not None and roots.type != array(S32, (len(operands),)):
        op.fail(f"(C3) the last operand is {roots.type}, not s32[{len(operands)}]")
    accumulator = accumulators_of(computation, 1)
    operands = promoted(conversion, operands, [*accumulator] * len(operands))
    position = _position(conversion, groups, properties)
    gathered = [_from(conversion, operands, groups, k, properties) for k in range(len(groups[0]))]
    results: list[SSAValue] = []
    for number, parts in enumerate(zip(*gathered, strict=True)):
        total = parts[0]
        for part in parts[1:]:
            total = _applied(conversion, computation, total, part)
        root = None if roots is None else _element(conversion, roots, number)
        results.append(_at_root(conversion, total, position, root))
    declared, found = conversion.result_types(op), [value.type for value in results]
    if not all(map(fits, found, declared)):
        op.fail(f"(Result) declared {spell_all(declared)}, found {spell_all(found)}")
    return results


def _from(
    conversion: Conversion,
    operands: Sequence[SSAValue],
    groups: Sequence[Sequence[int]],
    member: int,
    properties: Mapping[str, Attribute],
) -> Sequence[SSAValue]:
    """The operands of one member of every group: a broadcast is from the first one."""
    turned = tuple((*group[member:], *group[:member]) for group in groups)
    types = [value.type for value in operands]
    entries = {**properties, "replica_groups": ReplicaGroupsAttr(ListedGroups(turned))}
    return conversion.emit(CollectiveBroadcastOp, operands, types, entries)


def _applied(
    conversion: Conversion, computation: Region, left: SSAValue, right: SSAValue
) -> SSAValue:
    everywhere = {"dimensions": dimension_list(range(len(sizes_of(left.type))))}
    regions = [computation.clone()]
    return conversion.emit(MapOp, [left, right], [left.type], everywhere, regions)[0]


def _position(
    conversion: Conversion, groups: Sequence[Sequence[int]], properties: Mapping[str, Attribute]
) -> SSAValue:
    """Where this process stands in its group, -1 if it is in none."""
    places = {number: place for group in groups for place, number in enumerate(group)}
    # An index beyond the table is clamped to the last entry.
    numbers = [places.get(number, -1) for number in range(max(places) + 2)]
    vector = cast(Any, array(S32, (len(numbers),)))
    literal = DenseIntOrFPElementsAttr.from_list(vector, numbers)
    table = conversion.emit(ConstantOp, (), [vector], {"value": literal})
    own = PartitionIdOp if "channel_id" in properties else ReplicaIdOp
    index = conversion.emit(own, (), [array(U32, ())])
    sizes = {"dynamic_slice_sizes": dimension_list([1])}
    found = conversion.emit(DynamicSliceOp, [*table, *index], [array(S32, (1,))], sizes)
    return conversion.emit(ReshapeOp, found, [array(S32, ())])[0]


def _element(conversion: Conversion, vector: SSAValue, index: int) -> SSAValue:
    lists = {"start_indices": [index], "limit_indices": [index + 1], "strides": [1]}
    properties = {name: dimension_list(values) for name, values in lists.items()}
    found = conversion.emit(SliceOp, [vector], [array(S32, (1,))], properties)
    return conversion.emit(ReshapeOp, found, [array(S32, ())])[0]


def _at_root(
    conversion: Conversion, value: SSAValue, position: SSAValue, root: SSAValue | None
) -> SSAValue:
    """The value where this process is the root, and zeros elsewhere."""
    scalars = Terms(conversion, cast(Array, position.type))
    is_root = scalars.of(position).equals(0 if root is None else scalars.of(root))
    term = Terms(conversion, cast(Array, value.type)).of(value)
    return term.chosen(is_root, 0).value


ROWS: Mapping[str, Row] = {
    "stablehlo.collective_reduce": Row(None, convert_collective_reduce, results=None, regions=1),
}
