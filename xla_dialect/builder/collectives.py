"""Data that moves between replicas and partitions (docs/generated/ops.md#collectives)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, TypeAlias, overload

from xdsl.ir import Attribute, Region

from xla_dialect.attributes import SpellingError
from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.recorder import normalized
from xla_dialect.builder.value import XlaValue
from xla_dialect.devices.replica_groups import (
    ListedGroups,
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectivePermuteOp,
    PartitionIdOp,
    RaggedAllToAllOp,
    ReduceScatterOp,
    ReplicaIdOp,
)
from xla_dialect.ops.data_movement import ReshapeOp, TransposeOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.types import PRED, array, flatten, is_array, tuple_elements

Groups: TypeAlias = Sequence[Sequence[int]] | str | None
"""
Replica groups: lists of ids, or as HLO spells them, `"[2,4]<=[8]"`. None: one group of all.
"""


Shards: TypeAlias = list[Attribute]


def as_groups(given: Groups) -> ReplicaGroupsAttr:
    """The attribute for groups; raises BuildError for a text that does not spell any."""
    if not isinstance(given, str):
        groups = tuple(tuple(index(n) for n in group) for group in given or ())
        return ReplicaGroupsAttr(ListedGroups(groups))
    try:
        return ReplicaGroupsAttr(ReplicaGroups.parse(given))
    except SpellingError as error:
        raise build_error(f"replica groups '{given}': {error}") from None


def as_pairs(given: Sequence[tuple[int, int]]) -> SourceTargetPairsAttr:
    """The attribute for pairs of source and target."""
    return SourceTargetPairsAttr(SourceTargetPairs(tuple((index(s), index(t)) for s, t in given)))


def with_shards(method: str, values: Sequence[XlaValue], dimension: int, count: int) -> Shards:
    """
    The types of the values with `count` shards together along a dimension.

    A dimension out of range is left to the constraints of the operation.
    """
    if count < 1:
        raise build_error(f"{method}: (C3) shard_count is {count}")
    return [_resized(value, dimension, lambda size: size * count) for value in values]


def shards(method: str, values: Sequence[XlaValue], dimension: int, count: int) -> Shards:
    """The types of one of `count` shards of each value; see `with_shards`."""
    if count < 1:
        raise build_error(f"{method}: (C3) shard_count is {count}")
    for value in values:
        size = value.shape[dimension] if 0 <= dimension < value.rank else 0
        if size % count:
            raise build_error(f"{method}: (C5) size {size} for {count} shards")
    return [_resized(value, dimension, lambda size: size // count) for value in values]


def _resized(value: XlaValue, dimension: int, resize: Callable[[int], int]) -> Attribute:
    sizes = [resize(size) if d == dimension else size for d, size in enumerate(value.shape)]
    return array(value.element_type, sizes)


class CollectiveMethods(Computations):
    """
    Methods that move data between processes.

    Where several arrays may be given, they are a sequence, and so are the results; or a tuple, and
    so is the result.
    """

    def _arrays(self, operand: XlaValue | Sequence[XlaValue]) -> list[XlaValue]:
        """The arrays that are given: one, the elements of a tuple, or a sequence."""
        if not isinstance(operand, XlaValue):
            return [XlaValue(self._self, value) for value in self._all_ssa(operand)]
        elements = tuple_elements(self._ssa(operand).type)
        if elements is None:
            return [operand]
        return [
            self._append_one(GetTupleElementOp, operand.ssa, index=i) for i in range(len(elements))
        ]

    def _collective(
        self,
        op_class: type[XlaOp],
        operand: XlaValue | Sequence[XlaValue],
        arrays: Sequence[XlaValue],
        **keywords: Any,
    ) -> Any:
        """The results in the form in which the operand was given."""
        results = self._append(op_class, [value.ssa for value in arrays], **keywords)
        if not isinstance(operand, XlaValue):
            return results
        if tuple_elements(operand.type) is None:
            return results[0]
        return self._append_one(TupleOp, [value.ssa for value in results])

    def _reducer(self, arrays: Sequence[XlaValue], computation: Computation) -> Region:
        """The computation on scalars of the element type of the first array."""
        scalar = array(arrays[0].element_type if arrays else PRED, ())
        return self._region(computation, [scalar, scalar])

    @overload
    def all_gather(
        self,
        operand: XlaValue,
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...

    @overload
    def all_gather(
        self,
        operand: Sequence[XlaValue],
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]: ...

    def all_gather(
        self,
        operand: XlaValue | Sequence[XlaValue],
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        The operands of all members of a group, concatenated along a dimension in group order.

        (C3) `shard_count` is at least 1. Example: `b.all_gather(x, 0, 2, [[0, 2], [1, 3]])`.
        """
        arrays = self._arrays(operand)
        dimension = normalized(all_gather_dim, arrays[0].rank if arrays else 0)
        return self._collective(
            AllGatherOp,
            operand,
            arrays,
            dimension=dimension,
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            result_types=with_shards("all_gather", arrays, dimension, shard_count),
        )

    @overload
    def all_reduce(
        self,
        operand: XlaValue,
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...

    @overload
    def all_reduce(
        self,
        operand: Sequence[XlaValue],
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]: ...

    def all_reduce(
        self,
        operand: XlaValue | Sequence[XlaValue],
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        The operands of all members of a group, folded element by element.

        Example: `b.all_reduce(x, b.max, [[0, 1]])`.
        """
        arrays = self._arrays(operand)
        return self._collective(
            AllReduceOp,
            operand,
            arrays,
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer(arrays, computation)],
        )

    def cross_replica_sum(self, operand: XlaValue, replica_groups: Groups = None) -> XlaValue:
        """
        The sum over all members of a group. (C1) the elements are not pred.

        Example: `b.cross_replica_sum(x)`.
        """
        if any(is_array(t) and t.element_type == PRED for t in flatten((operand.type,))):
            raise build_error("cross_replica_sum: (C1) pred values have no sum")
        return self.all_reduce(operand, self._self.add, replica_groups)

    def all_to_all(
        self,
        operand: XlaValue,
        split_dimension: int,
        concat_dimension: int,
        split_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        """
        Block i of `split_count` goes to member i; what comes is concatenated in group order.

        (C2) both dimensions are those of the operand. (C3) `split_count` is at least 1 and divides
        the size of the first. (C4) groups, where they are given, have as many members.

        Example: `b.all_to_all(x, 1, 0, 4)`.
        """
        groups = as_groups(replica_groups)
        split = normalized(split_dimension, operand.rank)
        concat = normalized(concat_dimension, operand.rank)
        for number in (split, concat):
            if not 0 <= number < operand.rank:
                raise build_error(f"all_to_all: (C2) dimension {number} of rank {operand.rank}")
        if split_count < 1 or operand.shape[split] % split_count:
            raise build_error(
                f"all_to_all: (C3) size {operand.shape[split]} for {split_count} blocks"
            )
        if groups.data.size not in (None, split_count):
            raise build_error(
                f"all_to_all: (C4) split_count is {split_count}, groups have {groups.data.size}"
            )
        received = self._append_one(
            AllToAllOp,
            [self._checked_array(operand)],
            dimension=split,
            replica_groups=groups,
            channel_id=channel_id,
        )
        return received if split == concat else self._rejoined(received, split, concat, split_count)

    def _rejoined(self, received: XlaValue, split: int, concat: int, count: int) -> XlaValue:
        """Blocks that lie one after the other along `split`, put along `concat` instead."""
        element_type = received.element_type
        apart, order, joined = shapes.rejoined(received.shape, split, concat, count)
        blocks = self._append_one(
            ReshapeOp, received.ssa, result_types=[array(element_type, apart)]
        )
        moved = self._append_one(TransposeOp, blocks.ssa, dimensions=order)
        return self._append_one(ReshapeOp, moved.ssa, result_types=[array(element_type, joined)])

    def all_to_all_tuple(
        self,
        operands: Sequence[XlaValue],
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        """
        Operand i goes to member i; gives what comes from every member, in group order.

        Example: `b.all_to_all_tuple([x, y], [[0, 1]])`.
        """
        return self._append(
            AllToAllOp,
            self._all_ssa(operands),
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
        )

    @overload
    def collective_permute(
        self,
        operand: XlaValue,
        source_target_pairs: Sequence[tuple[int, int]],
        channel_id: int | None = None,
    ) -> XlaValue: ...

    @overload
    def collective_permute(
        self,
        operand: Sequence[XlaValue],
        source_target_pairs: Sequence[tuple[int, int]],
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]: ...

    def collective_permute(
        self,
        operand: XlaValue | Sequence[XlaValue],
        source_target_pairs: Sequence[tuple[int, int]],
        channel_id: int | None = None,
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        What the source paired with this process has; zeros if there is none.

        Example: `b.collective_permute(x, [(0, 1), (1, 2)])`.
        """
        return self._collective(
            CollectivePermuteOp,
            operand,
            self._arrays(operand),
            source_target_pairs=as_pairs(source_target_pairs),
            channel_id=channel_id,
        )

    def collective_broadcast(
        self, operand: XlaValue, replica_groups: Groups = None, channel_id: int | None = None
    ) -> XlaValue:
        """
        What the first member of the group has; zeros outside of all groups.

        Example: `b.collective_broadcast(x, [[1, 0]])`.
        """
        return self._collective(
            CollectiveBroadcastOp,
            operand,
            self._arrays(operand),
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
        )

    @overload
    def reduce_scatter(
        self,
        operand: XlaValue,
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...

    @overload
    def reduce_scatter(
        self,
        operand: Sequence[XlaValue],
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]: ...

    def reduce_scatter(
        self,
        operand: XlaValue | Sequence[XlaValue],
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        Block i of what `all_reduce` gives, for member i of a group of `shard_count`.

        (C3) that is at least 1. (C5) it divides the size of the dimension.

        Example: `b.reduce_scatter(x, b.add, 0, 2, [[0, 1]])`.
        """
        arrays = self._arrays(operand)
        dimension = normalized(scatter_dimension, arrays[0].rank if arrays else 0)
        return self._collective(
            ReduceScatterOp,
            operand,
            arrays,
            dimension=dimension,
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
            use_global_device_ids=use_global_device_ids,
            regions=[self._reducer(arrays, computation)],
            result_types=shards("reduce_scatter", arrays, dimension, shard_count),
        )

    def ragged_all_to_all(
        self,
        input: XlaValue,
        output: XlaValue,
        input_offsets: XlaValue,
        send_sizes: XlaValue,
        output_offsets: XlaValue,
        recv_sizes: XlaValue,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        """
        `output` with rows from all members: those that each one's offsets and sizes name.

        Example: `b.ragged_all_to_all(x, y, k, k, k, k, [[0, 1, 2]])`.
        """
        operands = (input, output, input_offsets, send_sizes, output_offsets, recv_sizes)
        return self._append_one(
            RaggedAllToAllOp,
            *self._all_ssa(operands),
            replica_groups=as_groups(replica_groups),
            channel_id=channel_id,
        )

    def replica_id(self) -> XlaValue:
        """The number of this replica, `u32[]`. Example: `b.replica_id()`."""
        return self._append_one(ReplicaIdOp)

    def partition_id(self) -> XlaValue:
        """The number of this partition, `u32[]`. Example: `b.partition_id()`."""
        return self._append_one(PartitionIdOp)
