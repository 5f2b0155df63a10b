"""What the collectives compute, by the processes of a grid together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Region

from xla_dialect import types
from xla_dialect.devices.process_grid import LogicalId, Pending, Process, ProcessGrid
from xla_dialect.diagnostics import XlaError, described
from xla_dialect.literals.arrays import Array, spell_array
from xla_dialect.ops import asynchronous
from xla_dialect.ops import collectives as ops
from xla_dialect.ops.process_groups import CollectiveOp, GroupedOp, Ids
from xla_dialect.reference.computations import on_arrays
from xla_dialect.reference.tuples import as_results
from xla_dialect.runtime.process_calls import SITE

Combine: TypeAlias = Callable[[Sequence[PythonValues], int], PythonValues]
"""From the operands of all members, and which member this is, to its results."""


def expanded(ids: Ids, number: int, place: LogicalId, grid: ProcessGrid) -> list[LogicalId]:
    """The processes that an id stands for, seen from one of them; raises XlaError if none."""
    replica, partition = place
    counts = {Ids.PARTITIONS: grid.partitions, Ids.DEVICES: grid.replicas * grid.partitions}
    count = counts.get(ids, grid.replicas)
    if not 0 <= number < count:
        kind = "replicas" if ids == Ids.REPLICAS_OF_ALL_PARTITIONS else ids.value
        raise XlaError(
            f"id {number} in replica groups or pairs, the program runs on {count} {kind}"
        )
    match ids:
        case Ids.REPLICAS:
            return [(number, partition)]
        case Ids.PARTITIONS:
            return [(replica, number)]
        case Ids.REPLICAS_OF_ALL_PARTITIONS:
            return [(number, other) for other in range(grid.partitions)]
        case Ids.DEVICES:
            return [divmod(number, grid.partitions)]


def all_ids(ids: Ids, grid: ProcessGrid) -> range:
    """All ids of a kind."""
    return range(grid.partitions if ids == Ids.PARTITIONS else grid.replicas)


def group_of(op: GroupedOp, place: LogicalId, grid: ProcessGrid) -> tuple[LogicalId, ...] | None:
    """The members of the group that a process is in, in order; None if it is in none."""
    groups = (tuple(all_ids(op.ids, grid)),) if op.groups.is_empty else op.groups.expand()
    found = [
        tuple(member for number in group for member in expanded(op.ids, number, place, grid))
        for group in groups
    ]
    return next((members for members in found if place in members), None)


def blocks(array: Array, dimension: int, count: int) -> list[Array]:
    """The array cut into equal blocks; raises XlaError where its size is no multiple."""
    size = array.shape[dimension]
    if size % count:
        raise XlaError(f"(C3) size {size} of dimension {dimension} for {count} members")
    return np.split(array, count, dimension)


def gather(dimension: int) -> Combine:
    """The operands of all members, one after the other."""

    def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
        return tuple(np.concatenate(parts, dimension) for parts in zip(*brought, strict=True))

    return combine


def reduce(interpreter: Interpreter, computation: Region) -> Combine:
    """The left fold over the members, every operand by itself."""
    function = on_arrays(interpreter, computation, "to_apply")

    def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
        results: list[Array] = []
        for first, *rest in zip(*brought, strict=True):
            total: Array = first
            for value in rest:
                (total,) = function(total, value)
            results.append(total)
        return tuple(results)

    return combine


def scatter(reduced: Combine, dimension: int) -> Combine:
    """This member's block of what a reduction gives."""

    def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
        wholes = reduced(brought, me)
        return tuple(blocks(whole, dimension, len(brought))[me] for whole in wholes)

    return combine


def exchange(dimension: int | None) -> Combine:
    """The blocks of all members for this one, one by one or joined along a dimension."""

    def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
        if dimension is None:
            if len(brought) != len(brought[0]):
                raise XlaError(f"(C4) {len(brought[0])} operands for {len(brought)} members")
            return tuple(values[me] for values in brought)
        received = [blocks(values[0], dimension, len(brought))[me] for values in brought]
        return (np.concatenate(received, dimension),)

    return combine


def rows_between(first: int, count: int, array: Array, name: str) -> slice:
    """Rows `first` to `first + count` of an array; raises XlaError where they are not in it."""
    if first < 0 or count < 0 or first + count > len(array):
        raise XlaError(f"rows {first} to {first + count} of {name}, which has {len(array)}")
    return slice(first, first + count)


def exchange_rows(brought: Sequence[PythonValues], me: int) -> PythonValues:
    """The output of this member with the rows that all members send to it."""
    result = np.array(brought[me][1])
    if len(brought[me][2]) != len(brought):
        raise XlaError(f"(C3) {len(brought[me][2])} offsets for {len(brought)} members")
    for sender, (source, _, inputs, counts, outputs, _) in enumerate(brought):
        expected = np.reshape(brought[me][5][sender], -1)
        updates = [np.reshape(numbers[me], -1) for numbers in (inputs, counts, outputs)]
        for start, count, place, wanted in zip(*updates, expected, strict=True):
            if int(count) != int(wanted):
                raise XlaError(f"member {sender} sends {count} rows, {wanted} are expected")
            rows = source[rows_between(int(start), int(count), source, "the input")]
            result[rows_between(int(place), int(count), result, "the output")] = rows
    return (result,)


def as_declared(values: PythonValues, declared: Sequence[Attribute]) -> PythonValues:
    """The values; raises XlaError where the number of members makes other sizes than declared."""
    for value, type_ in zip(values, types.flatten(declared), strict=True):
        if value.shape != types.extents(cast("types.Array", type_)):
            raise XlaError(f"(C3) declared {types.spell(type_)}, found {spell_array(value)}")
    return values


def zeros_like(values: PythonValues) -> PythonValues:
    """Arrays of the same sizes and types that are 0 everywhere."""
    return tuple(np.zeros(value.shape, value.dtype) for value in values)


@register_impls
@dataclass
class CollectiveFunctions(InterpreterFunctions):
    """The functions of collectives, executed by `process`."""

    process: Process = field(default_factory=Process)

    def meet(
        self,
        op: CollectiveOp,
        members: tuple[LogicalId, ...] | None,
        args: PythonValues,
        f: Combine,
    ) -> Pending[PythonValues]:
        """Exchanges the operands with the other members of a group; zeros for a process in none."""
        if members is None:
            return Pending(lambda: zeros_like(args))
        # Operations with equal channels meet, an `all_reduce_start` an `all_reduce` too. Without
        # channel it is the same operation of the program or, of another program, the next of its
        # kind.
        kind = op.name.removesuffix("_start")
        is_told = op.channel is None and self.process.same_program
        key = (kind, op.attributes.get(SITE, op) if is_told else op.channel)
        brought = self.process.bring(key, members, args, described(op))
        me = members.index(self.process.place)
        return Pending(lambda: f(_alike(brought.result()), me))

    def grouped(self, op: GroupedOp, args: PythonValues, f: Combine) -> Pending[PythonValues]:
        """As `meet`, with the group of this process."""
        process = self.process
        return self.meet(op, group_of(op, process.place, process.grid), args, f)

    def permuted(
        self,
        op: ops.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp,
        args: PythonValues,
    ) -> Pending[PythonValues]:
        """What the source of this process brings; zeros without a source."""
        if op.slice_sizes is not None:
            raise XlaError("the form with slice_sizes is not interpreted")
        process, ids = self.process, op.ids
        members = [
            place
            for number in all_ids(ids, process.grid)
            for place in expanded(ids, number, process.place, process.grid)
        ]
        pairs = op.source_target_pairs.data
        for pair in pairs.pairs:
            for number in pair:
                expanded(ids, number, process.place, process.grid)
        source = pairs.source_of(members.index(process.place))

        def combine(brought: Sequence[PythonValues], me: int) -> PythonValues:
            return zeros_like(args) if source is None else brought[source]

        return self.meet(op, tuple(members), args, combine)

    def begin(self, op: CollectiveOp, args: PythonValues) -> Pending[PythonValues]:
        """
        What a collective without a computation, or its start, gives.

        Raises XlaError for a form that is not interpreted.
        """
        match op:
            case ops.AllGatherOp() | asynchronous.AllGatherStartOp():
                return self.grouped(op, args, gather(op.dimension.value.data))
            case ops.AllToAllOp():
                dimension = None if op.dimension is None else op.dimension.value.data
                return self.grouped(op, args, exchange(dimension))
            case ops.RaggedAllToAllOp():
                return self.grouped(op, args, exchange_rows)
            case ops.CollectiveBroadcastOp():
                if op.has_dynamic_root.value.data:
                    raise XlaError("a dynamic root is not interpreted")
                return self.grouped(op, args, lambda brought, me: brought[0])
            case ops.CollectivePermuteOp() | asynchronous.CollectivePermuteStartOp():
                return self.permuted(op, args)
            case _:
                raise XlaError("it has a computation, which is not the exchange's")

    def run_at_once(self, _: Interpreter, op: CollectiveOp, args: PythonValues) -> PythonValues:
        """A collective without a computation."""
        return as_results(op, as_declared(self.begin(op, args).result(), op.result_types))

    run_all_gather = impl(ops.AllGatherOp)(run_at_once)
    run_all_to_all = impl(ops.AllToAllOp)(run_at_once)
    run_ragged_all_to_all = impl(ops.RaggedAllToAllOp)(run_at_once)
    run_collective_permute = impl(ops.CollectivePermuteOp)(run_at_once)
    run_collective_broadcast = impl(ops.CollectiveBroadcastOp)(run_at_once)

    @impl(ops.AllReduceOp)
    def run_all_reduce(
        self, interpreter: Interpreter, op: ops.AllReduceOp, args: PythonValues
    ) -> PythonValues:
        """The left fold in group order."""
        return as_results(op, self.grouped(op, args, reduce(interpreter, op.to_apply)).result())

    @impl(ops.ReduceScatterOp)
    def run_reduce_scatter(
        self, interpreter: Interpreter, op: ops.ReduceScatterOp, args: PythonValues
    ) -> PythonValues:
        """The left fold, cut into blocks."""
        combine = scatter(reduce(interpreter, op.to_apply), op.dimension.value.data)
        found = self.grouped(op, args, combine).result()
        return as_results(op, as_declared(found, op.result_types))

    @impl(ops.ReplicaIdOp)
    def run_replica_id(
        self, interpreter: Interpreter, op: ops.ReplicaIdOp, args: PythonValues
    ) -> PythonValues:
        """The replica of this process."""
        return (np.uint32(self.process.place[0]),)

    @impl(ops.PartitionIdOp)
    def run_partition_id(
        self, interpreter: Interpreter, op: ops.PartitionIdOp, args: PythonValues
    ) -> PythonValues:
        """The partition of this process."""
        return (np.uint32(self.process.place[1]),)


def _alike(brought: Sequence[PythonValues]) -> Sequence[PythonValues]:
    """The same, checked: all members bring arrays of the same types."""
    signatures = [[(value.dtype, value.shape) for value in values] for values in brought]
    for number, other in enumerate(signatures):
        if other != signatures[0]:
            raise XlaError(f"members 0 and {number} bring {signatures[0]} and {other}")
    return brought
