"""
Collectives: StableHLO exchanges blocks along two dimensions, HLO along one or operand by operand;
HLO has no `collective_reduce`, which is made of broadcasts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    ModuleOp,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypeAttribute

from xla_dialect.devices.replica_groups import ListedGroups, ReplicaGroupsAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous
from xla_dialect.ops import collectives as xla
from xla_dialect.ops.asynchronous import as_one
from xla_dialect.ops.collectives import CollectiveOp, process_counts
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.data_movement import DynamicSliceOp, ReshapeOp, TransposeOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import MapOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.stablehlo.attributes import FutureType, Inexpressible, integers
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.from_xla import (
    FromXla,
    LegalizeFromXla,
    Tree,
    discardable,
    flat,
)
from xla_dialect.stablehlo.op import StableHloOp, applied_to_two
from xla_dialect.stablehlo.ops import collectives as stablehlo
from xla_dialect.stablehlo.ops import data_movement
from xla_dialect.stablehlo.terms import Terms, term_of
from xla_dialect.types import S32, U32, Array, array, flatten, tuple_of
from xla_dialect.xdsl.operation_table import OperationTable


def convert_sum(op: stablehlo.CrossReplicaSumOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.cross-replica-sum`."""
    (operand,) = conversion.operands(op)
    regions = [applied_to_two(AddOp, cast(Array, operand.type).element_type, ReturnOp)]
    return conversion.replaced(op, xla.AllReduceOp, op.xla_properties(), regions)


def each_of_xla(op: XlaOp, legalization: FromXla) -> Sequence[SSAValue]:
    """
    One operation with a result for each operand: StableHLO's takes one.

    Of broadcasts with told roots there is one for all.
    """
    if isinstance(op, xla.CollectiveBroadcastOp) and op.has_dynamic_root.value.data:
        return legalization.same(op, stablehlo.CollectiveBroadcastOp)
    op_class, operands = _EACH[type(op)], legalization.operands(op)
    is_permute = op_class is stablehlo.CollectivePermuteOp
    types = [value.type for value in operands] if is_permute else legalization.result_types(op)
    properties, results = op_class.properties_of(op), list[SSAValue]()
    for operand, type_ in zip(operands, types, strict=True):
        regions = list(map(legalization.region, op.regions))
        made = legalization.emit(op_class, [operand], [type_], properties, regions)
        made.attributes.update(discardable(op.attributes))
        made.results[0].name_hint = op.results[0].name_hint
        results += made.results
    return results


_EACH: Mapping[type[XlaOp], type[StableHloOp]] = {
    xla.ReduceScatterOp: stablehlo.ReduceScatterOp,
    xla.CollectiveBroadcastOp: stablehlo.CollectiveBroadcastOp,
    xla.CollectivePermuteOp: stablehlo.CollectivePermuteOp,
    asynchronous.CollectivePermuteStartOp: stablehlo.CollectivePermuteOp,
}


# all_to_all


def convert_all_to_all(op: stablehlo.AllToAllOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    Every operand by itself, exchanged along the dimension that is cut; its blocks are moved to the
    other dimension afterwards.
    """
    properties = op.xla_properties()
    exchange = {
        "dimension": op.split_dimension,
        "replica_groups": properties["replica_groups"],
        **({"channel_id": properties["channel_id"]} if "channel_id" in properties else {}),
    }
    groups = cast(ReplicaGroupsAttr, properties["replica_groups"]).data.expand()
    operands, cut = conversion.operands(op), op.cut
    inferred = op.results_for([value.type for value in operands], groups)
    results: list[SSAValue] = []
    for operand, type_ in zip(operands, inferred, strict=True):
        (received,) = conversion.emit(xla.AllToAllOp, [operand], [operand.type], exchange)
        is_moved = cut[0] != cut[1]
        results.append(_rejoin(conversion, received, cut, type_) if is_moved else received)
    return results


def _rejoin(
    conversion: Conversion, received: SSAValue, cut: tuple[int, int, int], declared: Attribute
) -> SSAValue:
    apart, order, _ = shapes.rejoined(sizes_of(received.type), *cut)
    blocks = conversion.reshaped(received, apart)
    moved = conversion.made(TransposeOp(blocks, dimensions=order))
    return conversion.emit(ReshapeOp, [moved], [declared])[0]


def all_to_all_of_xla(op: xla.AllToAllOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.all_to_all`; operands that are one block each are stacked, and cut out again."""
    if op.use_global_device_ids.value.data:
        raise Inexpressible("StableHLO exchanges between replicas or between partitions")
    operands, emit = legalization.operands(op), legalization.emit
    if op.dimension is not None:
        members = op.groups.size or _process_count(op)
        properties = _exchange(op, op.dimension.value.data, members)
        types = legalization.result_types(op)
        return emit(stablehlo.AllToAllOp, operands, types, properties).results
    type_, count = cast(Array, operands[0].type), len(operands)
    sizes = sizes_of(type_)
    one, whole = (array(type_.element_type, (n, *sizes)) for n in (1, count))
    rows = [emit(data_movement.ReshapeOp, [value], [one]).results[0] for value in operands]
    first = {"dimension": IntegerAttr(0, i64)}
    stacked = emit(data_movement.ConcatenateOp, rows, [whole], first).results
    received = emit(stablehlo.AllToAllOp, stacked, [whole], _exchange(op, 0, count)).results
    results: list[SSAValue] = []
    for i in range(count):
        ranges = {
            "start_indices": integers((i, *[0] * len(sizes))),
            "limit_indices": integers((i + 1, *sizes)),
            "strides": integers([1] * (len(sizes) + 1)),
        }
        row = emit(data_movement.SliceOp, received, [one], ranges).results
        results += emit(data_movement.ReshapeOp, row, [type_]).results
    return results


def _exchange(op: xla.AllToAllOp, dimension: int, members: int) -> dict[str, Attribute]:
    """The properties of an exchange of so many blocks along a dimension."""
    found = stablehlo.AllToAllOp.properties_of(op)
    if op.groups.is_empty:  # StableHLO's verifier divides by their number.
        everyone = ListedGroups((tuple(range(members)),))
        found["replica_groups"] = stablehlo.matrix_of_groups(everyone)
    along = IntegerAttr(dimension, i64)
    found |= {"split_dimension": along, "concat_dimension": along}
    return found | {"split_count": IntegerAttr(members, i64)}


def _process_count(op: CollectiveOp) -> int:
    """How many processes a collective without groups has together."""
    replicas, partitions = process_counts(cast(ModuleOp, op.get_toplevel_object()))
    return replicas if op.channel is None else partitions


# collective_reduce


def convert_collective_reduce(
    op: stablehlo.CollectiveReduceOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """
    The root of a group has the reduction of all, others have zeros.

    Every member in turn broadcasts its operands; their order in the group is that of the reduction.
    """
    properties = op.xla_properties()
    properties.pop("has_dynamic_root", None)
    groups = cast(ReplicaGroupsAttr, properties["replica_groups"]).data.expand()
    computations = conversion.regions(op)
    operands = conversion.operands_of_xla(op, computations)
    roots = operands.pop() if op.tells_root else None
    position = _position(conversion, groups, properties)
    gathered = [_from(conversion, operands, groups, k, properties) for k in range(len(groups[0]))]
    results: list[SSAValue] = []
    for number, parts in enumerate(zip(*gathered, strict=True)):
        total = parts[0]
        for part in parts[1:]:
            total = _applied(conversion, computations[0], total, part)
        root = None if roots is None else conversion.element(roots, number)
        results.append(_at_root(conversion, total, position, root))
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
    return conversion.emit(xla.CollectiveBroadcastOp, operands, types, entries)


def _applied(
    conversion: Conversion, computation: Region, left: SSAValue, right: SSAValue
) -> SSAValue:
    everywhere = range(len(sizes_of(left.type)))
    return conversion.made(
        MapOp([left, right], dimensions=everywhere, regions=[computation.clone()])
    )


def _position(
    conversion: Conversion, groups: Sequence[Sequence[int]], properties: Mapping[str, Attribute]
) -> SSAValue:
    """Where this process stands in its group, -1 if it is in none."""
    places = {number: place for group in groups for place, number in enumerate(group)}
    # An index beyond the table is clamped to the last entry.
    numbers = [places.get(number, -1) for number in range(max(places) + 2)]
    table = conversion.constant(array(S32, (len(numbers),)), numbers)
    own = xla.PartitionIdOp if "channel_id" in properties else xla.ReplicaIdOp
    index = conversion.emit(own, (), [array(U32, ())])
    found = conversion.made(DynamicSliceOp(table, index, dynamic_slice_sizes=[1]))
    return conversion.reshaped(found, ())


def _at_root(
    conversion: Conversion, value: SSAValue, position: SSAValue, root: SSAValue | None
) -> SSAValue:
    """The value where this process is the root, and zeros elsewhere."""
    scalars = Terms(conversion, cast(Array, position.type))
    is_root = scalars.of(position).equals(0 if root is None else scalars.of(root))
    term = term_of(conversion, value)
    return is_root.where(term, 0).value


# Asynchronous operations: what a start begins is there, and its done is nothing. StableHLO has
# `async_start` for collectives; computations that are one of them stay asynchronous.


def convert_start(op: stablehlo.AsyncStartOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_start`; the context is `((operands), results, s32[])`."""
    types = [conversion.type(type_, op) for type_ in op.contents]
    op.verify_()
    operands = conversion.operands(op)
    inputs = tuple_of([value.type for value in operands])
    parts = (inputs, cast(TypeAttribute, as_one(types)), array(S32, ()))
    regions = conversion.regions(op)
    return conversion.emit(asynchronous.AsyncStartOp, operands, [TupleType(parts)], regions=regions)


def convert_done(op: stablehlo.AsyncDoneOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.async_done`."""
    op.verify_()
    return conversion.replaced(op, asynchronous.AsyncDoneOp)


# Starts


def start_of_xla(op: asynchronous.AsyncStartOp, legalization: FromXla) -> Sequence[Tree]:
    """The computation, in place, or `stablehlo.async_start`; nothing while it lacks operands."""
    if op.is_open:
        return _bound(op, op, legalization)
    operands = legalization.operands(op)
    if not _stays(op):
        return _begun(op, operands, legalization.inline(op.calls.block, operands), legalization)
    region = legalization.region(op.calls)
    end = region.block.last_op
    assert end is not None
    future = FutureType(ArrayAttr(end.operand_types))
    start = legalization.emit(stablehlo.AsyncStartOp, operands, [future], regions=[region])
    legalization.futures[op] = start.results[0]
    return [None] * len(flatten(op.result_types))


_ASYNCHRONOUS = (
    xla.AllGatherOp,
    xla.AllReduceOp,
    xla.AllToAllOp,
    xla.CollectiveBroadcastOp,
    xla.CollectivePermuteOp,
    xla.ReduceScatterOp,
)
"""Computations that `stablehlo.async_start` may run and that XLA translates."""


def _stays(op: asynchronous.AsyncStartOp) -> bool:
    """Whether a computation is one of `_ASYNCHRONOUS`, and every use of it is an `async-done`."""
    first, last = op.calls.block.first_op, op.calls.block.last_op
    return (
        isinstance(first, _ASYNCHRONOUS)
        and last is not None
        and first.next_op is last
        and len(first.operands) == len(first.results) == 1
        and list(last.operands) == list(first.results)
        and list(first.operands) == list(op.calls.block.args)
        and all(
            isinstance(u.operation, asynchronous.AsyncDoneOp) for r in op.results for u in r.uses
        )
    )


def _begun(
    op: Operation,
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
    legalization: FromXla,
) -> Sequence[Tree]:
    """The context of a start: its operands, its results, and what StableHLO has not."""
    legalization.contexts[op] = results
    missing = len(flatten(op.result_types)) - len(operands) - len(results)
    return [*operands, *results, *[None] * missing]


def _bound(
    start: asynchronous.AsyncStartOp,
    op: asynchronous.AsyncStartOp | asynchronous.AsyncUpdateOp | asynchronous.AsyncDoneOp,
    legalization: FromXla,
) -> Sequence[Tree]:
    """
    A context that is not complete, which nothing takes but what goes on with it.

    The computation is in the place of the operation that binds the last operand that it lacks.
    """
    operands = asynchronous.operands_bound(op)
    block = start.calls.block
    if start not in legalization.contexts and len(operands) == len(block.args):
        legalization.contexts[start] = legalization.inline(block, legalization.leaves(operands))
    return [None] * len(flatten(op.result_types))


def copy_start_of_xla(op: asynchronous.CopyStartOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: a copy is its operand."""
    operands = [legalization.value(op.operand)]
    return _begun(op, operands, operands, legalization)


def all_gather_start_of_xla(
    op: asynchronous.AllGatherStartOp, legalization: FromXla
) -> Sequence[Tree]:
    """`stablehlo.all_gather`."""
    operands = legalization.operands(op)
    types = legalization.result_types(op)[len(operands) : 2 * len(operands)]
    properties = stablehlo.AllGatherOp.properties_of(op)
    made = legalization.emit(stablehlo.AllGatherOp, operands, types, properties)
    return _begun(op, operands, made.results, legalization)


def all_reduce_start_of_xla(
    op: asynchronous.AllReduceStartOp, legalization: FromXla
) -> Sequence[Tree]:
    """`stablehlo.all_reduce`; the context is its results."""
    return legalization.same(op, stablehlo.AllReduceOp)


def permute_start_of_xla(
    op: asynchronous.CollectivePermuteStartOp, legalization: FromXla
) -> Sequence[Tree]:
    """`stablehlo.collective_permute`, one for each operand."""
    results = each_of_xla(op, legalization)
    return _begun(op, legalization.operands(op), results, legalization)


# What follows a start


def update_of_xla(op: asynchronous.AsyncUpdateOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the context is the operand."""
    start = asynchronous.open_start(op)
    return _context(op, legalization) if start is None else _bound(start, op, legalization)


def _context(op: Operation, legalization: FromXla) -> Sequence[Tree]:
    return [leaf for value in op.operands for leaf in flat(legalization.tree(value))]


def done_of_xla(op: asynchronous.DoneOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing, as the results are there; or `stablehlo.async_done`."""
    if (
        isinstance(op, asynchronous.AsyncDoneOp)
        and (begun := asynchronous.open_start(op)) is not None
    ):
        _bound(begun, op, legalization)
    start = op.operands[0].owner
    while isinstance(start, asynchronous.AsyncUpdateOp):
        start = start.operands[0].owner
    future = legalization.futures.get(cast(Operation, start))
    if future is not None:
        types = legalization.result_types(op)
        return legalization.emit(stablehlo.AsyncDoneOp, [future], types).results
    results = legalization.contexts.get(cast(Operation, start))
    if results is not None:
        return results
    tree = legalization.tree(op.operands[0])
    if not isinstance(tree, tuple) or len(tree) < 2 or len(op.operands) != 1:
        raise Inexpressible("the context does not come from a start directly")
    return flat(tree[1])


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.CrossReplicaSumOp, convert_sum)
    .add(stablehlo.AllToAllOp, convert_all_to_all)
    .add(stablehlo.CollectiveReduceOp, convert_collective_reduce)
    .add(stablehlo.AsyncStartOp, convert_start)
    .add(stablehlo.AsyncDoneOp, convert_done)
)


FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.AllToAllOp, all_to_all_of_xla)
    .add((xla.CollectiveBroadcastOp, xla.CollectivePermuteOp, xla.ReduceScatterOp), each_of_xla)
    .add(asynchronous.AsyncStartOp, start_of_xla)
    .add(asynchronous.AsyncUpdateOp, update_of_xla)
    .add(asynchronous.CopyStartOp, copy_start_of_xla)
    .add(asynchronous.AllGatherStartOp, all_gather_start_of_xla)
    .add(asynchronous.AllReduceStartOp, all_reduce_start_of_xla)
    .add(asynchronous.AllReduceDoneOp, _context)
    .add(asynchronous.CollectivePermuteStartOp, permute_start_of_xla)
    .add(
        (
            asynchronous.AsyncDoneOp,
            asynchronous.CopyDoneOp,
            asynchronous.AllGatherDoneOp,
            asynchronous.CollectivePermuteDoneOp,
        ),
        done_of_xla,
    )
)
