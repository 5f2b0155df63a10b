"""
Primitives: what a schedule is made of, one step after the other.

Each is a function from a schedule to the next one, with arguments. On the loops of an operation it
is refused where the operation does not admit what it gives: the rule says what forbids it and why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from lowerings.dialects.schedule import Pack, Schedule, schedule_text
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.pseudo_code import pseudo_code
from lowerings.loops.schedule_rules import loops_by

PRIMITIVES: dict[str, Callable[..., Schedule]] = {
    "collapse": Schedule.collapse,
    "interchange": Schedule.interchange,
    "tile": Schedule.tile,
    "pack": Schedule.pack,
    "vectorize": Schedule.vectorize,
    "transpose": Schedule.transpose,
    "unroll": Schedule.unroll,
    "parallel": Schedule.parallel,
    "pair": Schedule.pair,
    "fold_fills": Schedule.fold_fills,
}
"""
By name, in an order in which they make any schedule. Each raises ScheduleError for what no
operation admits.
"""


@dataclass(frozen=True)
class Primitive:
    """One of `PRIMITIVES` with its arguments."""

    name: str
    arguments: tuple[Any, ...]

    def on(self, schedule: Schedule) -> Schedule:
        """The next schedule. Raises ScheduleError for what no operation admits."""
        return PRIMITIVES[self.name](schedule, *self.arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(_argument_text, self.arguments))})"


def _argument_text(argument: object) -> str:
    return f"{{{schedule_text(argument)}}}" if isinstance(argument, Schedule) else str(argument)


@dataclass(frozen=True)
class LoopNest:
    """The loops of an operation, as primitives have made them."""

    nest: Nest
    schedule: Schedule

    @staticmethod
    def of(op: Operation) -> LoopNest:
        """Plain loops, for an operation on memrefs or tensors. Raises as `nest_of`."""
        nest = nest_of(op)
        return LoopNest(nest, Schedule.over(*nest.loop_dimensions))

    def after(self, name: str, *arguments: Any) -> LoopNest:
        """The loops after a primitive. Raises ScheduleError for the rule that forbids it."""
        schedule = Primitive(name, arguments).on(self.schedule)
        loops_by(self.nest, schedule)
        return LoopNest(self.nest, schedule)

    def __str__(self) -> str:
        """Pseudo-code of the loops."""
        return pseudo_code(loops_by(self.nest, self.schedule).parts)


def primitives_of(schedule: Schedule, dimensions: Iterable[int]) -> Iterator[Primitive]:
    """What makes a schedule of plain loops over some dimensions."""
    order = [loop.dimension for loop in schedule.loops]
    inner = [loop for n, loop in enumerate(schedule.loops) if loop.dimension not in order[n + 1 :]]
    outer = [loop for n, loop in enumerate(schedule.loops) if loop.dimension in order[n + 1 :]]
    for group in schedule.collapsed:
        yield Primitive("collapse", group)
    gone = {dimension for group in schedule.collapsed for dimension in group[:-1]}
    innermost = [loop.dimension for loop in inner]
    if innermost != [dimension for dimension in dimensions if dimension not in gone]:
        yield Primitive("interchange", tuple(innermost))
    for loop in outer:
        yield Primitive("tile", (loop.dimension, loop.tile))
    if order != [*(loop.dimension for loop in outer), *innermost]:
        yield Primitive("interchange", tuple(order))
    for number, step in enumerate(schedule.steps):
        if isinstance(step, Pack):
            yield Primitive("pack", (step.factor, step.copy, number))
    if schedule.vector is not None:
        yield Primitive("vectorize", (schedule.vector, schedule.lanes))
    if schedule.transposed is not None:
        yield Primitive("transpose", (schedule.transposed,))
    for loop in inner:
        lanes = schedule.lanes if loop.dimension in (schedule.vector, schedule.transposed) else 1
        if loop.tile > lanes:
            yield Primitive("unroll", (loop.dimension, loop.tile // lanes))
    for number, loop in enumerate(schedule.loops):
        if loop.is_parallel:
            yield Primitive("parallel", (loop.dimension, order[:number].count(loop.dimension)))
    if schedule.paired is not None:
        yield Primitive("pair", (schedule.paired, schedule.odd, schedule.at_once))
    if schedule.folded_fills:
        yield Primitive("fold_fills", schedule.folded_fills)
