"""
Schedules: in which order, in which tiles, in which lanes and on how many threads a linalg
operation runs.

A schedule names the dimensions of the operation, `d0` and on, by their number. It says nothing of
what is computed; which schedules an operation admits, `lowerings.loops.schedule_rules` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.utils.str_enum import StrEnum


@dataclass(frozen=True)
class Loop:
    """
    One loop over a dimension, `tile` iterations of it in each of its own.

    A later loop over the same dimension runs inside of the tile. The tile of the last one is
    unrolled.
    """

    dimension: int
    tile: int = 1
    is_parallel: bool = False
    """Whether several threads may share its iterations."""


@dataclass(frozen=True)
class LoopOrder:
    """
    Loops from the outside in, one for each dimension that does not have exactly one iteration.

    The tile of the vector dimension is a multiple of `lanes`. What a tile leaves over at the end
    of its dimension is done by a smaller tile, in vectors as short as that needs.
    """

    loops: tuple[Loop, ...]
    vector: int | None = None
    """The dimension that runs in the lanes of vectors."""
    lanes: int = 1
    transposed: int | None = None
    """
    A dimension in tiles of `lanes`. Inputs that have unit stride along it, and not along the
    vector dimension, are read in square blocks along it and transposed in registers.
    """


class Factor(StrEnum):
    """A factor of the products that a contraction adds up."""

    LHS = "lhs"
    RHS = "rhs"


@dataclass(frozen=True)
class Pack:
    """
    Copies what the loops inside read of one factor of a contraction into consecutive memory.

    The copy consists of panels as wide as the next tile of the vector dimension; a panel holds one
    summed term after the other.
    """

    factor: Factor
    copy: LoopOrder
    """How the copy runs."""


Step: TypeAlias = "Loop | Pack"


@dataclass(frozen=True)
class Schedule:
    """How one linalg operation runs."""

    steps: tuple[Step, ...]
    """From the outside in. Dimensions with one iteration need no loop."""
    vector: int | None = None
    lanes: int = 1
    transposed: int | None = None
    """These three as in `LoopOrder`."""
    collapsed: tuple[tuple[int, ...], ...] = ()
    """Dimensions that run as one, from the outermost in; the last one stands for all of them."""
    paired: int | None = None
    """The summed dimension whose terms, of at most 16 bits, are multiplied two at a time."""
    odd: Schedule | None = None
    """How the last of an odd number of paired terms is added."""
    folded_fills: tuple[int, ...] = ()
    """The outputs that start from the constant that the operation before fills them with."""

    @property
    def loops(self) -> Iterator[Loop]:
        """The loops, without those of copies."""
        return (step for step in self.steps if isinstance(step, Loop))

    @property
    def packs(self) -> Iterator[Pack]:
        return (step for step in self.steps if isinstance(step, Pack))

    @property
    def is_parallel(self) -> bool:
        """Whether threads share some loop."""
        return any(loop.is_parallel for loop in self.loops)


def outer_steps(steps: Sequence[Step]) -> int:
    """How many steps are loops around others over the same dimension, copies, or before such."""
    seen: set[int] = set()
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if isinstance(step, Pack) or step.dimension in seen:
            return number + 1
        seen.add(step.dimension)
    return 0


class ScheduleError(ValueError):
    """A schedule that its operation does not admit; the message begins with the rule."""
