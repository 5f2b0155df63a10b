"""The pass `linalg-fuse-locations`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.bufferize.tensor_operands import is_linalg_operation
from lowerings.ir.locations import fused
from lowerings.rewriting.levels import ON_TENSORS
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class LinalgFuseLocationsPass(ModulePass):
    """
    Gives linalg operations the locations of all that they compute, as `loc(fused[...])`.

    The first is their own; the others are those of the operations in their body, each once. So a
    profile shows every operation that was fused into a kernel.

    ```mlir
    linalg.generic {...} outs(%x : tensor<8xf32>) {
    ^bb0(%p: f32):
      %s = math.tanh %p : f32 loc("model.py":3:0)
      %t = arith.negf %s : f32 loc("model.py":4:0)
      linalg.yield %t : f32
    } -> tensor<8xf32> loc("model.py":4:0)
    ```
    becomes the same at `loc(fused["model.py":4:0, "model.py":3:0])`.
    """

    name = "linalg-fuse-locations"
    takes = ON_TENSORS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all linalg operations."""
        for inner in operations_in(op):
            if is_linalg_operation(inner):
                computed = (each.location for each in operations_in(inner) if each.results)
                inner.location = fused((inner.location, *computed))
