"""The pass `convert-linalg-to-vector-loops`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Operation

from lowerings.dialects.schedule import PARALLEL
from lowerings.ir.named_operations import generalize_all
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.emission import emit
from lowerings.loops.nest import NESTS
from lowerings.loops.order_rules import run_in_parallel
from lowerings.loops.schedule_rules import (
    ScheduledLoops,
    require_independence,
    scheduled_loops,
)
from lowerings.rewriting.conversion import ConversionFailed, IllegalOp, illegal_op
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import ON_BUFFERS
from lowerings.rewriting.passes import FunctionPass, ResultDifference
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in

_OF_A_BODY = (YieldOp, IndexOp)
"""Operations of linalg that are converted with the one that they stand in."""

_NAMED = "write it as a linalg.generic"

_WITHOUT_SUMS = frozenset(
    f"linalg.{name}"
    for name in ("generic", "map", "fill", "copy", "transpose", "broadcast", "reduce", "index")
)
"""Operations of linalg that sum floats only where their bodies do."""


def _may_sum(op: Operation) -> bool:
    """Whether an operation adds floats, or has no body that says what it does."""
    if op.name in ("arith.addf", "arith.subf"):
        return True
    return op.name.startswith("linalg.") and op.name not in (*_WITHOUT_SUMS, "linalg.yield")


@dataclass(frozen=True)
class ConvertLinalgToVectorLoopsPass(FunctionPass):
    """
    Linalg operations on memrefs to `scf` loops over scalars and one-dimensional vectors, as their
    schedules say.

    Reductions carry their partial results in the loops; along vector lanes they are added in an
    order of their own: `k` vectors of `n` lanes each take every `k * n`-th term, pairs of vectors
    are added, then the lanes. Long sums of floats are added up in blocks, and these with
    compensation for what rounding takes. Operations without a schedule become loops over scalars,
    in the order of their dimensions. A schedule that does not fit its operation is an error.

    ```mlir
    linalg.generic {
        indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<4x512xf32>) outs(%b : memref<4xf32>) {
    ^bb0(%x : f32, %sum : f32):
      %1 = arith.addf %sum, %x : f32
      linalg.yield %1 : f32
    } // with attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 16], vector = d1 x 16>}
    ```
    ->
    ```mlir
    scf.for %d0 = %c0 to %c4 step %c1 {
      %0 = memref.load %b[%d0] : memref<4xf32>
      %1 = scf.for %d1 = %c0 to %c512 step %c16 iter_args(%2 = %neutral) -> (vector<16xf32>) {
        %3 = vector.load %a[%d0, %d1] : memref<4x512xf32>, vector<16xf32>
        %4 = arith.addf %2, %3 : vector<16xf32>
        scf.yield %4 : vector<16xf32>
      }
      %5 = vector.reduction <add>, %1 fastmath<reassoc> : vector<16xf32> into f32
      %6 = arith.addf %0, %5 : f32
      memref.store %6, %b[%d0] : memref<4xf32>
    }
    ```
    """

    name = "convert-linalg-to-vector-loops"
    takes = ON_BUFFERS
    gives = "loops"
    difference = ResultDifference(
        4096, "sums in several lanes; products and sums round once", where=_may_sum
    )

    def on_functions(self, module: ModuleOp) -> Callable[[func.FuncOp], bool]:
        """The same for all modules."""
        return self._convert_function

    def _convert_function(self, function: func.FuncOp) -> bool:
        generalize_all(function, but=NESTS)
        found: list[Operation] = []
        parallel: list[scf.ForOp] = []
        left: list[IllegalOp] = []
        for op in operations_in(function):
            if type(op) in NESTS:
                found.append(op)
            elif op.name.startswith("linalg.") and type(op) not in _OF_A_BODY:
                left.append(illegal_op(op, _NAMED))
            elif PARALLEL in op.attributes and isinstance(op, scf.ForOp):
                parallel.append(op)
        if left:
            raise ConversionFailed(self.name, left)
        for loop in parallel:
            require_independence(loop)
            run_in_parallel(loop)
        if not found:
            return bool(parallel)
        builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
        nests = [scheduled_loops(op) for op in found]
        folded = {filler for nest in nests for filler in nest.folded}
        converted: list[Operation] = []
        for nest in nests:
            if nest.op not in folded and attempt(partial(self._convert, nest, builder)):
                converted += [*nest.folded, nest.op]
        # Behind them all: what a nest may do follows from what stands around it.
        for op in dict.fromkeys(converted):
            erase(op)
        builder.constants.erase_unused()
        return True

    def _convert(self, nest: ScheduledLoops, builder: LoopBuilder) -> bool:
        builder.location = nest.op.location
        emit(nest.parts, builder)
        builder.insert_before(nest.op)
        return True
