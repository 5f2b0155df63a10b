"""The pass `xla-populate-dimension-relations`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from xla_dialect.op import XlaOp
from xla_dialect.xdsl.traversal import operations_in

ATTRIBUTE = "xla.dimension_relations"


@dataclass(frozen=True)
class XlaPopulateDimensionRelationsPass(ModulePass):
    """
    Says on each operation how its dimensions relate, in the words of Shardy's sharding rules.

    A letter is a factor of the iteration space; a dimension is a factor, or a product of factors.
    Operations whose class declares nothing get no attribute.

    ```
    %0 = xla.dot %x, %y {...} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    // becomes
    %0 = xla.dot %x, %y {...}
        attributes {xla.dimension_relations =
            "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}"} : ...
    ```
    """

    name = "xla-populate-dimension-relations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all operations."""
        for inner in operations_in(op):
            if isinstance(inner, XlaOp):
                relations = inner.dimension_relations()
                if relations is not None:
                    inner.attributes[ATTRIBUTE] = StringAttr(str(relations))
