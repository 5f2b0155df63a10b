"""What is tuned: one operation, and how its iteration space looks to a schedule."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TypeAlias

from xdsl.ir import Operation

from lowerings.dialects.schedule import Schedule
from lowerings.loops.body import Body
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import Nest, nest_of
from lowerings.loops.views import collapse_groups


@dataclass(frozen=True)
class TuningProblem:
    """An operation to find a schedule for."""

    op: Operation
    default: Schedule
    """The planner's."""
    vector_bits: int
    pair_products: bool = True
    threads: int = 1
    known: tuple[Schedule, ...] = ()
    """Schedules that were found before."""

    @cached_property
    def nest(self) -> Nest:
        """The iteration space, no dimensions merged."""
        return nest_of(self.op, "tuning")

    def view(self, schedule: Schedule) -> tuple[Nest, Body]:
        """The iteration space with the dimensions merged that a schedule merges."""
        nest = collapse_groups(self.nest, schedule.collapsed)
        return nest, Body(nest)

    def foldable(self, schedule: Schedule) -> tuple[int, ...]:
        """The outputs that could start from a fill under a schedule."""
        return tuple(foldable_fills(*self.view(schedule), schedule.steps))


Space: TypeAlias = Callable[[TuningProblem, Schedule, Random], Schedule | None]
"""A schedule near another one, admitted or not; None where it finds none."""

CostModel: TypeAlias = Callable[[TuningProblem, Schedule], float]
"""The estimated cost of a schedule, in any unit: it ranks those of one problem."""

Strategy: TypeAlias = Callable[
    [TuningProblem, Space, CostModel, Random], Generator[Schedule, float, None]
]
"""
Yields one schedule after the other to measure, and is sent the time of each, relative to that of
the default; infinite for one that is not admitted, or computes something else. Ends when it has no
more.
"""
