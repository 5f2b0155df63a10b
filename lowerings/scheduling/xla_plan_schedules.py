"""The pass `xla-plan-schedules`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.dialects.schedule import (
    Schedule,
    ScheduleError,
    ScheduleWarning,
    make_parallel,
    schedule_of,
    set_schedule,
)
from lowerings.ir.dot_products import APPROXIMATE
from lowerings.ir.independent_loops import LEAST_MICROSECONDS, promised_microseconds
from lowerings.ir.named_operations import generalize_all
from lowerings.ir.target import Target
from lowerings.loops.body import Body, indexed_dimensions
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import NESTS, Nest, nest_of
from lowerings.loops.schedule_rules import loops_by
from lowerings.loops.views import collapse_dense, collapse_groups
from lowerings.rewriting.levels import ON_BUFFERS
from lowerings.scheduling.contractions import plan_contraction, plan_in_pairs
from lowerings.scheduling.lanes import along_rows, block_columns, in_parallel, plan_order
from lowerings.scheduling.schedule_file import ScheduleFile, operation_key, read_schedule_file
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class XlaPlanSchedulesPass(ModulePass):
    """
    Gives every linalg operation on memrefs the schedule that `convert-linalg-to-vector-loops`
    converts it by, and says of loops with independent iterations whether threads share them.

    A nest is ordered for unit stride of what it writes, dense dimensions run as one loop, and the
    innermost loop works on vectors where that pays. A contraction has a register tile; columns
    without unit stride, or too many for the caches, are packed. Operations that have a schedule
    keep it; named ones, such as `linalg.matmul`, become `linalg.generic`.

    With a `file`, an operation whose key is in it for `processor` gets the schedule that is there;
    one that the operation does not admit is left out with a warning.

    ```mlir
    linalg.generic {
        indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<4x512xf32>) outs(%b : memref<4xf32>) { ... }
    ```
    gets
    ```mlir
    attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 64], vector = d1 x 16>}
    ```
    """

    name = "xla-plan-schedules"
    takes = ON_BUFFERS
    gives = "schedules"

    vector_bits: int | None = None
    """The width of a vector register; 0 for loops over scalars; that of the target if not given."""
    parallel_microseconds: int = LEAST_MICROSECONDS
    """The estimated work from which on loops are parallel; below 0 none is."""
    collapse: bool = True
    """Whether dense dimensions run as one, through views that collapse them."""
    register_tiles: bool = True
    """Whether contractions work on several rows and columns at once."""
    file: str = ""
    """A file of schedules to take before planning any, as `xla-tune` writes them."""
    processor: str = ""
    """The processor whose schedules of the file are taken; those for all of them if not given."""

    def __post_init__(self) -> None:
        if self.vector_bits is not None:
            Target(self.vector_bits)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = Target.of(op)
        if self.vector_bits is not None:
            target = replace(target, vector_bits=self.vector_bits)
        generalize_all(op, but=NESTS)
        given = _GivenSchedules.of(self.file, self.processor)
        for inner in operations_in(op):
            if type(inner) in NESTS:
                if schedule_of(inner) is None:
                    schedule = given and given.schedule_for(inner)
                    set_schedule(inner, schedule or self._schedule(nest_of(inner), target))
            elif type(inner) is scf.ForOp:
                microseconds = promised_microseconds(inner)
                if microseconds is not None and self._least <= microseconds:
                    make_parallel(inner)

    @property
    def _least(self) -> float:
        """The microseconds from which on loops are parallel."""
        return self.parallel_microseconds if self.parallel_microseconds >= 0 else inf

    def _schedule(self, nest: Nest, target: Target) -> Schedule:
        if nest.is_empty:
            return Schedule(())
        collapsed: tuple[tuple[int, ...], ...] = ()
        if self.collapse:
            nest, collapsed = collapse_dense(nest, indexed_dimensions(nest))
        body = Body(nest)
        terms = _terms_at_once(body, target) if self.register_tiles else ()
        paired = plan_in_pairs(nest, body, target.vector_bits, terms)
        if paired is None:
            return replace(self._planned(nest, body, target), collapsed=collapsed)
        pairs, rest = paired.nests.pairs, paired.nests.rest
        planned = self._finished(pairs, Body(pairs), paired.order)
        odd = None if rest is None else self._planned(rest, Body(rest), target, may_fold=False)
        return replace(planned.pair(paired.dimension, odd, paired.at_once), collapsed=collapsed)

    def _planned(
        self, nest: Nest, body: Body, target: Target, *, may_fold: bool = True
    ) -> Schedule:
        bits = target.vector_bits
        order = plan_contraction(nest, body, bits) if self.register_tiles else None
        return self._finished(nest, body, order or plan_order(nest, body, bits), may_fold=may_fold)

    def _finished(
        self, nest: Nest, body: Body, order: Schedule, *, may_fold: bool = True
    ) -> Schedule:
        """An order with what follows from it: blocks, the loop that threads share, and fills."""
        fills = foldable_fills(nest, body, order.steps) if may_fold else ()
        blocked = block_columns(nest, body, order, self._least)
        planned = blocked or in_parallel(nest, body, along_rows(nest, order), self._least)
        return planned.fold_fills(*fills)


def _terms_at_once(body: Body, target: Target) -> Sequence[int]:
    """How many terms of sums of products may be added at a time, the best first."""
    if not all(isinstance(each.type, IntegerType) for each in body.accumulators):
        allowed = target.flushes_subnormals or any(
            op.properties.get("fastmath") == APPROXIMATE for op in body.ops
        )
        return (2,) if target.multiplies_bfloats and allowed else ()
    quads, pairs = (4,) * target.multiplies_quads, (2,) * target.multiplies_pairs
    return (*quads, *pairs)


@dataclass(frozen=True)
class _GivenSchedules:
    """The schedules of a file for one processor."""

    file: ScheduleFile
    processor: str

    @staticmethod
    def of(path: str, processor: str) -> _GivenSchedules | None:
        """Those of a file, None without one; raises XlaError for one that cannot be read."""
        return _GivenSchedules(read_schedule_file(path), processor) if path else None

    def schedule_for(self, op: Operation) -> Schedule | None:
        """
        The schedule of an operation, with those of its folded fills that it has here.

        None, after a warning, for one that the operation does not admit; None if there is none.
        """
        entry = self.file.entry(operation_key(op), self.processor)
        if entry is None:
            return None
        # Whether outputs can start from a fill depends on what stands before the operation here.
        schedule = replace(entry.schedule, folded_fills=())
        try:
            loops_by(nest_of(op), schedule)
        except ScheduleError as error:
            message = f"{entry.place}: {op.name} does not admit this schedule: {error}"
            warnings.warn(message, ScheduleWarning, stacklevel=2)
            return None
        return _with_fills(op, entry.schedule)


def _with_fills(op: Operation, schedule: Schedule) -> Schedule:
    """An admitted schedule with those of its folded fills for which there is a fill before."""
    if not schedule.folded_fills:
        return schedule
    nest = collapse_groups(nest_of(op), schedule.collapsed)
    found = foldable_fills(nest, Body(nest), schedule.steps)
    return replace(schedule, folded_fills=tuple(o for o in schedule.folded_fills if o in found))
