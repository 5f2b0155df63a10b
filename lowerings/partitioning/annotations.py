"""Whether a program says how its arrays are split, and whether that has been done already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xla_dialect.ops import custom_calls as calls
from xla_dialect.ops.collectives import CollectiveOp, PartitionIdOp
from xla_dialect.ops.custom_calls import (
    ANNOTATIONS,
    PARTITIONED_CALLBACK,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.sharding.attributes import MESHES, SHARDING
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr, HloShardingKind
from xla_dialect.xdsl.traversal import operations_in

HLO_SHARDINGS = ("xla.sharding", "mhlo.sharding")
"""The attributes with shardings of HLO."""
SHARDY_ENTRY = "xla.sdy.sharding"
"""The entry of frontend attributes with a sharding of Shardy."""
_SPLIT = (HloShardingKind.TILED, HloShardingKind.NAMED)
_BORDERS = (calls.GLOBAL_TO_LOCAL, calls.LOCAL_TO_GLOBAL, calls.FULL_TO_SHARD, calls.SHARD_TO_FULL)
_BEFORE_PARTITIONING = (calls.SHARDING_CONSTRAINT, calls.FUNCTION_RESULT_SHARDING, *_BORDERS)


def hlo_sharding(entries: Mapping[str, Attribute]) -> HloSharding | None:
    """The sharding of HLO among attributes."""
    for name in HLO_SHARDINGS:
        found = entries.get(name)
        if isinstance(found, HloShardingAttr):
            return found.data
    return None


def all_entries(operations: Iterable[Operation]) -> Iterator[Mapping[str, Attribute]]:
    """The attributes of operations, and of the parameters and results of functions."""
    for op in operations:
        if isinstance(op, FuncOp):
            for side in (op.arg_attrs, op.res_attrs):
                yield from (entry.data for entry in (() if side is None else side.data))
        else:
            yield op.attributes


def is_of_shardy(entries: Mapping[str, Attribute]) -> bool:
    """Whether Shardy says something, maybe among frontend attributes."""
    return SHARDING in entries or any(
        isinstance(found, DictionaryAttr) and SHARDY_ENTRY in found.data
        for found in map(entries.get, KEPT_IN)
    )


def is_partitioned(module: ModuleOp) -> bool:
    """
    Whether a module is the program of one device, as XLA's partitioner makes it.

    Its parameters keep their shardings then. It has been scheduled, or devices talk to each other
    where nothing says that arrays are whole.
    """
    if MESHES in module.attributes:
        return False
    if module.attributes.get("xla.is_scheduled") == BoolAttr.from_bool(True):
        return True
    talks = False
    for op in operations_in(module):
        target = target_of(op)
        if target in _BEFORE_PARTITIONING:
            return False
        talks |= isinstance(op, CollectiveOp | PartitionIdOp)
    return talks


def has_borders(module: ModuleOp) -> bool:
    """Whether a program has borders of manual computations."""
    return any(target_of(op) in _BORDERS for op in operations_in(module))


def says_how_split(module: ModuleOp) -> bool:
    """Whether some array of a program for all devices is split over several of them."""
    if is_partitioned(module):
        return False
    if has_borders(module):
        return True
    for entries in all_entries(operations_in(module)):
        if is_of_shardy(entries):
            return True
        found = hlo_sharding(entries)
        if found is not None and any(leaf.kind in _SPLIT for leaf in found.leaves):
            return True
    return False


def target_of(op: Operation) -> str | None:
    """The target of a custom call."""
    return op.custom_call_target.data if isinstance(op, CustomCallOp) else None


def runs_on_parts(op: Operation) -> bool:
    """Whether each device runs an operation on the parts that it happens to have."""
    return target_of(op) == PARTITIONED_CALLBACK and not op.results


def is_annotation(op: Operation) -> bool:
    """Whether an operation only says something of its operand, which is its result if any."""
    target = target_of(op)
    return target == SHARDING_GROUP or (
        target in ANNOTATIONS and op.operand_types == op.result_types
    )
