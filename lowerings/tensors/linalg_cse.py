"""The pass `linalg-cse`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from lowerings.ir.equality import KnownOperations, StructuralKeys
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.dead_code import remove_dead_code
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.tensors.purity import is_pure
from xla_dialect.xdsl.linking import erase, replace_uses
from xla_dialect.xdsl.traversal import operands_of


class LinalgCsePass(ModulePass):
    """
    Eliminates common subexpressions on the tensors level, and dead code.

    A pure operation is replaced by an equal one that dominates it. Unlike in MLIR's `cse`,
    destinations (`tensor.empty`, `linalg.fill`) do not count: operations that differ in nothing
    else are equal, and destinations themselves are not merged, so that each result keeps its own.

    ```
    %e0 = tensor.empty()
    %e1 = tensor.empty()
    %0 = linalg.generic {..} ins(%x) outs(%e0) { exp }
    %1 = linalg.generic {..} ins(%x) outs(%e1) { exp }
    %2 = linalg.generic {..} ins(%0, %1) ... { subf }
    // becomes
    %e0 = tensor.empty()
    %0 = linalg.generic {..} ins(%x) outs(%e0) { exp }
    %2 = linalg.generic {..} ins(%0, %0) ... { subf }
    ```
    """

    name = "linalg-cse"
    takes = ON_TENSORS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merges in every region, from the outside in."""
        remove_dead_code(op.body.block, is_pure)
        _Merging(KnownOperations(StructuralKeys())).merge(op.body.block)
        remove_dead_code(op.body.block, is_pure)


def _merge(op: Operation, equal: Operation) -> None:
    for result, value in zip(op.results, equal.results, strict=True):
        replace_uses(result, value)
    erase(op)


@dataclass(eq=False)
class _Merging:
    known: KnownOperations

    def merge(self, block: Block) -> None:
        """Merges in a block and its regions; what is known around it is known inside."""
        with self.known.scope():
            op = block.first_op
            while op is not None:
                following = op.next_op
                self._meet(op)
                op = following

    def _meet(self, op: Operation) -> None:
        numbers, identity = self.known.numbers, self.known.keys.identity
        if type(op) is tensor.EmptyOp:
            made = op.results[0]
            numbers[made] = "empty", identity(made.type), *operands_of(op)
        elif type(op) is FillOp and op.results:
            filled, value = op.results[0], operands_of(op)[0]
            numbers[filled] = "fill", numbers.get(value, value), identity(filled.type)
        elif is_pure(op):
            equal = self.known.first_equal(op)
            if equal is not op:
                attempt(partial(_merge, op, equal))
        else:
            for region in op.regions:
                for inner in region.blocks:
                    self.merge(inner)
