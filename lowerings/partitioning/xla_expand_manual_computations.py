"""The pass `xla-expand-manual-computations`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.ops.custom_calls import (
    FULL_TO_SHARD,
    GLOBAL_TO_LOCAL,
    LOCAL_TO_GLOBAL,
    SHARD_TO_FULL,
    CustomCallOp,
)
from xla_dialect.xdsl.traversal import operations_in

_BORDERS = (GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, FULL_TO_SHARD, SHARD_TO_FULL)


class XlaExpandManualComputationsPass(ReportingPass):
    """
    Cuts and gathers at the borders of manual computations, for devices that hold whole arrays.

    It is the partitioner with no sharding but those of the borders: parts are cut by the number of
    the partition, and results are gathered. A program that has been partitioned has no borders.

    ```
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.GlobalToLocalShape"} ...
        : (tensor<8xf32>) -> tensor<4xf32>
    // becomes
    %0 = xla.dynamic_slice %x, %start {dynamic_slice_sizes = [4]}
        : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
    ```
    """

    name = "xla-expand-manual-computations"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Raises XlaError for what cannot be partitioned."""
        if not any(map(_is_border, operations_in(op))):
            return False
        # The partitioner takes as long to load as all else before it.
        from lowerings.partitioning.xla_partition import partition_borders  # noqa: PLC0415

        partition_borders(ctx, op)
        return True


def _is_border(op: object) -> bool:
    return isinstance(op, CustomCallOp) and op.custom_call_target.data in _BORDERS
