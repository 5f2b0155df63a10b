"""
Writes loops, as `loop_tree` has them.

Every value of the body is written at the outermost loop level that has all it depends on.
An output is loaded and stored at the level that determines its element; loops further in carry
it as an iteration argument. Where such a loop runs in vector lanes, it carries vectors of
partial results, which are folded when all loops that reduce are done.

Long sums of floats are written in blocks (`long_sums.py`). One of the loops that add up runs over
blocks: inside of it, running values begin anew; it, and those around it, carry what the blocks
before amount to, with how much too large that is. Where sums lie in memory, because loops over
their elements are inside, the latter does, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.dialects import arith, vector
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Attribute, SSAValue

from lowerings.dialects.schedule import Loop
from lowerings.ir.compensation import compensated
from lowerings.loops.access import Access
from lowerings.loops.builder import Index, LoopBuilder
from lowerings.loops.combiners import COMBINERS, neutral_element
from lowerings.loops.constants import vector_of
from lowerings.loops.evaluation import BodyEvaluator, Combination, Point
from lowerings.loops.lane_analysis import Lanewise
from lowerings.loops.long_sums import Rounding
from lowerings.loops.loop_tree import SHORT, InnerLoops, LoopPart, OuterLoop, Scratch
from lowerings.loops.math_functions.numbers import Number
from lowerings.loops.pairwise_fold import PairwiseFold


@dataclass(frozen=True)
class PartialKey:
    """Names one running value of an output."""

    output: int
    combination: Combination
    slot: int = 0
    """Which vector of partial results: its number in the tile of the vector dimension."""
    is_excess: bool = False
    """Whether it is how much too large the sum of blocks is."""


REASSOCIATE = FastMathFlagsAttr([FastMathFlag.REASSOC])
"""Vectors of partial results are folded in whatever order is fastest."""

NOTHING_BOUND: Mapping[int, Index] = {}


class NestEmitter:
    """Writes one nest."""

    def __init__(
        self,
        loops: InnerLoops,
        builder: LoopBuilder,
        bound: Mapping[int, Index],
    ):
        """`bound` gives the positions in dimensions that loops around the nest run over."""
        nest, order = loops.nest, loops.order
        self.part = loops
        self.nest = nest
        self.builder = builder
        self.loops = order.loops
        self.lanes = order.lanes
        self.vector = order.vector
        self.evaluator = BodyEvaluator(loops, builder)
        for dimension in nest.enclosing:
            self.evaluator.points[dimension] = (Point(bound[dimension]),)
        self.running: dict[PartialKey, SSAValue] = {}
        self.rounding: dict[int, Rounding] = {}
        """By output, for sums that are added to in memory with compensation."""
        if nest.rounding is not None:
            self._compensate(0, nest.rounding)

    def emit(self) -> None:
        """Writes the nest."""
        self._level(0)

    def _level(self, level: int) -> None:
        evaluator = self.evaluator
        evaluator.open_scope()
        if level == len(self.loops):
            self._innermost()
        else:
            self._write_values(level)
            self._open_memory(level)
            outputs = [o for o, own in enumerate(self.part.output_levels) if own == level]
            for output in outputs:
                self._open_output(output)
            self._loop(level)
            for output in outputs:
                self._close_output(output)
        evaluator.close_scope()

    def _open_memory(self, level: int) -> None:
        """Makes the memory of sums that begin in front of the loop at a level."""
        for output, own in self.part.in_memory.items():
            if own.level == level:
                emit(own.parts, self.builder)
                self._compensate(output, own.rounding)

    def _compensate(self, output: int, access: Access) -> None:
        """From now on adds to a sum in memory with compensation."""
        extents = self.nest.extents
        self.rounding[output] = Rounding(access, extents, self.vector, self.builder)

    def _write_values(self, level: int) -> None:
        """Writes what the loops bound so far determine."""
        for value in self.part.values[level]:
            for combination in self.evaluator.combinations(self.nest.mask.get(value, 0)):
                self._write_value(value, combination)

    def _write_value(self, value: SSAValue, combination: Combination) -> None:
        lanewise = self.evaluator.lanewise(value)
        if type(value.owner) is arith.ConstantOp:
            return
        if lanewise is not Lanewise.VARYING:
            self.evaluator.scalar(value, combination)
        if lanewise is Lanewise.VARYING or (
            lanewise is Lanewise.UNIFORM and value in self.part.used_in_lanes
        ):
            self.evaluator.as_vector(value, combination)

    def _loop(self, level: int) -> None:
        """Writes the loop at `level`, and after it the tile that is left over."""
        loop = self.loops[level]
        extent = self.nest.extents[loop.dimension]
        whole = extent - extent % loop.tile
        blocks = self.part.blocks
        if blocks is not None and level != blocks.level:
            blocks = None
        if blocks is not None:
            self._in_blocks(level, loop, whole, blocks.size)
        elif whole == loop.tile:
            self._tile(level, Index(), loop.tile)
        elif whole:
            index = self.builder.constants.index
            self._whole_tiles(level, loop, index(0), index(whole))
        if whole != extent:
            rest = partial(self._tile, level, Index(None, whole), extent - whole)
            if blocks is None:
                rest()
            else:
                self._one_block(rest)

    def _in_blocks(self, level: int, loop: Loop, whole: int, iterations: int) -> None:
        """Writes the loop over blocks of so many iterations, of a loop's whole tiles."""
        builder, constants = self.builder, self.builder.constants
        size = iterations * loop.tile

        def write(start: SSAValue) -> None:
            if iterations == 1:
                self._tile(level, Index(start), loop.tile)
                return
            end = builder.binary(arith.AddiOp, start, constants.index(size))
            if whole % size:
                end = builder.binary(arith.MinUIOp, end, constants.index(whole))
            self._whole_tiles(level, loop, start, end)

        bounds = constants.index(0), constants.index(whole), constants.index(size)
        self._carrying_loop(
            loop, bounds, list(self.running), lambda start: self._one_block(lambda: write(start))
        )

    def _one_block(self, write: Callable[[], None]) -> None:
        """
        Adds to sums in blocks what `write` adds to running values that begin anew.

        Outside of blocks, a sum has one running value, with how much too large it is, and one more
        in the slot `SHORT` if there are vectors that are shorter; in a block it has one in each
        slot.
        """
        outside, builder = self.running, self.builder
        running = {key: v for key, v in outside.items() if not self.part.is_in_blocks(key.output)}
        begun: dict[PartialKey, dict[PartialKey, SSAValue]] = {}
        for total in outside:
            if self.part.is_in_blocks(total.output) and not total.is_excess:
                neutral = builder.constants.number(-0.0, outside[total].type)
                slots = self.part.slots(total.output)
                own = [slot for slot in slots if (slot == SHORT) == (total.slot == SHORT)]
                begun[total] = {replace(total, slot=slot): neutral for slot in own}
        self.running = dict(running)
        for own in begun.values():
            self.running |= own
        write()
        running = {key: self.running[key] for key in running}
        for total, own in begun.items():
            excess = replace(total, is_excess=True)
            running[total], running[excess] = outside[total], outside[excess]
            terms = PairwiseFold(partial(self._folded, total.output))
            for key, neutral in own.items():
                if self.running[key] is not neutral:
                    terms.add(self.running[key])
            if not terms.is_empty:
                parts = outside[total], outside[excess], terms.total()
                after = compensated(*(Number(builder, part) for part in parts))
                running[total], running[excess] = (number.value for number in after)
        self.running = running

    def _whole_tiles(self, level: int, loop: Loop, lower: SSAValue, upper: SSAValue) -> None:
        in_lanes = loop.dimension == self.vector
        keys = [key for key in self.running if not (in_lanes and key.slot == SHORT)]
        bounds = lower, upper, self.builder.constants.index(loop.tile)
        self._carrying_loop(
            loop, bounds, keys, lambda value: self._tile(level, Index(value), loop.tile)
        )

    def _carrying_loop(
        self,
        loop: Loop,
        bounds: tuple[SSAValue, SSAValue, SSAValue],
        keys: Sequence[PartialKey],
        write: Callable[[SSAValue], None],
    ) -> None:
        """Writes a loop that carries some running values; `write` gets where it is."""
        outside = self.running

        def inside(position: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            self.running = dict(zip(keys, carried, strict=True))
            write(position)
            return [self.running[key] for key in keys]

        initial = [outside[key] for key in keys]
        name = f"d{loop.dimension}"
        results = self.builder.loop(bounds, initial, inside, name, is_parallel=loop.is_parallel)
        self.running = outside | dict(zip(keys, results, strict=True))

    def _tile(self, level: int, start: Index, count: int) -> None:
        """Writes what is in the loop at `level`, for so many iterations at once."""
        dimension = self.loops[level].dimension
        lanes = self.lanes if dimension == self.vector else 1
        points = tuple(
            Point(Index(start.value, start.constant + first), min(lanes, count - first))
            for first in range(0, count, lanes)
        )
        before = self.evaluator.points[dimension]
        self.evaluator.points[dimension] = points
        if dimension in self.evaluator.indexing:
            # Hoisted: uses are in inner loops, where the index would be computed again each time.
            for point in points:
                self.builder.materialize(point.position)
        self._level(level + 1)
        self.evaluator.points[dimension] = before

    def _total_slots(self, output: int) -> list[int]:
        """The slots of an output's running values outside of blocks."""
        slots = self.part.slots(output)
        return [n for n in slots if n in (0, SHORT)] if self.part.is_in_blocks(output) else slots

    def _open_output(self, output: int) -> None:
        """Makes the first running values of an output."""
        numbers = self.builder.constants.number
        for combination in self.evaluator.combinations(self.part.output_masks[output]):
            keys = [PartialKey(output, combination, slot) for slot in self._total_slots(output)]
            self.running |= {key: self._first(key) for key in keys}
            if self.part.is_in_blocks(output):
                for key in keys:
                    nothing = numbers(0.0, self.running[key].type)
                    self.running[replace(key, is_excess=True)] = nothing

    def _first(self, key: PartialKey) -> SSAValue:
        """A running value in front of the loops that fold terms into it."""
        if not self.part.is_added_behind(key.output):
            return self._initial(key.output, key.combination)
        combiner = self.nest.combiners[key.output]
        assert combiner is not None
        type_ = self.nest.outputs[key.output].type.element_type
        neutral = neutral_element(COMBINERS[type(combiner[0])], type_)
        lanes = self._lanes(key.output, key.combination)
        if self.vector is not None and lanes is None:
            extent = self.nest.extents[self.vector]
            lanes = extent % self.lanes if key.slot == SHORT else self.lanes
        if lanes is not None:
            type_ = vector_of(type_, lanes)
        return self.builder.constants.number(neutral, type_)

    def _lanes(self, output: int, combination: Combination) -> int | None:
        """The lanes of vectors of an output; None if it is stored as scalars."""
        return self.evaluator.lanes(combination) if self.part.is_vector(output) else None

    def _initial(self, output: int, combination: Combination) -> SSAValue:
        """What an output starts from: a scalar, or a vector if vectors of it are stored."""
        evaluator, nest, lanes = self.evaluator, self.nest, self._lanes(output, combination)
        given, is_vector = nest.initial[output], lanes is not None
        if given is None:
            value = evaluator.outputs[output].load(evaluator.position(combination), lanes)
        else:
            value = evaluator.value(given, combination, is_vector=is_vector)
        if nest.excess is None:
            return value
        excess = evaluator.value(nest.body.args[nest.excess], combination, is_vector=is_vector)
        return self.builder.binary(arith.SubiOp, value, excess)

    def _close_output(self, output: int) -> None:
        """Stores what the last running values amount to."""
        for combination in self.evaluator.combinations(self.part.output_masks[output]):
            keys = [PartialKey(output, combination, slot) for slot in self._total_slots(output)]
            running = [self.running.pop(key) for key in keys]
            for key in keys:
                self.running.pop(replace(key, is_excess=True), None)
            if self.part.is_folded_in_lanes(output):
                running = self._folded_lanes(output, running)
            self._end(output, combination, running)

    def _end(self, output: int, combination: Combination, running: Sequence[SSAValue]) -> None:
        """Stores an output: its one running value, or what it holds with several folded in."""
        evaluator, rounding = self.evaluator, self.rounding.get(output)
        position, lanes = evaluator.position(combination), self._lanes(output, combination)
        result = running[0]
        if self.part.is_added_behind(output):
            result = self._initial(output, combination)
            for terms in running:
                if rounding is None:
                    result = self._folded(output, result, terms)
                else:
                    result = rounding.added(result, terms, position, lanes)
        evaluator.outputs[output].store(result, position, lanes)

    def _folded_lanes(self, output: int, running: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """All lanes of vectors of running values, of each length: pairs of vectors first."""
        combiner = self.nest.combiners[output]
        assert combiner is not None
        by_type: dict[Attribute, PairwiseFold] = {}
        for value in running:
            fold = partial(self._folded, output)
            by_type.setdefault(value.type, PairwiseFold(fold)).add(value)
        kind = CombiningKindAttr(COMBINERS[type(combiner[0])].kind)
        properties = {"kind": kind, "fastmath": REASSOCIATE}
        type_ = self.nest.outputs[output].type.element_type
        return [
            self.builder.write(vector.ReductionOp, [terms.total()], type_, properties)
            for terms in by_type.values()
        ]

    def _innermost(self) -> None:
        """
        Writes the body at every point of the tile.

        What several points of the tile fold into one element is loaded and stored once.
        """
        evaluator, running = self.evaluator, self.running
        *_, values, folded = self.part.values
        everything = -1
        points = [
            (each, [self._running_key(output, each) for output in range(len(self.nest.outputs))])
            for each in evaluator.combinations(everything)
        ]
        last = {key: number for number, (_, keys) in enumerate(points) for key in keys}
        in_memory = last.keys() - running.keys()
        terms = {
            key: PairwiseFold(partial(self._folded, key.output))
            for key in last
            if self.nest.combiners[key.output] and key.output not in self.nest.products
        }
        for number, (combination, keys) in enumerate(points):
            for value in values:
                own = evaluator.restrict(combination, self.nest.mask.get(value, 0))
                self._write_value(value, own)
            evaluator.open_scope()
            for key in keys:
                argument = self.nest.accumulators[key.output]
                if key not in terms and argument in self.nest.folded and argument.first_use:
                    if key not in running:
                        running[key] = self._first(key)
                    evaluator.remember(argument, combination, running[key])
            for value in folded:
                self._write_value(value, combination)
            results: dict[PartialKey, SSAValue] = {}
            for key in keys:
                if key not in terms:
                    results[key] = self._result(key, combination)
                    continue
                terms[key].add(self._term(key.output, combination))
                if last[key] == number:
                    results[key] = total = terms[key].total()
                    if key in running:
                        results[key] = self._folded(key.output, running[key], total)
            for key, result in results.items():
                running[key] = result
                if key in in_memory and last[key] == number:
                    self._end(key.output, key.combination, [running.pop(key)])
            evaluator.close_scope()

    def _term(self, output: int, combination: Combination) -> SSAValue:
        """What a point folds into an output, or stores there."""
        term, is_vector = self.part.terms[output], self.vector is not None
        return self.evaluator.value(term, combination, is_vector=is_vector)

    def _folded(self, output: int, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Two values of an output, scalars or vectors, folded into one."""
        combiner = self.nest.combiners[output]
        assert combiner is not None
        op = combiner[0]
        return self.builder.write(type(op), [lhs, rhs], lhs.type, op.properties, op.location)

    def _result(self, key: PartialKey, combination: Combination) -> SSAValue:
        """The next running value of an output that is not folded in pairs."""
        product = self.nest.products.get(key.output)
        if product is None:
            return self._term(key.output, combination)
        return self.evaluator.multiply_add(product, self.running[key], combination)

    def _running_key(self, output: int, combination: Combination) -> PartialKey:
        evaluator = self.evaluator
        own = evaluator.restrict(combination, self.part.output_masks[output])
        if not self.part.is_folded_in_lanes(output):
            return PartialKey(output, own)
        assert self.vector is not None
        number = combination[evaluator.tiled.index(self.vector)]
        is_short = evaluator.points[self.vector][number].lanes < self.lanes
        return PartialKey(output, own, SHORT if is_short else number)


def emit(
    parts: Sequence[LoopPart], builder: LoopBuilder, bound: Mapping[int, Index] = NOTHING_BOUND
) -> None:
    """Writes loops; `bound` gives the positions in dimensions that those around run over."""
    for part in parts:
        match part:
            case Scratch():
                builder.make(part.memory, part.number)
            case InnerLoops():
                NestEmitter(part, builder, bound).emit()
            case OuterLoop():
                bounds = [builder.constants.index(each) for each in (0, part.iterations, 1)]

                def inside(position: SSAValue, _: object, part: OuterLoop = part) -> tuple[()]:
                    own = {**bound, part.dimension: Index(position)}
                    emit(part.parts, builder, own)
                    return ()

                name = f"d{part.dimension}"
                builder.loop(bounds, (), inside, name, is_parallel=part.is_parallel)
