"""The pass `stablehlo-check-shape-assertions`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xla_dialect.stablehlo import convert_stablehlo, has_source_operations
from xla_dialect.xdsl.traversal import operations_in

_TARGET = StringAttr("shape_assertion")


@dataclass(frozen=True)
class StablehloCheckShapeAssertionsPass(ModulePass):
    """
    Checks what `@shape_assertion` says of the sizes of arguments, and erases these calls.

    ```
    stablehlo.custom_call @shape_assertion(%ok) {error_message = "..."} : (tensor<i1>) -> ()
    // becomes nothing, or the error with its message
    ```
    """

    name = "stablehlo-check-shape-assertions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Raises XlaError for an assertion that does not hold, or depends on unknown sizes."""
        if not has_source_operations(op):
            return
        convert_stablehlo(op.clone())
        for inner in list(operations_in(op)):
            if inner.properties.get("call_target_name") == _TARGET:
                inner.detach()
                inner.erase()
