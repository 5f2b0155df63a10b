"""Replica groups and ids, which all collectives share.

The rules (RG1) to (RG6) are those of docs/specification/replica_groups.md.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, i1, i64
from xdsl.irdl import opt_prop_def, prop_def

from xla_dialect.devices.replica_groups import ListedGroups, ReplicaGroups, ReplicaGroupsAttr
from xla_dialect.op import XlaOp
from xla_dialect.violations import require

INTEGER = IntegerAttr.constr(type=i64)
FLAG = IntegerAttr.constr(type=i1)
FALSE = BoolAttr.from_bool(False)
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
