"""Data that moves between replicas and partitions, and the groups and ids of processes.

(RG1) to (RG6) are the rules of docs/specification/replica_groups.md, (RC1) to (RC4) those of
docs/specification/computations.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import takewhile
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TupleType, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from xla_dialect.attributes import FALSE, FLAG, INTEGER
from xla_dialect.constraints import (
    ArrayOf,
    as_array,
    flat_results,
    require_same_elements,
    with_elements,
)
from xla_dialect.devices.replica_groups import (
    ListedGroups,
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import PureOp, Types, XlaOp
from xla_dialect.ops.reduction import require_reducer
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    compatible,
    compatible_sizes,
    divisible,
    is_unknown,
)
from xla_dialect.types import (
    S32,
    U32,
    Array,
    ElementClass,
    array,
    flatten,
    is_array,
    is_scalar,
    sizes_of,
    spell,
    spell_all,
    without_layout,
)
from xla_dialect.violations import require

ALL = ReplicaGroupsAttr(ListedGroups())


class Ids(Enum):
    """What the ids in groups and pairs stand for (RG5)."""

    REPLICAS = "replicas"
    """Replicas; every partition has groups of its own."""
    PARTITIONS = "partitions"
    """Partitions; every replica has groups of its own."""
    REPLICAS_OF_ALL_PARTITIONS = "replicas of all partitions"
    """Replicas; a group takes in all partitions of each."""
    DEVICES = "devices"
    """Processes: `replica * number of partitions + partition`."""


class CollectiveOp(XlaOp):
    """An operation that processes carry out together."""

    WITH_CHANNEL: ClassVar[Ids] = Ids.PARTITIONS
    """The meaning of ids in operations with a channel."""

    channel_id = opt_prop_def(INTEGER)

    @property
    def channel(self) -> int | None:
        """The number of the channel, if there is one."""
        return None if self.channel_id is None else self.channel_id.value.data

    @property
    def ids(self) -> Ids:
        """What the ids stand for."""
        return Ids.REPLICAS if self.channel_id is None else self.WITH_CHANNEL

    def verify_processes(self, replicas: int, partitions: int) -> None:
        """Checks what depends on how many processes run the module; raises Violation."""

    def require_known(
        self,
        what: str,
        given: object,
        lists: Iterable[Sequence[int]],
        replicas: int,
        partitions: int,
    ) -> None:
        """(C2): ids are those of processes."""
        count = replicas if self.ids == Ids.REPLICAS else partitions
        largest = max(map(max, lists), default=0)
        require(
            count == 1 or largest < count,
            "C2",
            "{} {} name {}, there are {} {}",
            what,
            given,
            largest,
            count,
            self.ids.value,
        )


class GroupedOp(CollectiveOp):
    """A collective of groups; an empty list of groups is one group of all."""

    replica_groups = prop_def(ReplicaGroupsAttr, default_value=ALL)

    @property
    def groups(self) -> ReplicaGroups:
        """The groups."""
        return self.replica_groups.data

    def group_sizes(self, replicas: int, partitions: int) -> list[int]:
        """How many processes each group has, where so many run."""
        each = partitions if self.ids == Ids.REPLICAS_OF_ALL_PARTITIONS else 1
        if self.groups.is_empty:
            return [partitions if self.ids == Ids.PARTITIONS else each * replicas]
        return [each * len(group) for group in self.groups.expand()]

    def verify_processes(self, replicas: int, partitions: int) -> None:
        """(RG1): as many ids as processes, or replicas, or partitions."""
        expected = {
            Ids.REPLICAS: replicas,
            Ids.REPLICAS_OF_ALL_PARTITIONS: replicas,
            Ids.PARTITIONS: partitions,
            Ids.DEVICES: replicas * partitions,
        }[self.ids]
        found = self.groups.id_count
        require(
            self.groups.is_empty or expected == 1 or found == expected,
            "RG1",
            "{} ids in replica groups {}, there are {} {}",
            found,
            self.groups,
            expected,
            self.ids.value,
        )


class GlobalGroupedOp(GroupedOp):
    """A collective of groups that may count processes instead of replicas."""

    WITH_CHANNEL: ClassVar[Ids] = Ids.REPLICAS_OF_ALL_PARTITIONS

    use_global_device_ids = prop_def(FLAG, default_value=FALSE)
    constrain_layout = prop_def(FLAG, default_value=FALSE)

    @property
    def ids(self) -> Ids:
        """What the ids stand for."""
        return Ids.DEVICES if self.use_global_device_ids.value.data else super().ids


def require_channel(channel_id: int | None) -> None:
    """(RG5): channels are counted from 1."""
    require(channel_id is None or channel_id > 0, "RG5", "channel_id is {}", channel_id)


def require_groups(
    groups: ReplicaGroups,
    channel_id: int | None,
    same_size: str | None,
    use_global_device_ids: bool = False,
) -> None:
    """(RG1) and (RG5); `same_size`: the label of the rule that all groups have one size."""
    require_channel(channel_id)
    if use_global_device_ids:
        require(channel_id is not None, "RG5", "use_global_device_ids without channel_id")
        require(not groups.is_empty, "RG5", "use_global_device_ids without replica groups")
    if groups.is_empty:
        return
    fault = groups.fault()
    require(fault is None, "RG1", "replica groups {}: {}", groups, fault)
    if same_size is not None:
        require(groups.size is not None, same_size, "replica groups {} differ in size", groups)


_COUNTS = (
    ("xla.replica_count", "mhlo.num_replicas"),
    ("xla.num_partitions", "mhlo.num_partitions"),
)


def process_counts(module: ModuleOp) -> tuple[int, int]:
    """The number of replicas and partitions that a module declares, by default 1."""
    found: list[int] = []
    for names in _COUNTS:
        values = [module.attributes.get(name) for name in names]
        numbers = [
            cast("IntegerAttr[Any]", value).value.data
            for value in values
            if isinstance(value, IntegerAttr)
        ]
        found.append(numbers[0] if numbers else 1)
    return found[0], found[1]


def set_process_counts(module: ModuleOp, *counts: int) -> None:
    """Sets the attributes of a module that give its number of replicas and partitions."""
    for (name, _), count in zip(_COUNTS, counts, strict=True):
        module.attributes[name] = IntegerAttr(count, i64)


_Value = TypeVar("_Value")


@dataclass(frozen=True)
class PermutedSlices:
    """What the operands are, tuples taken apart: inputs, outputs, offsets into both."""

    ranks: tuple[int, ...]
    """Of each input, and of its output."""
    copies: int
    """How many slices of each input go to the target of one source."""

    @staticmethod
    def of(operands: Sequence[Attribute]) -> PermutedSlices:
        """
        Reads it off the types of the operands.

        Raises Violation (C3) for other buffers than pairs of arrays of one element type and rank,
        (C4) for other offsets than one s32 for each dimension, or several times as many.
        """
        leaves = flatten(operands)
        buffers = list(takewhile(lambda type_: not is_scalar(type_), leaves))
        arrays = [as_array(type_, f"buffer {i}", "C3") for i, type_ in enumerate(buffers)]
        count = len(arrays) // 2
        require(
            0 < len(arrays) == 2 * count,
            "C3",
            "with slice_sizes there are inputs and as many outputs, found {}",
            spell_all(operands),
        )
        ranks = tuple(len(sizes_of(array)) for array in arrays)
        for i in range(count):
            require_same_elements(arrays[i], arrays[count + i], f"input and output {i}", "C3")
        require(
            ranks[:count] == ranks[count:],
            "C3",
            "inputs have ranks {}, outputs {}",
            list(ranks[:count]),
            list(ranks[count:]),
        )
        offsets = leaves[len(arrays) :]
        for offset in offsets:
            require(is_scalar(offset, S32), "C4", "an offset is {}, not s32[]", spell(offset))
        copies, rest = divmod(len(offsets), sum(ranks))
        require(
            copies > 0 and not rest, "C4", "{} offsets for {} dimensions", len(offsets), sum(ranks)
        )
        return PermutedSlices(ranks[:count], copies)

    def slice_sizes(self, text: str, operands: Sequence[Attribute]) -> Sequence[Sequence[int]]:
        """
        The sizes of the slices, those of an input together: `{{2,2},{3,3}}`.

        Raises Violation (C5) where they are not one list for each slice, which fits its arrays.
        """
        lists = re.findall(r"\{([^{}]*)\}", text)
        found = [tuple(map(int, re.findall("-?[0-9]{1,19}", numbers))) for numbers in lists]
        leaves = flatten(operands)
        pairs = [
            (as_array(leaves[i], "", "C3"), as_array(leaves[self.count + i], "", "C3"))
            for i in range(self.count)
            for _ in range(self.copies)
        ]
        require(
            len(found) == len(pairs),
            "C5",
            "slice_sizes are {} for {} slices",
            text,
            len(pairs),
        )
        for sizes, pair in zip(found, pairs, strict=True):
            whole = tuple(map(min, *map(sizes_of, pair)))
            require(
                len(sizes) == len(whole)
                and all(0 <= n <= m for n, m in zip(sizes, whole, strict=True)),
                "C5",
                "slices of sizes {} of {} into {}",
                list(sizes),
                *map(spell, pair),
            )
        return found

    @property
    def count(self) -> int:
        """How many inputs there are, and how many outputs."""
        return len(self.ranks)

    def offsets(self, leaves: Sequence[_Value], buffer: int, copy: int, side: int) -> list[_Value]:
        """The offsets of a slice into an input (`side` 0) or output (1), among all leaves."""
        before = sum(self.ranks[:buffer])
        start = (side * sum(self.ranks) + before) * self.copies + copy * self.ranks[buffer]
        start += 2 * self.count
        return list(leaves[start : start + self.ranks[buffer]])


# Shards: how many a whole has, and how large they are.


def shard_count(
    groups: ReplicaGroups,
    of_all_partitions: bool,
    pairs: Sequence[tuple[int, int]],
) -> int:
    """
    How many shards a whole has, by (C3) of all-gather and reduce-scatter.

    `pairs`: sizes of (whole, shard) along the dimension as declared, if they are. The size of the
    groups decides, unless there are none or each stands for several partitions.
    """
    declared: set[int] = set()
    for whole, shard in pairs:
        if shard and not is_unknown(shard) and not is_unknown(whole):
            require(whole % shard == 0, "C3", "size {} is no multiple of {}", whole, shard)
            declared.add(int(whole) // int(shard))
    require(len(declared) <= 1, "C3", "operands have {} shards", sorted(declared))
    count = declared.pop() if declared else None
    size = groups.size
    if size is None or of_all_partitions:
        require(count is not None or bool(pairs), "C3", "shard_count does not follow")
        if count is None and any(is_unknown(size) for pair in pairs for size in pair):
            return UNKNOWN
        factor = size or 1
        require(
            count is None or (count >= 1 and count % factor == 0),
            "C3",
            "shard_count is {}, groups have size {}",
            count,
            factor,
        )
        return factor if count is None else count
    require(count in (None, size), "C3", "shard_count is {}, groups have size {}", count, size)
    return size


def declared_sizes(declared: Types, count: int, dimension: int) -> list[int]:
    """The declared sizes of the results along a dimension; none where they do not fit."""
    results = flat_results(declared) if count != 1 else declared
    found: list[int] = []
    for type_ in results:
        sizes = sizes_of(type_) if is_array(type_) else ()
        if len(results) != count or dimension >= len(sizes):
            return []
        found.append(sizes[dimension])
    return found


def resized(type_: Array, dimension: int, size: int) -> Attribute:
    """The type with another size of one dimension and the default layout."""
    sizes = [size if d == dimension else n for d, n in enumerate(sizes_of(type_))]
    return array(type_.element_type, sizes)


def arrays_of(operands: Sequence[Attribute]) -> list[Array]:
    """The operands as arrays, at least one (C1)."""
    require(bool(operands), "C1", "there are no operands")
    return [with_elements(t, ElementClass.ANY, f"operand {i}") for i, t in enumerate(operands)]


def require_dimension(dimension: int, arrays: Sequence[Array], label: str) -> None:
    """The dimension is one of every array."""
    for i, type_ in enumerate(arrays):
        rank = len(type_.shape.data)
        require(
            0 <= dimension < rank, label, "dimension {} of operand {}: rank {}", dimension, i, rank
        )


def require_common_reducer(computation: Region, arrays: Sequence[Array]) -> None:
    """(RC1), (RC2), and one element type (C3): one computation reduces all arrays."""
    for i, other in enumerate(arrays):
        require_same_elements(arrays[0], other, f"operands 0 and {i}", "C3")
    require_reducer(computation, "to_apply", arrays[:1])


def relate_blocks(relations: RelationsBuilder, *, dimension: int) -> None:
    """Operand by operand, the blocks along `dimension` are joined or cut by several processes."""
    for i, (before, after) in enumerate(zip(relations.operands, relations.results, strict=True)):
        for d, size in enumerate(before):
            if d != dimension:
                relations.add(size, {i: d}, {i: d})
        block = Factor(before[dimension], FactorType.NEED_REPLICATION, Traversal.PROCESSES)
        relations.add(block, {i: dimension})
        relations.add(replace(block, size=after[dimension]), {}, {i: dimension})


@irdl_op_definition
class AllGatherOp(GlobalGroupedOp):
    """
    Every member of a group gets the operands of all of them, concatenated in group order.

    (C1) the operands are arrays; each is treated alike. (C2) `0 <= dimension < rank`. (C3) the
    number of shards, result size / operand size, is the size of every group; without groups it has
    to be declared. (C4) all groups have one size.
    """

    name = "xla.all_gather"
    inputs = var_operand_def()
    dimension = prop_def(INTEGER)
    outputs = var_result_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        dimension: int,
        declared: Types,
    ) -> Types:
        """Per operand its type, `dimension` as many times as large as there are shards."""
        arrays = arrays_of(inputs)
        require_dimension(dimension, arrays, "C2")
        require_groups(replica_groups, channel_id, "C4", use_global_device_ids)
        shards = [sizes_of(a)[dimension] for a in arrays]
        wholes = declared_sizes(declared, len(arrays), dimension)
        count = shard_count(
            replica_groups,
            channel_id is not None and not use_global_device_ids,
            list(zip(wholes, shards, strict=False)),
        )
        return tuple(resized(a, dimension, n * count) for a, n in zip(arrays, shards, strict=True))

    relate = staticmethod(relate_blocks)


@irdl_op_definition
class AllReduceOp(GlobalGroupedOp):
    """
    `result[i] = to_apply(.. to_apply(operand of member 0[i], of member 1[i]) .., of the last[i])`.

    Every member of a group gets it. The reference folds in group order; implementations may
    reassociate. Groups may differ in size.

    (C1) the operands are arrays, at least one. (C2) (RG1). (C3) (RC1), (RC2) the computation takes
    two scalars of the element type, the same for all operands, and returns one.
    """

    name = "xla.all_reduce"
    inputs = var_operand_def()
    outputs = var_result_def()
    to_apply = region_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        to_apply: Region,
    ) -> Types:
        """The types of the operands."""
        arrays = arrays_of(inputs)
        require_groups(replica_groups, channel_id, None, use_global_device_ids)
        require_common_reducer(to_apply, arrays)
        return tuple(map(without_layout, arrays))

    relate = staticmethod(RelationsBuilder.add_pairs)


@irdl_op_definition
class ReduceScatterOp(GlobalGroupedOp):
    """
    An all-reduce whose result is cut along `dimension`: member i of a group gets block i.

    (C1) as for all-reduce: arrays of one element type and its computation, (RC1), (RC2).
    (C2) `0 <= dimension < rank`. (C3) the number of shards, operand size / result size, is the size
    of every group; without groups it has to be declared. (C4) all groups have one size. (C5) the
    size is a multiple of the number of shards.
    """

    name = "xla.reduce_scatter"
    inputs = var_operand_def()
    dimension = prop_def(INTEGER)
    outputs = var_result_def()
    to_apply = region_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        dimension: int,
        to_apply: Region,
        declared: Types,
    ) -> Types:
        """Per operand its type, `dimension` divided by the number of shards."""
        arrays = arrays_of(inputs)
        require_dimension(dimension, arrays, "C2")
        require_groups(replica_groups, channel_id, "C4", use_global_device_ids)
        require_common_reducer(to_apply, arrays)
        wholes = [sizes_of(a)[dimension] for a in arrays]
        shards = declared_sizes(declared, len(arrays), dimension)
        of_all_partitions = channel_id is not None and not use_global_device_ids
        size = replica_groups.size
        if size is not None and not of_all_partitions:
            for whole in wholes:
                require(divisible(whole, size), "C5", "size {} for {} shards", whole, size)
        count = shard_count(
            replica_groups, of_all_partitions, list(zip(wholes, shards, strict=False))
        )
        return tuple(resized(a, dimension, n // count) for a, n in zip(arrays, wholes, strict=True))

    relate = staticmethod(relate_blocks)


@irdl_op_definition
class AllToAllOp(GlobalGroupedOp):
    """
    Member i of a group gets block i of the operands of all members, in group order.

    With `dimension` the operand is cut along it into as many equal blocks as there are members, and
    the blocks received are concatenated along it. Without, operand i is block i, and the results
    are the blocks received.

    (C1) the operands are arrays: one with `dimension`, else of one type. (C2) `0 <= dimension <
    rank`. (C3) the size is a multiple of the number of members. (C4) all groups have one size, and
    without `dimension` there are as many operands.
    """

    name = "xla.all_to_all"
    WITH_CHANNEL: ClassVar = Ids.PARTITIONS
    inputs = var_operand_def()
    dimension = opt_prop_def(INTEGER)
    outputs = var_result_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        use_global_device_ids: bool,
        dimension: int | None,
        declared: Types,
    ) -> Types:
        """The types of the operands; that of a single one may be declared as a tuple."""
        arrays = arrays_of(inputs)
        require_groups(replica_groups, channel_id, "C4", use_global_device_ids)
        members = replica_groups.size
        if dimension is None:
            for i, other in enumerate(arrays):
                require(
                    compatible_sizes(sizes_of(other), sizes_of(arrays[0]))
                    and other.element_type == arrays[0].element_type,
                    "C1",
                    "operand {} is {}, operand 0 {}",
                    i,
                    spell(other),
                    spell(arrays[0]),
                )
            found = len(arrays)
            require(members in (None, found), "C4", "{} operands for groups of {}", found, members)
        else:
            require(len(arrays) == 1, "C1", "{} operands with a dimension", len(arrays))
            require_dimension(dimension, arrays, "C2")
            size = sizes_of(arrays[0])[dimension]
            require(divisible(size, members or 1), "C3", "size {} for {} blocks", size, members)
        types = tuple(map(without_layout, arrays))
        is_tuple = len(types) == 1 == len(declared) and isinstance(declared[0], TupleType)
        return (TupleType(types),) if is_tuple else types

    def verify_processes(self, replicas: int, partitions: int) -> None:
        """(RG1), and (C3) and (C4) for one group of all."""
        super().verify_processes(replicas, partitions)
        members = replicas if self.ids == Ids.REPLICAS else partitions
        if not self.groups.is_empty or members == 1:
            return
        if self.dimension is None:
            found = len(self.inputs)
            require(found == members, "C4", "{} operands for {} {}", found, members, self.ids.value)
        else:
            size = sizes_of(cast(Array, self.inputs[0].type))[self.dimension.value.data]
            require(divisible(size, members), "C3", "size {} for {} blocks", size, members)

    @staticmethod
    def relate(relations: RelationsBuilder, *, dimension: int | None) -> None:
        """Blocks are cut and joined along `dimension`; or they are the operands."""
        if dimension is None:
            relations.add_pairs()
        else:
            relate_blocks(relations, dimension=dimension)


@irdl_op_definition
class CollectivePermuteOp(CollectiveOp):
    """
    For every pair (s, t) the operands of s go to t; who is no target gets zeros.

    With `slice_sizes` the operands are input, output, input offsets and output offsets: slices of
    the input of s go into the output of t, which stays as it is elsewhere. Inputs and outputs may
    be tuples, the offsets of an array are a tuple, or k of them where each source sends k slices.

    (C1) no two pairs have one source, and no two pairs one target; of k slices, no more than k.
    (C2) ids are those of processes, from 0. (C3) the operands are arrays, at least one; inputs and
    outputs have one element type and rank each. (C4) an offset is an `s32[]`, one per dimension.
    (C5) `slice_sizes` has the sizes of each slice, of an input together, no larger than its arrays.
    """

    name = "xla.collective_permute"
    inputs = var_operand_def()
    source_target_pairs = prop_def(SourceTargetPairsAttr)
    slice_sizes = opt_prop_def(StringAttr)
    outputs = var_result_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        channel_id: int | None,
        source_target_pairs: SourceTargetPairs,
        slice_sizes: str | None,
    ) -> Types:
        """The types of the operands; with `slice_sizes` those of the outputs."""
        require_channel(channel_id)
        require(bool(inputs), "C3", "there are no operands")
        slices = None if slice_sizes is None else PermutedSlices.of(inputs)
        side = source_target_pairs.repeated(1 if slices is None else slices.copies)
        require(side is None, "C1", "pairs {} repeat a {}", source_target_pairs, side)
        if slices is not None and slice_sizes is not None:
            slices.slice_sizes(slice_sizes, inputs)
            whole = inputs[1:2] if isinstance(inputs[0], TupleType) else ()
            return whole or flatten(inputs)[slices.count : 2 * slices.count]
        arrays = [
            with_elements(t, ElementClass.ANY, f"operand {i}", "C3") for i, t in enumerate(inputs)
        ]
        return tuple(map(without_layout, arrays))

    def verify_processes(self, replicas: int, partitions: int) -> None:
        """(C2)"""
        pairs = self.source_target_pairs.data
        self.require_known("pairs", pairs, pairs.pairs, replicas, partitions)

    @staticmethod
    def relate(relations: RelationsBuilder, *, slice_sizes: str | None) -> None:
        """Each result has the dimensions of its operand; slices, those of the output."""
        relations.add_pairs(len(relations.results) if slice_sizes else 0)


@irdl_op_definition
class CollectiveBroadcastOp(GroupedOp):
    """
    Every member of a group gets the operands of the first one; who is in no group gets zeros.

    With `has_dynamic_root` the last operand says for every other one which member of the group it
    comes from.

    (C1) the operands are arrays, at least one. (C2) no id is in two groups, no group is empty.
    (C3) with `has_dynamic_root` the last operand is `s32[k]` for k others.
    """

    name = "xla.collective_broadcast"
    inputs = var_operand_def()
    has_dynamic_root = prop_def(FLAG, default_value=FALSE)
    outputs = var_result_def()

    @staticmethod
    def infer(
        inputs: tuple[Attribute, ...],
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
        has_dynamic_root: bool,
    ) -> Types:
        """The types of the operands that are broadcast."""
        require_channel(channel_id)
        arrays = arrays_of(inputs)
        if isinstance(replica_groups, ListedGroups):
            ids = [number for group in replica_groups.groups for number in group]
            require(
                len(set(ids)) == len(ids) and all(replica_groups.groups),
                "C2",
                "replica groups {} repeat an id, or are empty",
                replica_groups,
            )
        else:
            fault = replica_groups.fault()
            require(fault is None, "C2", "replica groups {}: {}", replica_groups, fault)
        if has_dynamic_root:
            *arrays, roots = arrays
            require(
                bool(arrays) and roots == array(S32, (len(arrays),)),
                "C3",
                "the last operand is {}, not s32[{}]",
                spell(roots),
                len(arrays),
            )
        return tuple(map(without_layout, arrays))

    def verify_processes(self, replicas: int, partitions: int) -> None:
        """Ids are those of processes (C2)."""
        groups = self.groups
        self.require_known("replica groups", groups, groups.expand(), replicas, partitions)

    relate = staticmethod(RelationsBuilder.add_pairs)


@irdl_op_definition
class RaggedAllToAllOp(GroupedOp):
    """
    Rows of the inputs go where the offsets say; all other rows are those of `output`.

    `input[input_offsets[i] : + send_sizes[i]]` goes to member i of the group, to rows
    `output_offsets[i]` and following there; `recv_sizes[i]` rows come from member i.

    (C1) input and output have one element type, a dimension 0, and equal sizes of all others.
    (C2) offsets and sizes are integers of one type: per member one, or a row of them. (C3) all
    groups have one size, that of dimension 0 of the offsets.
    """

    name = "xla.ragged_all_to_all"
    input = output = operand_def(ArrayOf())
    input_offsets = send_sizes = output_offsets = recv_sizes = operand_def(
        ArrayOf(ElementClass.INTEGER, "C2")
    )
    result = result_def()

    @staticmethod
    def infer(
        input: Array,
        output: Array,
        input_offsets: Array,
        send_sizes: Array,
        output_offsets: Array,
        recv_sizes: Array,
        *,
        replica_groups: ReplicaGroups,
        channel_id: int | None,
    ) -> Types:
        """The type of `output`."""
        require_same_elements(input, output, "input and output", "C1")
        require(
            bool(sizes_of(input)) and compatible_sizes(sizes_of(input)[1:], sizes_of(output)[1:]),
            "C1",
            "input is {}, output {}",
            spell(input),
            spell(output),
        )
        plan = (input_offsets, send_sizes, output_offsets, recv_sizes)
        require(
            len(sizes_of(plan[0])) in (1, 2) and all(n == plan[0] for n in plan),
            "C2",
            "offsets and sizes are {}",
            spell_all(plan),
        )
        require_groups(replica_groups, channel_id, "C3")
        members = sizes_of(plan[0])[0]
        require(
            replica_groups.size is None or compatible(replica_groups.size, members),
            "C3",
            "{} offsets for groups of {}",
            members,
            replica_groups.size,
        )
        return (without_layout(output),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Rows move between processes."""
        rows = [
            Factor(sizes[0], FactorType.NEED_REPLICATION, Traversal.PROCESSES)
            for sizes in relations.operands[:2]
        ]
        relations.add(rows[0], {0: 0})
        relations.add(rows[1], {1: 0}, {0: 0})
        for d, size in enumerate(relations.results[0][1:], 1):
            relations.add(size, {0: d, 1: d}, {0: d})


class ProcessNumberOp(PureOp):
    """A number of this process, from 0, as `u32[]`."""

    UNRELATED: ClassVar = "a number"

    @staticmethod
    def infer() -> Types:
        """`u32[]`."""
        return (array(U32, ()),)


@irdl_op_definition
class ReplicaIdOp(ProcessNumberOp):
    """The number of this replica, from 0, as `u32[]`."""

    name = "xla.replica_id"


@irdl_op_definition
class PartitionIdOp(ProcessNumberOp):
    """The number of this partition, from 0, as `u32[]`."""

    name = "xla.partition_id"
