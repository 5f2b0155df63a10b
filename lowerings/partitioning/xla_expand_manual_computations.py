"""The pass `xla-expand-manual-computations`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from lowerings.partitioning.annotations import has_borders
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass


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
        if not has_borders(op):
            return False
        # The partitioner takes as long to load as all else before it.
        from lowerings.partitioning.xla_partition import partition_borders  # noqa: PLC0415

        partition_borders(ctx, op)
        return True
