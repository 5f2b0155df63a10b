"""Shards: how many a whole has, and how large they are."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from xla_dialect.devices.replica_groups import ReplicaGroups
from xla_dialect.op import Types
from xla_dialect.rules.constraints import flat_results
from xla_dialect.shapes.dynamic_size import UNKNOWN, is_unknown
from xla_dialect.types import Array, array, is_array, sizes_of
from xla_dialect.violations import require


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
