"""Collectives: what replicas and partitions compute together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, DenseIntOrFPElementsAttr, UnitAttr
from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import (
    BaseAttr,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG, INTEGER, TRUE
from xla_dialect.devices.process_grid import MAX_PROCESSES
from xla_dialect.devices.replica_groups import (
    ListedGroups,
    MeshGroups,
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import collectives as xla
from xla_dialect.ops.collectives import CollectiveOp as XlaCollectiveOp
from xla_dialect.ops.collectives import GroupedOp as XlaGroupedOp
from xla_dialect.shapes.size_arithmetic import divisible
from xla_dialect.sharding.attributes import Meshes, meshes_around, meshes_of
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo.attributes import (
    ChannelHandleAttr,
    Chosen,
    FutureType,
    Inexpressible,
    MeshAxes,
)
from xla_dialect.stablehlo.op import (
    Codec,
    PureOp,
    StableHloOp,
    flag,
    just_as,
    rows_of,
    same_as,
)
from xla_dialect.stablehlo.ops.data_movement import (
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    SliceOp,
)
from xla_dialect.stablehlo.ops.reduction import AccumulatingOp, accumulators_of, matrix, pairs_of
from xla_dialect.types import S32, array, as_array, sizes_of, spell_all
from xla_dialect.violations import check, require
from xla_dialect.xdsl.definition import op_definition

DEVICE_TO_DEVICE = 1
"""The type of the channels of collectives."""

_FILLER = -1
"""What fills up the rows of groups that are shorter than others."""


# Groups


def listed_groups(value: Attribute) -> ReplicaGroups:
    """The groups that the rows of a matrix list, without the filler; raises VerifyException."""
    rows = rows_of("replica_groups", value)
    return ListedGroups(tuple(tuple(n for n in row if n != _FILLER) for row in rows))


def groups_among(value: Attribute, meshes: Meshes) -> ReplicaGroups:
    """
    The groups of a matrix, or of a mesh, which may be one of `meshes`; raises VerifyException.

    HLO text cannot spell all names of axes: groups of other ones are listed.
    """
    if not isinstance(value, MeshAxes):
        return listed_groups(value)
    mesh = value.data.mesh
    if isinstance(mesh, str):
        found = meshes.get(mesh)
        if found is None:
            raise VerifyException(f"replica_groups: there is no mesh @{mesh}")
        mesh = found
    axes = value.data.axes
    numbers = [size for _, size in mesh.axes]
    numbers += [n for axis in axes if axis.size is not None for n in (axis.pre_size, axis.size)]
    check(
        min(numbers, default=1) >= 1,
        "replica_groups: sizes {} of the axes of a mesh are not all positive",
        numbers,
    )
    groups = MeshGroups(mesh, axes)
    fault = groups.fault()
    if fault is not None:
        raise VerifyException(f"replica_groups: {fault}")
    if all(_NAME_IN_HLO.fullmatch(name) for name, _ in mesh.axes):
        return groups
    return ListedGroups(groups.expand())


_NAME_IN_HLO = re.compile(r"[\w.$-]+", re.ASCII)


def groups_in(op: Operation, groups: ReplicaGroups) -> Attribute:
    """The groups of an operation in StableHLO: those of a mesh by its axes, others as a matrix."""
    if not isinstance(groups, MeshGroups):
        return matrix_of_groups(groups)
    mesh = groups.mesh
    return MeshAxes(Chosen(_name_of_mesh(mesh, op) or mesh, groups.chosen))


def matrix_of_groups(groups: ReplicaGroups) -> Attribute:
    """The groups as a matrix, the shorter ones filled up."""
    rows = groups.expand()
    width = max(map(len, rows), default=0)
    return matrix([(*row, *[_FILLER] * (width - len(row))) for row in rows], width)


def _name_of_mesh(mesh: Mesh, op: Operation) -> str | None:
    """The name that the module has for a mesh."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return next((name for name, known in meshes_of(op).items() if known == mesh), None)


# What collectives share


def _channel_number(op: StableHloOp, handle: ChannelHandleAttr | None) -> Attribute | None:
    """The number of a channel; 0 stands for none."""
    return handle.handle if handle is not None and handle.handle.value.data else None


def _channel_handle(op: XlaCollectiveOp, number: Attribute | None) -> Attribute | None:
    return None if op.channel is None else ChannelHandleAttr.of(op.channel, DEVICE_TO_DEVICE)


def _xla_groups(op: StableHloOp, value: Attribute) -> Attribute:
    return ReplicaGroupsAttr(groups_among(value, meshes_around(op)))


def _own_groups(op: XlaGroupedOp, value: Attribute) -> Attribute:
    return groups_in(op, op.groups)


class CollectiveOp(StableHloOp):
    """A collective, over a channel or not."""

    CODECS: ClassVar = {"channel_handle": Codec("channel_id", _channel_number, _channel_handle)}

    channel_handle = opt_prop_def(ChannelHandleAttr)


class GroupedOp(CollectiveOp):
    """A collective of groups, which may be of a mesh of the module."""

    CODECS: ClassVar = {
        "replica_groups": Codec("replica_groups", _xla_groups, _own_groups),
        **CollectiveOp.CODECS,
    }

    replica_groups = prop_def(BaseAttr(DenseIntOrFPElementsAttr) | BaseAttr(MeshAxes))

    def checked_groups(self) -> ReplicaGroups:
        """The groups, which obey the rules of `xla`; raises VerifyException."""
        found = groups_among(self.replica_groups, meshes_around(self))
        channel = _channel_number(self, self.channel_handle)
        xla.require_groups(found, decode(channel), "C4", False)
        return found


class GlobalGroupedOp(GroupedOp):
    """A collective of groups that may count processes instead of replicas."""

    CODECS: ClassVar = {
        **GroupedOp.CODECS,
        "use_global_device_ids": Codec(
            "use_global_device_ids",
            lambda op, value: BoolAttr.from_bool(value is not None),
            lambda op, value: UnitAttr() if value == TRUE else None,
        ),
    }

    use_global_device_ids = opt_prop_def(UnitAttr)


class ReducingOp(AccumulatingOp):
    """A collective with one computation, which accumulates all operands."""

    def accumulators(self, region: Region) -> Sequence[Attribute]:
        """The type of the accumulator of each operand."""
        return [*accumulators_of(region, 1)] * len(self.operands)


# Collectives that XLA has just as StableHLO


@just_as(xla.AllGatherOp)
class AllGatherOp(GlobalGroupedOp):
    """Every member of a group gets the operands of all of them, concatenated in group order."""

    NAMES: ClassVar = {"all_gather_dim": "dimension"}
    all_gather_dim = prop_def(INTEGER)


@just_as(xla.AllReduceOp)
class AllReduceOp(ReducingOp, GlobalGroupedOp):
    """Every member of a group gets what the computation makes of the operands of all of them."""

    computation = region_def()


@just_as(xla.ReduceScatterOp)
class ReduceScatterOp(ReducingOp, GlobalGroupedOp):
    """An all-reduce whose result is cut along a dimension: member i of a group gets block i."""

    NAMES: ClassVar = {"scatter_dimension": "dimension"}
    operand = operand_def()
    scatter_dimension = prop_def(INTEGER)
    result = result_def()
    computation = region_def()


@op_definition
class CrossReplicaSumOp(GroupedOp):
    """An all-reduce that adds, as earlier dialects have it."""

    name = "stablehlo.cross-replica-sum"
    operand = operand_def()
    replica_groups = prop_def(DenseIntOrFPElementsAttr)
    result = result_def()

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The type of the operand, which is an array."""
        self.checked_groups()
        return list(xla.arrays_of(operands))


class RootedOp(GroupedOp):
    """A collective that a member of each group is the root of, which the last operand may say."""

    CODECS: ClassVar = {**GroupedOp.CODECS, "has_dynamic_root": flag("has_dynamic_root")}

    has_dynamic_root = opt_prop_def(FLAG)

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """Those of groups, which have as many results as there are operands with a root."""
        given, results = len(self.operands), len(self.results)
        count = given - self.tells_root
        require(results == count, "C5", "has {} operands and {} results", given, results)
        return super().xla_properties(operands)

    @property
    def tells_root(self) -> bool:
        """Whether the last operand says the root of each other one."""
        return self.has_dynamic_root is not None and bool(self.has_dynamic_root.value.data)


def _full_groups(op: StableHloOp, value: Attribute) -> Attribute:
    """Groups that are not filled up."""
    rows = () if isinstance(value, MeshAxes) else rows_of("replica_groups", value)
    is_filled = any(_FILLER in row for row in rows)
    check(not is_filled, "replica_groups {} have a negative id", value)
    return _xla_groups(op, value)


def _groups_of_one_size(op: XlaGroupedOp, value: Attribute) -> Attribute:
    if len(set(map(len, op.groups.expand()))) > 1:
        raise Inexpressible("StableHLO has no groups of different sizes here")
    return _own_groups(op, value)


@just_as(xla.CollectiveBroadcastOp)
class CollectiveBroadcastOp(RootedOp):
    """Every member of a group gets the operands of its root, which is the first one by default."""

    CODECS: ClassVar = {
        **RootedOp.CODECS,
        "replica_groups": Codec("replica_groups", _full_groups, _groups_of_one_size),
    }


def _xla_pairs(op: StableHloOp, value: Attribute) -> Attribute:
    pairs = pairs_of("source_target_pairs", value)
    is_negative = any(min(pair) < 0 for pair in pairs)
    check(not is_negative, "source_target_pairs {} have a negative id", pairs)
    return SourceTargetPairsAttr(SourceTargetPairs(tuple(pairs)))


def _own_pairs(op: XlaOp, value: SourceTargetPairsAttr) -> Attribute:
    if "slice_sizes" in op.properties:
        raise Inexpressible("StableHLO permutes whole arrays, not slices")
    return matrix(value.data.pairs)


@just_as(xla.CollectivePermuteOp)
class CollectivePermuteOp(CollectiveOp):
    """For every pair of source and target, the target gets the operand of the source."""

    CODECS: ClassVar = {
        "source_target_pairs": Codec("source_target_pairs", _xla_pairs, _own_pairs),
        **CollectiveOp.CODECS,
    }
    operand = operand_def()
    source_target_pairs = prop_def(DenseIntOrFPElementsAttr)
    result = result_def()


class ProcessOp(PureOp):
    """The number of the process that runs the program."""

    assembly_format = "attr-dict `:` type($result)"


PartitionIdOp = same_as(xla.PartitionIdOp, ProcessOp)
ReplicaIdOp = same_as(xla.ReplicaIdOp, ProcessOp)


# Collectives that XLA has in other words


class ExpandedOp(GroupedOp):
    """A collective that is several operations of XLA."""

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The result types for operands of these types; raises VerifyException."""
        groups = groups_among(self.replica_groups, meshes_around(self)).expand()
        return self.results_for(self.xla_operand_types(operands, self.regions), groups)

    def results_for(
        self, operands: Sequence[Attribute], groups: Sequence[Sequence[int]]
    ) -> Sequence[Attribute]:
        """The result types for operands of these types and groups; raises VerifyException."""
        raise NotImplementedError


@op_definition
class AllToAllOp(ExpandedOp):
    """
    Each operand is cut along one dimension into blocks, one for each member of a group; the blocks
    that a member gets are concatenated along another dimension.
    """

    name = "stablehlo.all_to_all"
    inputs = var_operand_def()
    split_dimension = prop_def(INTEGER)
    concat_dimension = prop_def(INTEGER)
    split_count = prop_def(INTEGER)
    outputs = var_result_def()

    @property
    def cut(self) -> tuple[int, int, int]:
        """The dimensions that are cut and concatenated, and how many blocks there are."""
        numbers = (self.split_dimension, self.concat_dimension, self.split_count)
        split, concat, count = (number.value.data for number in numbers)
        return split, concat, count

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The result types for operands of these types; raises VerifyException."""
        self.checked_groups()
        return super().inferred(operands, declared)

    def results_for(
        self, operands: Sequence[Attribute], groups: Sequence[Sequence[int]]
    ) -> Sequence[Attribute]:
        """The operands' types, smaller along one dimension, larger along the other."""
        split, concat, count = self.cut
        sizes_of_groups = {len(group) for group in groups}
        check(
            all(size == count for size in sizes_of_groups),
            "split_count {} for groups of {}",
            count,
            sorted(sizes_of_groups),
        )
        results: list[Attribute] = []
        for type_ in xla.arrays_of(operands):
            sizes = list(sizes_of(type_))
            is_in = 0 <= split < len(sizes) and 0 <= concat < len(sizes)
            require(is_in, "C2", "dimensions {} and {} of rank {}", split, concat, len(sizes))
            is_whole = count > 0 and divisible(sizes[split], count)
            require(is_whole, "C3", "size {} for {} blocks", sizes[split], count)
            sizes[split] //= count
            sizes[concat] *= count
            results.append(array(type_.element_type, sizes))
        return results


@op_definition
class CollectiveReduceOp(ReducingOp, RootedOp, ExpandedOp):
    """
    The root of each group gets what the computation makes of the operands of all members; others
    get zeros.
    """

    name = "stablehlo.collective_reduce"
    inputs = var_operand_def()
    outputs = var_result_def()
    computation = region_def()

    def accumulators(self, region: Region) -> Sequence[Attribute]:
        """The type of the accumulator of each operand; one that says the roots keeps its own."""
        found = super().accumulators(region)
        return [*found[:-1], self.operand_types[-1]] if self.tells_root and found else found

    def results_for(
        self, operands: Sequence[Attribute], groups: Sequence[Sequence[int]]
    ) -> Sequence[Attribute]:
        """The types of the operands that are reduced."""
        members = {len(group) for group in groups}
        check(
            len(members) == 1 and 0 not in members,
            "replica_groups have {} members, expected as many each",
            sorted(members),
        )
        numbers = [number for group in groups for number in group]
        check(
            0 <= min(numbers) <= max(numbers) < MAX_PROCESSES,
            "replica_groups have ids from {} to {}, there are {} processes at most",
            min(numbers),
            max(numbers),
            MAX_PROCESSES,
        )
        taken = len(self.computation.block.args)
        require(taken == 2, "C4", "its computation takes {} values, not two", taken)
        arrays = list(operands)
        roots = arrays.pop() if self.tells_root and arrays else None
        check(arrays and all(map(as_array, arrays)), "takes arrays, at least one")
        are_roots = roots is None or roots == array(S32, (len(arrays),))
        require(are_roots, "C3", "the last operand is {}, not s32[{}]", roots, len(arrays))
        return arrays


@op_definition
class AsyncStartOp(StableHloOp):
    """Begins what the only operation of its region does, and gives a future of its results."""

    name = "stablehlo.async_start"
    inputs = var_operand_def()
    future = result_def()
    body = region_def()

    @property
    def contents(self) -> Sequence[Attribute]:
        """The types that the future gives; raises VerifyException for another type."""
        type_ = self.future.type
        if not isinstance(type_, FutureType):
            raise VerifyException(f"the result is {type_}, not a future")
        return type_.types.data

    def verify_(self) -> None:
        """Checks what the region takes, and that it is one operation of the right kind."""
        self.contents  # noqa: B018
        given = list(self.operand_types)
        taken = [argument.type for block in self.body.blocks for argument in block.args]
        check(
            taken == given,
            "its operands are {}, its region takes {}",
            spell_all(given),
            spell_all(taken),
        )
        inside = [op for block in self.body.blocks for op in block.ops]
        if len(inside) != 2 or not isinstance(inside[0], _ASYNCHRONOUS):
            names = ", ".join(op.name for op in inside)
            raise VerifyException(
                f"its region has {names}, not one collective or slice and a return"
            )


_ASYNCHRONOUS = (CollectiveOp, DynamicSliceOp, DynamicUpdateSliceOp, SliceOp)
"""What runs asynchronously."""


@op_definition
class AsyncDoneOp(StableHloOp):
    """Waits for what was begun."""

    name = "stablehlo.async_done"
    future = operand_def()
    outputs = var_result_def()

    def verify_(self) -> None:
        """Checks that the results are what the future gives."""
        future, declared = self.future.type, list(self.result_types)
        if not isinstance(future, FutureType) or list(future.types.data) != declared:
            listed = ", ".join(map(str, declared))
            raise VerifyException(f"waits for {future}, its results are ({listed})")
