"""What the collectives compute, by the processes of a grid together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, cast

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues, register_impls
from xdsl.ir import Attribute, Region

from xla_dialect import types
from xla_dialect.devices.process_grid import (
    NOTHING,
    Arrays,
    Exchange,
    LogicalId,
    Process,
    ProcessGrid,
    piece_length,
    pieces,
)
from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import spell_array
from xla_dialect.literals.arrays import Array, Value, leaves_of, numpy_dtype
from xla_dialect.ops import asynchronous
from xla_dialect.ops import collectives as ops
from xla_dialect.ops.collectives import CollectiveOp, GroupedOp, Ids, PermutedSlices
from xla_dialect.reference.control_flow import on_arrays
from xla_dialect.reference.data_movement import box, clamped_starts
from xla_dialect.reference.registration import ArrayFunctions, computes
from xla_dialect.violations import described

Write: TypeAlias = Callable[[Arrays], None]
"""Waits for the results of a collective, and writes them into arrays that are to be theirs."""

ArrayFunction: TypeAlias = Callable[..., tuple[Array, ...]]


_SECOND_STAGE = "second"
"""Tells the exchange that follows from what the first one of a collective has brought."""


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


def rows_between(first: int, count: int, array: Array, name: str) -> Array:
    """Rows `first` to `first + count` of an array; raises XlaError where they are not in it."""
    if first < 0 or count < 0 or first + count > len(array):
        raise XlaError(f"rows {first} to {first + count} of {name}, which has {len(array)}")
    return array[first : first + count]


def require_sizes(results: Arrays, found: Sequence[Sequence[int]]) -> None:
    """Raises XlaError where the number of members makes other sizes than declared."""
    for result, sizes in zip(results, found, strict=True):
        if result.shape != tuple(sizes):
            other = np.broadcast_to(np.zeros((), result.dtype), sizes)
            raise XlaError(f"(C3) declared {spell_array(result)}, found {spell_array(other)}")


def new_arrays(declared: Sequence[Attribute]) -> list[Array]:
    """Arrays of the types, tuples taken apart, with any elements."""
    arrays = (cast("types.Array", type_) for type_ in types.flatten(declared))
    return [np.empty(types.extents(each), numpy_dtype(each.element_type)) for each in arrays]


def fill_zeros(results: Arrays) -> None:
    """What a process gets that is in no group, or the target of no pair."""
    for result in results:
        result[...] = np.zeros((), result.dtype)


@register_impls
@dataclass
class CollectiveFunctions(ArrayFunctions):
    """The functions of collectives, executed by `process`."""

    process: Process = field(default_factory=Process)

    def exchange(
        self,
        op: CollectiveOp,
        members: tuple[LogicalId, ...],
        outgoing: Sequence[Arrays],
        stage: tuple[object, ...] = (),
    ) -> Exchange:
        """An exchange with the other members of a group; `stage` tells those of one collective."""
        # Operations with equal channels meet, an `all_reduce_start` an `all_reduce` too. Without
        # channel it is the same operation of the program or, of another program, the next of its
        # kind.
        kind = op.name.removesuffix("_start")
        is_told = op.channel is None and self.process.same_program
        key = (kind, self.identity(op) if is_told else op.channel, *stage)
        return self.process.exchange(key, members, outgoing, described(op))

    def identity(self, op: CollectiveOp) -> Hashable:
        """What is equal where processes of one program have come to the same operation."""
        return op

    def group(self, op: GroupedOp) -> tuple[LogicalId, ...] | None:
        """The members of the group of this process; None if it is in none."""
        return group_of(op, self.process.place, self.process.grid)

    def begin(self, op: CollectiveOp, args: Arrays) -> Write:
        """
        Begins a collective without a computation; nothing changes the operands until the results
        are written. Raises XlaError for a form that is not interpreted.
        """
        if isinstance(op, ops.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp):
            return self.permuted(op, args)
        assert isinstance(op, GroupedOp)
        members = self.group(op)
        if members is None:
            return fill_zeros
        count, me = len(members), members.index(self.process.place)
        exchange = partial(self.exchange, op, members)
        match op:
            case ops.AllGatherOp() | asynchronous.AllGatherStartOp():
                return _gathered(exchange([args] * count), args, op.dimension.value.data, count)
            case ops.AllToAllOp(dimension=None):
                if count != len(args):
                    raise XlaError(f"(C4) {len(args)} operands for {count} members")
                return _one_by_one(exchange([[array] for array in args]))
            case ops.AllToAllOp():
                dimension = 0 if op.dimension is None else op.dimension.value.data
                (array,) = args
                outgoing = [[block] for block in blocks(array, dimension, count)]
                return _gathered(exchange(outgoing), outgoing[0], dimension, count)
            case ops.RaggedAllToAllOp():
                return self.rows_exchanged(op, members, list(map(np.copy, args)))
            case ops.CollectiveBroadcastOp():
                if op.has_dynamic_root.value.data:
                    *arrays, told = args
                    return _from_roots(exchange, arrays, told, count, me)
                begun = exchange([args if me == 0 else NOTHING] * count)
                return lambda results: begun.take([results, *[NOTHING] * (count - 1)])
            case _:
                raise XlaError("it has a computation, which is not the exchange's")

    def permuted(
        self,
        op: ops.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp,
        args: Arrays,
    ) -> Write:
        """What the source of this process brings; zeros without a source."""
        process, ids = self.process, op.ids
        members = tuple(
            place
            for number in all_ids(ids, process.grid)
            for place in expanded(ids, number, process.place, process.grid)
        )
        me, pairs = members.index(process.place), op.source_target_pairs.data
        for pair in pairs.pairs:
            for number in pair:
                expanded(ids, number, process.place, process.grid)
        numbers = range(len(members))
        if op.slice_sizes is not None:
            return self.slices_exchanged(op, members, args)
        source, target = pairs.source_of(me), pairs.target_of(me)
        outgoing = [args if number == target else NOTHING for number in numbers]
        begun = self.exchange(op, members, outgoing)

        def write(results: Arrays) -> None:
            begun.take([results if number == source else NOTHING for number in numbers])
            if source is None:
                fill_zeros(results)

        return write

    def slices_exchanged(
        self,
        op: ops.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp,
        members: tuple[LogicalId, ...],
        args: Arrays,
    ) -> Write:
        """The outputs with slices of the inputs of others."""
        slices, me = SliceExchange.of(op), members.index(self.process.place)
        numbers = range(len(members))
        args = list(map(np.copy, args))
        begun = self.exchange(op, members, [slices.outgoing(args, me, to) for to in numbers])

        def write(results: Arrays) -> None:
            for result, output in zip(results, slices.outputs(args), strict=True):
                result[...] = output
            begun.take([slices.incoming(args, results, me, number) for number in numbers])

        return write

    def rows_exchanged(
        self, op: ops.RaggedAllToAllOp, members: tuple[LogicalId, ...], args: Arrays
    ) -> Write:
        """The output of this process with the rows that all members send to it."""
        source, output, inputs, counts, outputs, expected = args
        if len(counts) != len(members):
            raise XlaError(f"(C3) {len(counts)} offsets for {len(members)} members")
        places = self.exchange(op, members, [[counts[i], outputs[i]] for i in range(len(members))])
        rows = [
            [rows_between(int(first), int(count), source, "the input") for first, count in updates]
            for updates in (_updates(inputs[i], counts[i]) for i in range(len(members)))
        ]
        sent = self.exchange(op, members, rows, stage=(_SECOND_STAGE, places.number))

        def write(results: Arrays) -> None:
            (result,) = results
            result[...] = output
            found = [[np.empty_like(counts[0]), np.empty_like(outputs[0])] for _ in members]
            places.take(found)
            into: list[list[Array]] = []
            for sender, (sizes, starts) in enumerate(found):
                for count, wanted in _updates(sizes, expected[sender]):
                    if int(count) != int(wanted):
                        raise XlaError(f"member {sender} sends {count} rows, {wanted} are expected")
                into.append(
                    [
                        rows_between(int(start), int(count), result, "the output")
                        for start, count in _updates(starts, sizes)
                    ]
                )
            sent.take(into)

        return write

    def gather_pieces(self, op: GroupedOp, folded: Arrays, number: int) -> Write:
        """
        The wholes of arrays, of each of which this member has folded a piece. `number`: that of the
        exchange of what was folded.
        """
        members = self.group(op)
        if members is None:
            return fill_zeros
        count, me = len(members), members.index(self.process.place)

        def write(results: Arrays) -> None:
            cut = [
                pieces(whole, len(piece), count)
                for whole, piece in zip(results, folded, strict=True)
            ]
            own = [
                piece[: each[me].size].reshape(-1) for piece, each in zip(folded, cut, strict=True)
            ]
            begun = self.exchange(op, members, [own] * count, (_SECOND_STAGE, number))
            begun.take(list(zip(*cut, strict=True)))

        return write

    def reduced(self, op: GroupedOp, function: ArrayFunction, args: Arrays) -> Write:
        """The left fold in group order, every operand by itself, cut by pieces or by blocks."""
        members = self.group(op)
        if members is None:
            return fill_zeros
        count = len(members)
        if isinstance(op, ops.ReduceScatterOp):
            dimension = op.dimension.value.data
            parts = [blocks(array, dimension, count) for array in args]
            lengths = [None for _ in args]
        else:
            lengths = [piece_length(array.size, array.dtype.itemsize, count) for array in args]
            parts = [
                [array] * count if length is None else pieces(array, length, count)
                for array, length in zip(args, lengths, strict=True)
            ]
        begun = self.exchange(op, members, list(zip(*parts, strict=True)))
        own = [each[members.index(self.process.place)] for each in parts]

        def write(results: Arrays) -> None:
            brought = [[np.empty_like(part) for part in own] for _ in members]
            begun.take(brought)
            totals = [_left_fold(function, each) for each in zip(*brought, strict=True)]
            cut = [n for n, length in enumerate(lengths) if length is not None]
            for result, total, length in zip(results, totals, lengths, strict=True):
                if length is None:
                    require_sizes([result], [total.shape])
                    result[...] = total
            if cut:
                folded = [_extended(totals[n], cast(int, lengths[n])) for n in cut]
                self.gather_pieces(op, folded, begun.number)([results[n] for n in cut])

        return write

    def at_once(self, *operands: Value, op: CollectiveOp) -> PythonValues:
        """A collective without a computation."""
        results = new_arrays(op.result_types)
        self.begin(op, as_arrays(operands))(results)
        return tuple(results)

    all_gather = computes(ops.AllGatherOp)(at_once)
    all_to_all = computes(ops.AllToAllOp)(at_once)
    collective_permute = computes(ops.CollectivePermuteOp)(at_once)
    collective_broadcast = computes(ops.CollectiveBroadcastOp)(at_once)

    @computes(ops.RaggedAllToAllOp)
    def ragged_all_to_all(self, *operands: Array, op: ops.RaggedAllToAllOp) -> Array:
        """The output with rows of all members."""
        (result,) = self.at_once(*operands, op=op)
        return result

    def folded_at_once(
        self,
        inputs: PythonValues,
        *,
        to_apply: Region,
        op: ops.AllReduceOp | ops.ReduceScatterOp,
        interpreter: Interpreter,
    ) -> PythonValues:
        """The left fold in group order."""
        results = new_arrays(op.result_types)
        function = on_arrays(interpreter, to_apply, "to_apply")
        self.reduced(op, function, as_arrays(inputs))(results)
        return tuple(results)

    all_reduce = computes(ops.AllReduceOp)(folded_at_once)
    reduce_scatter = computes(ops.ReduceScatterOp)(folded_at_once)

    @computes(ops.ReplicaIdOp)
    def replica_id(self) -> np.uint32:
        """The replica of this process."""
        return np.uint32(self.process.place[0])

    @computes(ops.PartitionIdOp)
    def partition_id(self) -> np.uint32:
        """The partition of this process."""
        return np.uint32(self.process.place[1])


def as_arrays(values: PythonValues) -> list[Array]:
    """The values, tuples taken apart; some may be numpy scalars."""
    return list(map(np.asarray, leaves_of(values)))


def _from_roots(
    exchange: Callable[[Sequence[Arrays]], Exchange],
    arrays: Arrays,
    told: Array,
    count: int,
    me: int,
) -> Write:
    """For each array that of the member whose number in the group an operand says."""
    roots = [int(root) for root in told]
    for root in roots:
        if not 0 <= root < count:
            raise XlaError(f"root {root} in a group of {count}")
    own = [array for array, root in zip(arrays, roots, strict=True) if root == me]
    begun = exchange([own] * count)

    def write(results: Arrays) -> None:
        begun.take(
            [
                [result for result, root in zip(results, roots, strict=True) if root == number]
                for number in range(count)
            ]
        )

    return write


def _gathered(begun: Exchange, each: Arrays, dimension: int, count: int) -> Write:
    """The parts that come one after the other along a dimension, as long as these from each."""

    def write(results: Arrays) -> None:
        sizes = [list(part.shape) for part in each]
        for whole in sizes:
            whole[dimension] *= count
        require_sizes(results, sizes)
        cut = [np.split(result, count, dimension) for result in results]
        begun.take(list(zip(*cut, strict=True)))

    return write


def _one_by_one(begun: Exchange) -> Write:
    return lambda results: begun.take([[result] for result in results])


def _updates(first: Array, second: Array) -> list[tuple[int, int]]:
    """Pairs of two numbers, or of two arrays of equally many."""
    return list(zip(np.ravel(first).tolist(), np.ravel(second).tolist(), strict=True))


def _left_fold(function: ArrayFunction, brought: Arrays) -> Array:
    total, *rest = brought
    for value in rest:
        (total,) = function(total, value)
    return np.asarray(total)


def _extended(piece: Array, length: int) -> Array:
    """A piece as long as that of the first member."""
    whole = np.zeros(length, piece.dtype)
    whole[: piece.size] = piece
    return whole


# Collective permutes in place: which slices go where.


@dataclass(frozen=True)
class SliceExchange:
    """The slices that one process has for others, and those that it gets."""

    layout: PermutedSlices
    sizes: Sequence[Sequence[int]]
    pairs: SourceTargetPairs

    @staticmethod
    def of(op: ops.CollectivePermuteOp | asynchronous.CollectivePermuteStartOp) -> SliceExchange:
        """Of an operation with `slice_sizes`."""
        assert op.slice_sizes is not None
        layout = PermutedSlices.of(op.operand_types)
        sizes = layout.slice_sizes(op.slice_sizes.data, op.operand_types)
        return SliceExchange(layout, sizes, op.source_target_pairs.data)

    def outgoing(self, args: Arrays, me: int, target: int) -> list[Array]:
        """The slices of the inputs that go from one process to another."""
        sent = [number for source, number, _ in self.pairs.slices_to(target) if source == me]
        return [
            self._slice(args, args[i], i, number, number, 0)
            for number in sent
            for i in range(self.layout.count)
        ]

    def incoming(self, args: Arrays, outputs: Arrays, me: int, source: int) -> list[Array]:
        """The places in the outputs of what another process sends."""
        found = [entry[1:] for entry in self.pairs.slices_to(me) if entry[0] == source]
        return [
            self._slice(args, output, i, sent, received, 1)
            for sent, received in found
            for i, output in enumerate(outputs)
        ]

    def outputs(self, args: Arrays) -> Arrays:
        """The outputs among the operands."""
        return args[self.layout.count : 2 * self.layout.count]

    def _slice(
        self, args: Arrays, array: Array, buffer: int, sent: int, offset: int, side: int
    ) -> Array:
        """A view of a slice; starts are clamped as in dynamic slices."""
        size = self.sizes[buffer * self.layout.copies + sent]
        starts = self.layout.offsets(args, buffer, offset, side)
        return array[box(clamped_starts(starts, array.shape, size), size)]
