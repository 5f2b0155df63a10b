"""The pass `memref-stream-drop-unused-inputs`."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.memref_stream import GenericOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class MemrefStreamDropUnusedInputsPass(ModulePass):
    """
    Takes inputs away that the body does not read.

    In `linalg.generic` the sizes of a window come from an operand that nothing reads; a
    `memref_stream.generic` has the sizes of its loops itself, and would stream the operand:
    `ins(%x, %window : memref<18x18xf64>, memref<3x3xi1>)` becomes `ins(%x : memref<18x18xf64>)`.
    """

    name = "memref-stream-drop-unused-inputs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in operations_in(op):
            if isinstance(generic, GenericOp):
                _drop_unused_inputs(generic)


def _drop_unused_inputs(generic: GenericOp) -> None:
    arguments = generic.body.block.args
    count = len(generic.inputs)
    unused = [number for number in range(count) if not arguments[number].uses]
    if not unused:
        return
    for number in reversed(unused):
        generic.body.block.erase_arg(arguments[number])
    maps = [each for number, each in enumerate(generic.indexing_maps.data) if number not in unused]
    inputs = [value for number, value in enumerate(generic.inputs) if number not in unused]
    Rewriter.replace_op(
        generic,
        GenericOp(
            inputs,
            generic.outputs,
            generic.inits,
            generic.detach_region(generic.body),
            ArrayAttr(maps),
            generic.iterator_types,
            generic.bounds,
            generic.init_indices,
            generic.doc,
            generic.library_call,
        ),
    )
