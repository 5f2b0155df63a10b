"""The pass `xla-plan-schedules`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
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
from lowerings.ir.independent_loops import (
    LEAST_MICROSECONDS,
    LEAST_MICROSECONDS_AWAKE,
    promised_microseconds,
)
from lowerings.ir.named_operations import generalize_all
from lowerings.ir.target import Target
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import NESTS, Nest, nest_of
from lowerings.loops.schedule_rules import loops_by
from lowerings.loops.views import collapse_dense, collapse_groups
from lowerings.rewriting.levels import ON_BUFFERS
from lowerings.scheduling.contractions import contraction_plans, plan_in_pairs
from lowerings.scheduling.lanes import (
    along_rows,
    block_columns,
    in_parallel,
    lanes_of,
    microseconds,
    plan_order,
)
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
    """The estimated work of a program from which on its loops are parallel; below 0 none is."""
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
        file = read_schedule_file(self.file) if self.file else ScheduleFile()
        operations = operations_in(op)
        nests = [nest_of(each) for each in operations if type(each) in NESTS]
        promised = {
            each: work
            for each in operations
            if type(each) is scf.ForOp and (work := promised_microseconds(each)) is not None
        }
        least = self._least_of_loops(nests, promised.values(), target)
        for nest in nests:
            if schedule_of(nest.op) is None:
                known = _given_schedule(file, self.processor, nest.op) if len(file) else None
                set_schedule(nest.op, known or self._schedule(nest, target, least))
        for loop, work in promised.items():
            if work >= least:
                make_parallel(loop)

    def _least_of_loops(
        self, nests: Iterable[Nest], promised: Iterable[int], target: Target
    ) -> float:
        """The microseconds from which on a loop of a program is parallel."""
        least = min(self.parallel_microseconds, LEAST_MICROSECONDS_AWAKE)
        works = [
            *(microseconds(nest, lanes_of(nest, target.vector_bits)) for nest in nests),
            *promised,
        ]
        whole = sum(work for work in works if work >= least)
        return least if 0 <= self.parallel_microseconds <= whole else inf

    def _schedule(self, nest: Nest, target: Target, least: float) -> Schedule:
        if nest.is_empty:
            return Schedule(())
        collapsed: tuple[tuple[int, ...], ...] = ()
        if self.collapse:
            nest, collapsed = collapse_dense(nest, nest.indexed)
        terms = _terms_at_once(nest, target) if self.register_tiles else ()
        paired = plan_in_pairs(nest, target.vector_bits, terms)
        (first, *rest), order = paired or ((nest,), None)
        planned = self._planned(first, target, least, order)
        for part in rest:
            odd = self._planned(part, target, least)
            planned = replace(planned, odd=odd.fold_fills())
        return replace(planned, collapsed=collapsed)

    def _planned(
        self, nest: Nest, target: Target, least: float, order: Schedule | None = None
    ) -> Schedule:
        """An order with what follows from it: blocks, the loop that threads share, and fills."""
        bits = target.vector_bits
        if order is None and self.register_tiles:
            order = next(contraction_plans(nest, bits), None)
        order = order or plan_order(nest, bits)
        blocked = block_columns(nest, along_rows(nest, order), least)
        fills = foldable_fills(nest, order.steps)
        return in_parallel(nest, blocked, least).fold_fills(*fills)


def _terms_at_once(nest: Nest, target: Target) -> Sequence[int]:
    """How many terms of sums of products may be added at a time, the best first."""
    if not all(isinstance(each.type, IntegerType) for each in nest.accumulators):
        allowed = target.flushes_subnormals or any(
            op.properties.get("fastmath") == APPROXIMATE for op in nest.ops
        )
        return (2,) if target.multiplies_bfloats and allowed else ()
    quads, pairs = (4,) * target.multiplies_quads, (2,) * target.multiplies_pairs
    return (*quads, *pairs)


def _given_schedule(file: ScheduleFile, processor: str, op: Operation) -> Schedule | None:
    """
    The schedule of a file for an operation, with those of its folded fills that it has here.

    None, after a warning, for one that the operation does not admit; None if there is none.
    """
    entry = file.entry(operation_key(op), processor)
    if entry is None:
        return None
    # Whether outputs can start from a fill depends on what stands before the operation here.
    schedule, nest = replace(entry.schedule, folded_fills=()), nest_of(op)
    try:
        loops_by(nest, schedule)
    except ScheduleError as error:
        message = f"{entry.place}: {op.name} does not admit this schedule: {error}"
        warnings.warn(message, ScheduleWarning, stacklevel=2)
        return None
    found = foldable_fills(collapse_groups(nest, schedule.collapsed), schedule.steps)
    return schedule.fold_fills(*(o for o in entry.schedule.folded_fills if o in found))
