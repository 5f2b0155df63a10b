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

from lowerings.dialects.schedule import Factor, Loop, Pack, Schedule, ScheduleError, outer_steps
from lowerings.loops.contraction import contraction_of
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.lane_analysis import MOST_LANES
from lowerings.loops.nest import NESTS, nest_of
from lowerings.loops.order_rules import has_vector_result
from lowerings.scheduling.contractions import copy_along_lanes
from lowerings.tensors.fuse_into_consumer import fuse_into_consumer


@dataclass(eq=False)
class TileLoop:
    """A loop over tiles of an operation: what a handle to a loop stands for."""

    owner: ScheduledOperation
    dimension: int
    tile: int
    is_parallel: bool = False


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
        self.around: list[TileLoop | Pack] = []
        self.own = list(range(len(self.nest.extents)))
        """The dimensions of its own loops, from the outside in."""
        self.vector: int | None = None
        self.lanes = 1
        self.is_unrolled = False
        """Whether no loop of its own is left."""
        self.folded_fills: list[int] = []

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
        return [each for each in self.around if isinstance(each, TileLoop)]

    def _room(self, dimension: int, inside: TileLoop | None = None) -> int:
        """The iterations of a dimension inside of the loops around, or of those before one."""
        loops = self.loops
        around = loops if inside is None else loops[: loops.index(inside)]
        tiles = (loop.tile for loop in reversed(around) if loop.dimension == dimension)
        return next(tiles, self.nest.extents[dimension])

    def _require_loops(self) -> None:
        if self.is_unrolled:
            raise ScheduleError("it is vectorized, which comes after all other steps but unrolling")

    def _require_permutation(self, order: Sequence[int], name: str) -> None:
        if sorted(order) != list(range(len(self.own))):
            raise ScheduleError(f"{name} {list(order)} is no order of its {len(self.own)} loops")

    def tile(
        self, sizes: Sequence[int], interchange: Sequence[int] = (), *, in_parallel: bool = False
    ) -> list[TileLoop]:
        """
        Puts loops over tiles around the operation, for sizes other than 0; returns them.

        Of loops in parallel the threads share the outermost one.
        """
        self._require_loops()
        if len(sizes) > len(self.own):
            raise ScheduleError(f"{len(sizes)} sizes for {len(self.own)} loops")
        if any(size < 0 for size in sizes):
            raise ScheduleError(f"tile sizes {list(sizes)}; none is negative")
        order = [*interchange, *(p for p in range(len(self.own)) if p not in interchange)]
        self._require_permutation(order, "interchange")
        made: list[TileLoop] = []
        for position in order:
            if position < len(sizes) and sizes[position]:
                dimension = self.own[position]
                tile = max(1, min(sizes[position], self._room(dimension)))
                is_shared = in_parallel and not any(e.is_parallel for e in (*self.loops, *made))
                made.append(TileLoop(self, dimension, tile, is_shared))
        self.around.extend(made)
        return made

    def counts_to_sizes(self, counts: Sequence[int]) -> list[int]:
        """The tile sizes that divide each loop among so many threads."""
        if len(counts) > len(self.own) or any(count < 0 for count in counts):
            raise ScheduleError(f"numbers of threads {list(counts)} for {len(self.own)} loops")
        rooms = map(self._room, self.own)
        return [count and ceil(n / count) for count, n in zip(counts, rooms, strict=False)]

    def interchange(self, order: Sequence[int]) -> None:
        """Orders the operation's own loops; later steps count them in this order."""
        self._require_loops()
        self._require_permutation(order, "iterator_interchange")
        self.own = [self.own[position] for position in order]

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
                self.around.append(Pack(factor, Schedule(())))
                return
        raise ScheduleError(f"(SR9) operand {operand} is no factor of a contraction")

    def vectorize(self, sizes: Sequence[int]) -> None:
        """
        Runs all iterations of the operation's own loops at once, in vectors along the dimension
        along which most operands have unit stride, the innermost of equal ones.

        `sizes` may be larger than the loops, as for MLIR's masked vectors; none are the loops' own.
        """
        self._require_loops()
        rooms = [self._room(dimension) for dimension in self.own]
        sizes = sizes or rooms
        if len(sizes) != len(self.own) or any(size < 0 for size in sizes):
            raise ScheduleError(f"sizes {list(sizes)} for {len(self.own)} loops")
        for position, (size, room) in enumerate(zip(sizes, rooms, strict=True)):
            if size < room:
                raise ScheduleError(
                    f"vector size {size} is less than the {room} iterations of its loop {position}"
                )
        outputs = range(len(self.nest.outputs))
        candidates = [
            (self._unit_strides(dimension), position)
            for position, dimension in enumerate(self.own)
            if rooms[position] > 1
            and all(has_vector_result(self.nest, dimension, each) for each in outputs)
        ]
        self.is_unrolled = True
        if candidates:
            _, position = max(candidates)
            self.vector, room = self.own[position], rooms[position]
            self.lanes = max(n for n in range(1, min(room, MOST_LANES) + 1) if room % n == 0)

    def _unit_strides(self, dimension: int) -> int:
        return sum(a.strides is not None and a.strides[dimension] == 1 for a in self.nest.accesses)

    def unroll(self, loop: TileLoop, factor: int, *, with_jam: bool) -> None:
        """Unrolls a loop, inside of all loops that it holds; without jam it must hold none."""
        dimension = loop.dimension
        if factor < 1:
            raise ScheduleError(f"(SR2) unrolled {factor} times")
        inside = self.around[self.around.index(loop) + 1 :]
        own = {d for d in self.own if self._room(d) > 1 and not self.is_unrolled}
        if dimension in own:
            raise ScheduleError(f"the loop holds others over d{dimension}; vectorize before")
        if any(isinstance(e, TileLoop) and e.dimension == dimension for e in inside):
            raise ScheduleError(f"the loop holds others over d{dimension}")
        if not with_jam and (inside or own):
            raise ScheduleError("the loop holds others; transform.loop.unroll_and_jam unrolls it")
        loop.tile = min(
            loop.tile * factor, self._in_vectors(dimension, self._room(dimension, loop))
        )
        self.own = [each for each in self.own if each != dimension]

    def _in_vectors(self, dimension: int, iterations: int) -> int:
        """So many iterations of a dimension, in whole vectors if these lie along it."""
        lanes = self.lanes if dimension == self.vector else 1
        return ceil(iterations / lanes) * lanes

    def fold_fill(self, fill: Operation) -> bool:
        """Starts the outputs that an operation fills from its scalar; returns whether it does."""
        fills = foldable_fills(self.nest, self.schedule().steps)
        outputs = [output for output, op in fills.items() if op is fill]
        self.folded_fills.extend(outputs)
        return bool(outputs)

    def schedule(self) -> Schedule:
        """What the steps so far say; loops of one iteration are left out."""
        room = list(self.nest.extents)
        steps: list[Loop | Pack] = []
        own = () if self.is_unrolled else map(Loop, self.own)
        for each in (*self.around, *own):
            if isinstance(each, Pack):
                steps.append(each)
            elif each.tile < room[each.dimension]:
                room[each.dimension] = each.tile
                steps.append(Loop(each.dimension, each.tile, each.is_parallel))
        inside = steps[outer_steps(steps) :]
        unrolled = {step.dimension for step in inside if isinstance(step, Loop)}
        for dimension in reversed(range(len(room))):
            if room[dimension] == 1 or dimension in unrolled:
                continue
            # A single iteration may be anywhere; fills are folded if reductions come last.
            is_last = self.nest.is_reduction[dimension]
            whole = Loop(dimension, self._in_vectors(dimension, room[dimension]))
            steps.insert(len(steps) if is_last else outer_steps(steps), whole)
        schedule = Schedule(tuple(steps), self.vector, self.lanes).fold_fills(*self.folded_fills)
        for place, step in enumerate(steps):
            if isinstance(step, Pack):
                copy = copy_along_lanes(self.nest, schedule, step.factor, place)
                steps[place] = replace(step, copy=copy)
        return replace(schedule, steps=tuple(steps))
