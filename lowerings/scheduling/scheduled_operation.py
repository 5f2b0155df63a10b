"""
A linalg operation while the steps of a script say how it runs, as the loops that MLIR's steps would
put around it.

The operation stays whole. Loops around it are those of its schedule; its own loops, one for each
dimension at first, are inside of them and run over what the tiles leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
from lowerings.loops.body import Body
from lowerings.loops.contraction import Contraction, contraction_of
from lowerings.loops.initial_values import foldable_fills
from lowerings.loops.nest import NESTS, nest_of
from lowerings.loops.order_rules import has_vector_result, is_independent
from lowerings.loops.schedule_rules import MOST_LANES
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
        self._set_operation(op)
        self.around: list[TileLoop | Pack] = []
        self.own = [Loop(dimension) for dimension in range(len(self.nest.extents))]
        self.vector: int | None = None
        self.lanes = 1
        self.is_vectorized = False
        self.folded_fills: list[int] = []

    def _set_operation(self, op: Operation) -> None:
        self.op = op
        self.nest = nest_of(op)
        self.__dict__.pop("body", None)

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
        self._set_operation(fuse_into_consumer(producer, self.op))

    @cached_property
    def body(self) -> Body:
        """What the operation computes at each point."""
        return Body(self.nest)

    @property
    def loops(self) -> list[TileLoop]:
        """The loops around the operation, from the outside in."""
        return [each for each in self.around if isinstance(each, TileLoop)]

    def _room(self, position: int) -> int:
        """The iterations of its dimension that an own loop runs over."""
        dimension = self.own[position].dimension
        before = [loop.tile for loop in self.own[:position] if loop.dimension == dimension]
        return before[-1] if before else self._tile_of(dimension)

    def _tile_of(self, dimension: int) -> int:
        """The iterations of a dimension inside of all loops around."""
        tiles = [loop.tile for loop in self.loops if loop.dimension == dimension]
        return tiles[-1] if tiles else self.nest.extents[dimension]

    def _require_loops(self) -> None:
        if self.is_vectorized:
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
            if position >= len(sizes) or not sizes[position]:
                continue
            own, room = self.own[position], self._room(position)
            dimension = own.dimension
            if in_parallel and not is_independent(self.nest, self.body, dimension):
                raise ScheduleError(f"(SR6) iterations of d{dimension} depend on each other")
            if room != self._tile_of(dimension):
                raise ScheduleError(f"a packed tile of d{dimension} cannot be tiled again")
            tile = max(1, min(sizes[position] * own.tile, room))
            is_shared = in_parallel and not any(loop.is_parallel for loop in [*self.loops, *made])
            made.append(TileLoop(self, dimension, tile, is_shared))
        self.around.extend(made)
        return made

    def counts_to_sizes(self, counts: Sequence[int]) -> list[int]:
        """The tile sizes that divide each loop among so many threads."""
        if len(counts) > len(self.own) or any(count < 0 for count in counts):
            raise ScheduleError(f"numbers of threads {list(counts)} for {len(self.own)} loops")
        extents = (ceil(self._room(p) / self.own[p].tile) for p in range(len(counts)))
        return [count and ceil(n / count) for count, n in zip(counts, extents, strict=True)]

    def interchange(self, order: Sequence[int]) -> None:
        """Orders the operation's own loops; later steps count them in this order."""
        self._require_loops()
        self._require_permutation(order, "iterator_interchange")
        self.own = [self.own[position] for position in order]

    def promote(self, operand: int) -> None:
        """Copies what the loops inside read of an operand, a factor of a contraction."""
        self._require_loops()
        contraction = self._contraction()
        arguments = self.nest.body.args
        if not 0 <= operand < len(self.nest.inputs):
            raise ScheduleError(f"(SR9) operand {operand} is no input")
        for factor, value in zip(Factor, (contraction.left, contraction.right), strict=True):
            _, needed = self.body.slice([value])
            if needed.intersection(arguments) == {arguments[operand]}:
                self.around.append(Pack(factor, Schedule(())))
                return
        raise ScheduleError(f"(SR9) operand {operand} is no factor of a contraction")

    def pack(self, sizes: Sequence[int]) -> None:
        """Copies the factor that has a dimension into panels of a size along it."""
        self._require_loops()
        self._require_sizes(sizes)
        packed = [position for position, size in enumerate(sizes) if size]
        contraction = self._contraction()
        columns = {Factor.LHS: contraction.rows, Factor.RHS: contraction.columns}
        for position in packed[:1]:
            own, room = self.own[position], self._room(position)
            for factor, dimensions in columns.items():
                if len(packed) == 1 and own.dimension in dimensions:
                    self.around.append(Pack(factor, Schedule(())))
                    self.own[position] = Loop(own.dimension, min(sizes[position], room))
                    self.own.append(Loop(own.dimension))
                    return
        raise ScheduleError(
            f"(SR9) packed sizes {list(sizes)}; one dimension can be packed, of one factor only"
        )

    def _contraction(self) -> Contraction:
        found = contraction_of(self.nest, self.body)
        if found is None:
            raise ScheduleError("(SR9) a copy of a factor, of what is no contraction")
        return found

    def _require_sizes(self, sizes: Sequence[int]) -> None:
        if len(sizes) != len(self.own) or any(size < 0 for size in sizes):
            raise ScheduleError(f"sizes {list(sizes)} for {len(self.own)} loops")

    def vectorize(self, sizes: Sequence[int]) -> None:
        """
        Runs all iterations of the operation's own loops at once, in vectors along the dimension
        along which most operands have unit stride, the innermost of equal ones.

        `sizes` may be larger than the loops, as for MLIR's masked vectors; none are the loops' own.
        """
        self._require_loops()
        rooms = [self._room(position) for position in range(len(self.own))]
        counts = [ceil(room / own.tile) for room, own in zip(rooms, self.own, strict=True)]
        sizes = sizes or counts
        self._require_sizes(sizes)
        for position, (size, count) in enumerate(zip(sizes, counts, strict=True)):
            if size < count:
                raise ScheduleError(
                    f"vector size {size} is less than the {count} iterations of its loop {position}"
                )
        innermost = {own.dimension: p for p, own in enumerate(self.own) if own.tile == 1}
        candidates = [
            (self._unit_strides(d), p)
            for d, p in innermost.items()
            if counts[p] > 1 and self._admits_lanes(d)
        ]
        self.is_vectorized = True
        if not candidates:
            return
        position = max(candidates)[1]
        self.vector, count = self.own[position].dimension, counts[position]
        self.lanes = max(n for n in range(1, min(count, MOST_LANES) + 1) if count % n == 0)

    def _unit_strides(self, dimension: int) -> int:
        return sum(a.strides is not None and a.strides[dimension] == 1 for a in self.nest.accesses)

    def _admits_lanes(self, dimension: int) -> bool:
        outputs = range(len(self.nest.outputs))
        return all(has_vector_result(self.nest, self.body, dimension, each) for each in outputs)

    def unroll(self, loop: TileLoop, factor: int, *, with_jam: bool) -> None:
        """Unrolls a loop, inside of all loops that it holds; without jam it must hold none."""
        dimension = loop.dimension
        if factor < 1:
            raise ScheduleError(f"(SR2) unrolled {factor} times")
        inside = self.around[self.around.index(loop) + 1 :]
        own = {each.dimension for p, each in enumerate(self.own) if self._room(p) > each.tile}
        if not self.is_vectorized and dimension in own:
            raise ScheduleError(f"the loop holds others over d{dimension}; vectorize before")
        if any(isinstance(e, TileLoop) and e.dimension == dimension for e in inside):
            raise ScheduleError(f"the loop holds others over d{dimension}")
        if not with_jam and (inside or (own and not self.is_vectorized)):
            raise ScheduleError("the loop holds others; transform.loop.unroll_and_jam unrolls it")
        before = self.around[: self.around.index(loop)]
        tiles = [e.tile for e in before if isinstance(e, TileLoop) and e.dimension == dimension]
        room = tiles[-1] if tiles else self.nest.extents[dimension]
        if dimension == self.vector:
            room = ceil(room / self.lanes) * self.lanes
        loop.tile = min(loop.tile * factor, room)
        self.own = [replace(e, tile=loop.tile) if e.dimension == dimension else e for e in self.own]

    def fold_fill(self, fill: Operation) -> bool:
        """Starts the outputs that an operation fills from its scalar; returns whether it does."""
        fills = foldable_fills(self.nest, self.body, self.schedule().steps)
        outputs = [output for output, op in fills.items() if op is fill]
        self.folded_fills.extend(outputs)
        return bool(outputs)

    def schedule(self) -> Schedule:
        """What the steps so far say; loops of one iteration are left out."""
        room = list(self.nest.extents)
        steps: list[Step] = []
        for each in [*self.around, *(self.own if not self.is_vectorized else ())]:
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
            tile = room[dimension]
            if dimension == self.vector:
                tile = ceil(tile / self.lanes) * self.lanes
            # A single iteration may be anywhere; fills are folded if reductions come last.
            is_last = self.nest.is_reduction[dimension]
            steps.insert(len(steps) if is_last else outer_steps(steps), Loop(dimension, tile))
        schedule = Schedule(tuple(steps), self.vector, self.lanes)
        placed = tuple(
            replace(step, copy=copy_along_lanes(self.nest, self.body, schedule, step.factor, place))
            if isinstance(step, Pack)
            else step
            for place, step in enumerate(steps)
        )
        return replace(schedule, steps=placed, folded_fills=tuple(self.folded_fills))
