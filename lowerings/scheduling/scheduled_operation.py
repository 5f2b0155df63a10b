"""
A linalg operation while the steps of a script say how it runs, as the loops that MLIR's steps would
put around it.

The operation stays whole. Loops around it are those of its schedule; its own loops, one for each
dimension, are inside of them and run over what the tiles leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from xdsl.ir import Operation

from lowerings.dialects.schedule import (
    Factor,
    Loop,
    Pack,
    Schedule,
    ScheduleError,
    Step,
    outer_steps,
)
from lowerings.loops.contraction import contraction_of
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.lane_analysis import MOST_LANES
from lowerings.loops.nest import NESTS, nest_of
from lowerings.loops.order_rules import has_vector_result
from lowerings.scheduling.contractions import copy_along_lanes
from lowerings.tensors.fuse_into_consumer import fuse_into_consumer


@dataclass(frozen=True)
class TileLoop:
    """A loop over tiles of an operation: what a handle to a loop stands for."""

    owner: ScheduledOperation
    dimension: int
    number: int
    """How many loops over the dimension are around it; others come inside."""


class ScheduledOperation:
    """An operation and what steps have made of its loops so far."""

    def __init__(self, op: Operation):
        """
        Raises ScheduleError for what is no linalg operation on memrefs or tensors, and
        PassFailedException for arrays of unknown sizes.
        """
        if type(op) not in NESTS:
            known = ", ".join(sorted(each.name for each in NESTS))
            raise ScheduleError(f"it has no loops to be scheduled; {known} have")
        self.op, self.nest = op, nest_of(op)
        self.schedule = Schedule.plain(len(self.nest.extents))
        """
        Loops over tiles and copies, around one loop over each dimension; those of one iteration,
        which `finished` leaves out, too.
        """
        self.is_vectorized = False

    def fuse(self, producer: Operation) -> None:
        """
        Computes an elementwise producer of tensors in the loops, where it is read; `op` becomes
        another operation.

        Raises ScheduleError, and PassFailedException for what cannot be fused.
        """
        self._require_loops()
        if not self.op.results:
            raise ScheduleError(
                "(SR11) at the buffers level nothing is fused but what fills an output right before"
            )
        self.op = fuse_into_consumer(producer, self.op)
        self.nest = nest_of(self.op)

    @property
    def loops(self) -> list[TileLoop]:
        """The loops around the operation, from the outside in."""
        order = [loop.dimension for loop in self.schedule.loops]
        around = range(len(order) - len(self.nest.extents))
        return [TileLoop(self, order[n], order[:n].count(order[n])) for n in around]

    @property
    def _own(self) -> list[int]:
        """The dimensions of the operation's own loops, from the outside in."""
        loops = self.schedule.loops
        return [loop.dimension for loop in loops[len(loops) - len(self.nest.extents) :]]

    def _rooms(self, dimension: int) -> list[int]:
        """The iterations of a dimension outside of each loop over it; the last is its own loop."""
        tiles = (loop.tile for loop in self.schedule.loops if loop.dimension == dimension)
        return [self.nest.extents[dimension], *tiles][:-1]

    def _require_loops(self) -> None:
        if self.is_vectorized:
            raise ScheduleError("it is vectorized, which comes after all other steps but unrolling")

    def _ordered(self, order: Sequence[int], name: str) -> list[int]:
        """The dimensions of its own loops in an order that counts these."""
        own = self._own
        if sorted(order) != list(range(len(own))):
            raise ScheduleError(f"{name} {list(order)} is no order of its {len(own)} loops")
        return [own[position] for position in order]

    def tile(
        self, sizes: Sequence[int], interchange: Sequence[int] = (), *, in_parallel: bool = False
    ) -> list[TileLoop]:
        """
        Puts loops over tiles around the operation, for sizes other than 0; returns them.

        Of loops in parallel the threads share the outermost one.
        """
        self._require_loops()
        own = self._own
        if len(sizes) > len(own):
            raise ScheduleError(f"{len(sizes)} sizes for {len(own)} loops")
        if any(size < 0 for size in sizes):
            raise ScheduleError(f"tile sizes {list(sizes)}; none is negative")
        wanted = dict(zip(own, sizes, strict=False))
        order = [*interchange, *(p for p in range(len(own)) if p not in interchange)]
        before = len(self.loops)
        for dimension in self._ordered(order, "interchange"):
            if size := wanted.get(dimension):
                *outer, room = self._rooms(dimension)
                self.schedule = self.schedule.tile(dimension, max(1, min(size, room)))
                if in_parallel and not any(loop.is_parallel for loop in self.schedule.loops):
                    self.schedule = self.schedule.parallel(dimension, len(outer))
        return self.loops[before:]

    def counts_to_sizes(self, counts: Sequence[int]) -> list[int]:
        """The tile sizes that divide each loop among so many threads."""
        own = self._own
        if len(counts) > len(own) or any(count < 0 for count in counts):
            raise ScheduleError(f"numbers of threads {list(counts)} for {len(own)} loops")
        rooms = (self._rooms(dimension)[-1] for dimension in own)
        return [count and ceil(n / count) for count, n in zip(counts, rooms, strict=False)]

    def interchange(self, order: Sequence[int]) -> None:
        """Orders the operation's own loops; later steps count them in this order."""
        self._require_loops()
        self.schedule = self.schedule.interchange(*self._ordered(order, "iterator_interchange"))

    def promote(self, operand: int) -> None:
        """Copies what the loops inside read of an operand, a factor of a contraction."""
        self._require_loops()
        contraction, arguments = contraction_of(self.nest), self.nest.body.args
        if contraction is None:
            raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
        if not 0 <= operand < len(self.nest.inputs):
            raise ScheduleError(f"(SR9) operand {operand} is no input")
        for factor, value in zip(Factor, (contraction.left, contraction.right), strict=True):
            _, needed = self.nest.slice([value])
            if needed.intersection(arguments) == {arguments[operand]}:
                # Which loops the copy has follows from those that come inside.
                self.schedule = self.schedule.pack(factor, Schedule(()))
                return
        raise ScheduleError(f"(SR9) operand {operand} is no factor of a contraction")

    def vectorize(self, sizes: Sequence[int]) -> None:
        """
        Runs all iterations of the operation's own loops at once, in vectors along the dimension
        along which most operands have unit stride, the innermost of equal ones.

        `sizes` may be larger than the loops, as for MLIR's masked vectors; none are the loops' own.
        """
        self._require_loops()
        own = self._own
        rooms = [self._rooms(dimension)[-1] for dimension in own]
        sizes = sizes or rooms
        if len(sizes) != len(own) or any(size < 0 for size in sizes):
            raise ScheduleError(f"sizes {list(sizes)} for {len(own)} loops")
        for position, (size, room) in enumerate(zip(sizes, rooms, strict=True)):
            if size < room:
                raise ScheduleError(
                    f"vector size {size} is less than the {room} iterations of its loop {position}"
                )
        outputs = range(len(self.nest.outputs))
        candidates = [
            (self._unit_strides(dimension), position)
            for position, dimension in enumerate(own)
            if rooms[position] > 1
            and all(has_vector_result(self.nest, dimension, each) for each in outputs)
        ]
        self.is_vectorized = True
        if candidates:
            _, position = max(candidates)
            room = rooms[position]
            lanes = max(n for n in range(1, min(room, MOST_LANES) + 1) if room % n == 0)
            self.schedule = self.schedule.vectorize(own[position], lanes)
        for dimension, room in zip(own, rooms, strict=True):
            self.schedule = self.schedule.with_tile(dimension, room)

    def _unit_strides(self, dimension: int) -> int:
        return sum(a.strides is not None and a.strides[dimension] == 1 for a in self.nest.accesses)

    def unroll(self, loop: TileLoop, factor: int, *, with_jam: bool) -> None:
        """Unrolls a loop, inside of all loops that it holds; without jam it must hold none."""
        if factor < 1:
            raise ScheduleError(f"(SR2) unrolled {factor} times")
        schedule, dimension, rooms = self.schedule, loop.dimension, self._rooms(loop.dimension)
        own = () if self.is_vectorized else [d for d in self._own if self._rooms(d)[-1] > 1]
        if dimension in own:
            raise ScheduleError(f"the loop holds others over d{dimension}; vectorize before")
        if loop.number + 2 < len(rooms):
            raise ScheduleError(f"the loop holds others over d{dimension}")
        last = schedule.steps[-1 - len(self.nest.extents)]
        if not with_jam and (own or isinstance(last, Pack) or self.loops[-1] != loop):
            raise ScheduleError("the loop holds others; transform.loop.unroll_and_jam unrolls it")
        lanes = schedule.lanes if dimension == schedule.vector else 1
        room, tile = rooms[-2:]
        tile = min(tile * factor, ceil(room / lanes) * lanes)
        self.schedule = schedule.with_tile(dimension, tile, loop.number).with_tile(dimension, tile)

    def fold_fill(self, fill: Operation) -> bool:
        """Starts the outputs that an operation fills from its scalar; returns whether it does."""
        fills = foldable_fills(self.nest, self.finished().steps)
        outputs = [output for output, op in fills.items() if op is fill]
        self.schedule = self.schedule.fold_fills(*self.schedule.folded_fills, *outputs)
        return bool(outputs)

    def finished(self) -> Schedule:
        """
        What the steps so far say, without loops of one iteration: a tile that is unrolled whole is
        that of the loop around it, if that is as far inside.
        """
        room = list(self.nest.extents)
        steps: list[Step] = []
        for step in self.schedule.steps:
            if isinstance(step, Pack) or step.tile < room[step.dimension]:
                steps.append(step)
            if isinstance(step, Loop):
                room[step.dimension] = min(step.tile, room[step.dimension])
        inside = steps[outer_steps(steps) :]
        named = {step.dimension for step in inside if isinstance(step, Loop)}
        whole = {loop.dimension: loop for loop in self.schedule.loops}
        for dimension in reversed(range(len(room))):
            if room[dimension] != 1 and dimension not in named:
                # A single iteration may be anywhere; fills are folded if reductions come last.
                is_last = self.nest.is_reduction[dimension]
                steps.insert(len(steps) if is_last else outer_steps(steps), whole[dimension])
        schedule = replace(self.schedule, steps=tuple(steps))
        for place, step in enumerate(steps):
            if isinstance(step, Pack):
                copy = copy_along_lanes(self.nest, schedule, step.factor, place)
                steps[place] = replace(step, copy=copy)
        return replace(schedule, steps=tuple(steps))
