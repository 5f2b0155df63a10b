"""The pass `convert-linalg-to-vector-loops`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from xdsl.context import Context
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from lowerings.ir.independent_loops import LEAST_MICROSECONDS, promised_microseconds
from lowerings.loops.body import Body, indexed_dimensions
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.contraction_planning import plan_contraction, plan_in_pairs
from lowerings.loops.emission import NestEmitter
from lowerings.loops.initial_values import fold_initial_values
from lowerings.loops.nest import NESTS, Nest
from lowerings.loops.packing import PackedContraction
from lowerings.loops.parallelism import column_blocks, in_parallel, run_in_parallel
from lowerings.loops.planning import plan_schedule
from lowerings.loops.schedule import Schedule
from lowerings.loops.views import collapse_dimensions
from lowerings.rewriting.conversion import describe_location
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class PlannedNest:
    """A nest, in parts that follow each other, and how each will run."""

    parts: Sequence[tuple[Nest, Schedule | PackedContraction]]
    """None for a nest that does nothing, and usually one."""
    dead: list[Operation]
    """Operations before it that it makes superfluous."""

    def emit(self, builder: LoopBuilder) -> None:
        """Writes the loops."""
        for nest, how in self.parts:
            if isinstance(how, PackedContraction):
                replace(how, nest=nest).emit(builder)
            else:
                NestEmitter(nest, Body(nest), how, builder).emit()


@dataclass(frozen=True)
class ConvertLinalgToVectorLoopsPass(ModulePass):
    """
    Linalg operations on memrefs to `scf` loops over scalars and one-dimensional vectors.

    A nest is ordered for unit stride of what it writes, dense dimensions run as one loop, and
    the innermost loop works on vectors where that pays. Reductions carry their partial results
    in the loops; along vector lanes they are added in an order of their own: `k` vectors of `n`
    lanes each take every `k * n`-th term, pairs of vectors are added, then the lanes.

    ```mlir
    linalg.generic {
        indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<4x512xf32>) outs(%b : memref<4xf32>) {
    ^bb0(%x : f32, %sum : f32):
      %1 = arith.addf %sum, %x : f32
      linalg.yield %1 : f32
    }
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

    vector_bits: int = 512
    """The width of a vector register; 0 for loops over scalars."""
    pair_products: bool = True
    """Whether sums of products of at most 16 bits add two at a time, as x86 has instructions to."""
    parallel_microseconds: int = LEAST_MICROSECONDS
    """The estimated work from which on loops are parallel; below 0 none is."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                self._convert_function(function)

    def _convert_function(self, function: func.FuncOp) -> None:
        found: list[Operation] = []
        for op in operations_in(function):
            if type(op) in NESTS:
                found.append(op)
            elif isinstance(op, scf.ForOp):
                self._share(op)
        if not found:
            return
        builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
        planned = [self._plan(self._nest(op), builder.constants) for op in found]
        dead = {op for plan in planned for op in plan.dead}
        for op, plan in zip(found, planned, strict=True):
            if op not in dead:
                plan.emit(builder)
                builder.insert_before(op)
        for op in found:
            Rewriter.erase_op(op)
        builder.constants.erase_unused()

    def _share(self, loop: scf.ForOp) -> None:
        """Makes a loop parallel whose iterations are promised to be independent, if that pays."""
        microseconds = promised_microseconds(loop)
        if microseconds is not None and 0 <= self.parallel_microseconds <= microseconds:
            run_in_parallel(loop)

    def _nest(self, op: Operation) -> Nest:
        try:
            return NESTS[type(op)](op)
        except PassFailedException as error:
            place = describe_location(op.location) or op.name
            raise PassFailedException(f"{self.name}: {place}: {error}") from error

    def _plan(self, nest: Nest, constants: FunctionConstants) -> PlannedNest:
        if nest.is_empty:
            return PlannedNest([], [])
        nest = collapse_dimensions(nest, indexed_dimensions(nest))
        body = Body(nest)
        paired = plan_in_pairs(nest, body, self.vector_bits) if self.pair_products else None
        if paired is None:
            return self._plan_as_it_is(nest, body, constants)
        pairs = self._planned(paired.pairs.nest, None, paired.pairs, constants)
        if paired.rest is None:
            return pairs
        rest = self._plan_as_it_is(paired.rest, Body(paired.rest), None)
        return PlannedNest([*pairs.parts, *rest.parts], pairs.dead)

    def _plan_as_it_is(
        self, nest: Nest, body: Body, constants: FunctionConstants | None
    ) -> PlannedNest:
        how = plan_contraction(nest, body, self.vector_bits)
        how = how or plan_schedule(nest, body, self.vector_bits)
        return self._planned(nest, body, how, constants)

    def _planned(
        self,
        nest: Nest,
        body: Body | None,
        how: Schedule | PackedContraction,
        constants: FunctionConstants | None,
    ) -> PlannedNest:
        """
        A nest with its plan, in parallel where that pays.

        Without `constants` it starts from what its outputs hold, whatever fills them before it.
        """
        least = self.parallel_microseconds if self.parallel_microseconds >= 0 else inf
        dead: list[Operation] = []
        if isinstance(how, PackedContraction):
            how = replace(how, parallel_microseconds=least)
            if constants is not None and not how.adds_blocks:
                nest, dead = fold_initial_values(nest, body or Body(nest), None, constants)
            return PlannedNest([(nest, how)], dead)
        body = body or Body(nest)
        if constants is not None:
            nest, dead = fold_initial_values(nest, body, how, constants)
        parts = column_blocks(nest, body, how, least)
        return PlannedNest(parts or [(nest, in_parallel(nest, body, how, least))], dead)
