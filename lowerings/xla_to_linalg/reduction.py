"""
Reductions, of whole dimensions and over sliding windows.

Windows that cover a dimension up to, or from, their placement are cumulative reductions. As windows
they take quadratic time. Here a running value goes along the dimension once. Forwards that is the
fold that a window is, in the same order: it is exact for every computation. Backwards the terms are
combined from the other end, which needs an associative operation.

Running sums of floats are in blocks, so that their error does not grow with their length: an
element is what the blocks before amount to, and the sum of its own block up to it. The sums of
blocks are added with compensation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.compensation import compensated
from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.contraction import zero
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.formulas import Real
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import (
    inline_computation,
    inline_where,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values, storage
from lowerings.xla_to_linalg.structured import (
    Body,
    array_type,
    constant,
    counted_loop,
    empty,
    extract_scalar,
    extract_slice,
    fill,
    generic,
    identity,
    indexing_maps,
    insert_slice,
    iterators,
    on_scalars,
    outside_of_bodies,
    pointwise,
    projection,
    shared_loop,
)
from lowerings.xla_to_linalg.windows import (
    Neutral,
    Sliding,
    WindowElements,
    WindowLoops,
    sliding_dimensions,
)
from xla_dialect.analysis.computations import neutral_element
from xla_dialect.ops.elementwise import AddOp, MultiplyOp
from xla_dialect.ops.reduction import (
    MapOp,
    ReduceOp,
    ReduceWindowOp,
    may_reassociate,
    only_operation,
)
from xla_dialect.types import BY_TYPE, Array, ElementClass, element_class, is_array
from xla_dialect.xdsl.traversal import tensor_shape

ROWS_AT_ONCE = 8
"""Independent running values hide the latency of one another's operations."""
ROWS_IN_ONE_SET, BYTES_BETWEEN_SETS = 4, 4096
"""
Rows so far apart share a set of the first-level cache, which has lines for so many of them and as
many of the results: with more, a sum took up to three times as long. Other operations take so long
that they need the rows all the same.
"""
QUICK = AddOp, MultiplyOp
NANOSECONDS, NANOSECONDS_IN_LANES = 0.9, 0.2
"""Time for one element of a common computation, in scalar and in vector code."""
LARGEST_SCALAR_ROW = 16
"""Inner sizes up to this have a running scalar per element; larger ones a running tensor."""


@dataclass(frozen=True)
class Running:
    """A dimension of which each element is folded with all before it, or after it."""

    dimension: int
    length: int
    backwards: bool

    @staticmethod
    def of(dimensions: Sequence[Sliding]) -> Running | None:
        """The only dimension in which a window is not trivial, if it is cumulative there."""
        moving = [d for d, sliding in enumerate(dimensions) if not sliding.is_idle]
        if len(moving) != 1:
            return None
        sliding = dimensions[moving[0]]
        size, is_dense = (
            sliding.base,
            (sliding.stride, sliding.holes, sliding.dilation) == (1, 1, 1),
        )
        if not is_dense or (sliding.elements, sliding.placements) != (size, size):
            return None
        if sliding.low not in (0, size - 1):
            return None
        return Running(moving[0], size, backwards=sliding.low == 0)


@dataclass(frozen=True)
class CumulativeReduction:
    """Tensors of sizes `(outer, length, inner)` that are folded along the middle dimension."""

    builder: ConversionBuilder
    computation: Block
    values: Sequence[SSAValue]
    inits: Sequence[SSAValue]
    """Scalars."""
    backwards: bool

    @classmethod
    def converted(
        cls,
        builder: ConversionBuilder,
        computation: Block,
        values: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        running: Running,
    ) -> Sequence[SSAValue]:
        """The cumulative reductions of tensors of any sizes; `inits` are scalars."""
        sizes = tensor_shape(values[0])
        d = running.dimension
        flat = (prod(sizes[:d]), sizes[d], prod(sizes[d + 1 :]))
        rows = [reshape(value, flat, builder.op) for value in values]
        results = cls(builder, computation, rows, inits, running.backwards).convert()
        return [reshape(result, sizes, builder.op) for result in results]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Outer, length, inner."""
        return tensor_shape(self.values[0])

    def convert(self) -> Sequence[SSAValue]:
        """The cumulative reductions."""
        outer, _, inner = self.sizes
        starts = [empty(self.builder, array_type(value)) for value in self.values]
        if inner > LARGEST_SCALAR_ROW:
            turn = self.sizes[1] * inner * NANOSECONDS_IN_LANES
            return shared_loop(self.builder, outer, 1, turn, starts, (), self._along_rows)
        most = self._chains_at_once // inner or 1
        rows = next(n for n in range(most, 0, -1) if outer % n == 0)
        return shared_loop(
            self.builder,
            outer,
            rows,
            self.sizes[1] * inner * NANOSECONDS,
            starts,
            (),
            lambda builder, row, results: self._along_scalars(builder, row, results, rows),
        )

    @property
    def _chains_at_once(self) -> int:
        """How many running values are advanced together."""
        _, length, inner = self.sizes
        row_bits = length * inner * BY_TYPE[array_type(self.values[0]).element_type].bits
        first, *others = self.computation.ops
        is_quick = isinstance(first, QUICK) and len(others) == 1
        if is_quick and row_bits % (8 * BYTES_BETWEEN_SETS) == 0:
            return ROWS_IN_ONE_SET
        return ROWS_AT_ONCE

    def _step(
        self, s: ScalarBuilder, running: Sequence[SSAValue], elements: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        return inline_computation(s, self.computation, (*running, *elements))

    def _place(self, s: ScalarBuilder, number: SSAValue) -> SSAValue:
        """The index along the dimension of the n-th iteration."""
        if not self.backwards:
            return number
        return s.emit(arith.SubiOp, (s.constant(self.sizes[1] - 1, INDEX), number))

    def _along_scalars(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue], rows: int
    ) -> Sequence[SSAValue]:
        """A running scalar for each of some rows and each inner index."""
        chains = [(r, i) for r in range(rows) for i in range(self.sizes[2])]
        starts = [*results, *(list(self.inits) * len(chains))]

        step = on_scalars(lambda s, at, values: self._advance(s, chains, (row, at), values))
        return counted_loop(builder, self.sizes[1], 1, starts, step)[: len(results)]

    def _advance(
        self,
        s: ScalarBuilder,
        chains: Sequence[tuple[int, int]],
        position: tuple[SSAValue, SSAValue],
        carried: Sequence[SSAValue],
        before: Sequence[SSAValue] = (),
    ) -> Sequence[SSAValue]:
        """
        The results and the running scalars of all chains, one step on.

        With `before`, a result is what is there for its chain and the running scalar together.
        """
        first_row, number = position
        place = self._place(s, number)
        count = len(self.values)
        results, running = carried[:count], list[SSAValue]()
        for chain, (row, index) in enumerate(chains, 1):
            own_row = s.emit(arith.AddiOp, (first_row, s.constant(row, INDEX)))
            where = own_row, place, s.constant(index, INDEX)
            elements = [
                s.emit(tensor.ExtractOp, (value, *where), storage(elements_of(value)))
                for value in self.values
            ]
            stepped = self._step(s, carried[count * chain : count * (chain + 1)], elements)
            found = self._step(s, [before[chain - 1]], stepped) if before else stepped
            results = [
                s.emit(tensor.InsertOp, (value, into, *where), into.type)
                for value, into in zip(found, results, strict=True)
            ]
            running += stepped
        return [*results, *running]

    def _along_rows(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Running tensors of all inner indices."""
        count, inner_size = len(self.values), self.sizes[2]

        def turn(
            inner: ConversionBuilder, number: SSAValue, carried: Sequence[SSAValue]
        ) -> Sequence[SSAValue]:
            place = outside_of_bodies(inner, lambda s: self._place(s, number))
            offsets = (row, place, 0)
            running = [(value, identity(3)) for value in carried[count:]]
            slices = [
                (extract_slice(inner, value, offsets, (1, 1, inner_size)), identity(3))
                for value in self.values
            ]

            def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
                return self._step(s, elements[:count], elements[count : 2 * count])

            outputs = [(empty(inner, array_type(value)), identity(3)) for value, _ in running]
            stepped = generic(inner, (*running, *slices), outputs, iterators(3), body)
            written = [
                insert_slice(inner, value, into, offsets)
                for value, into in zip(stepped, carried[:count], strict=True)
            ]
            return [*written, *stepped]

        rows = [
            fill(builder, init, TensorType(init.type, (1, 1, inner_size))) for init in self.inits
        ]
        return counted_loop(builder, self.sizes[1], 1, [*results, *rows], turn)[:count]


BLOCK = 16
"""So many terms are added one after the other."""

BlockBody: TypeAlias = Callable[[ConversionBuilder, SSAValue, int, Values], Sequence[SSAValue]]
"""From a builder, the number of the first term, how many there are, and carried values to those
that are carried on."""


def _compensated(s: ScalarBuilder, values: Values) -> Sequence[SSAValue]:
    """A sum and its excess, after a term."""
    total, excess, term = (Real(s, value) for value in values)
    return [number.value for number in compensated(total, excess, term)]


@dataclass(frozen=True)
class RunningSums(CumulativeReduction):
    """Sums of floats that go along the middle dimension."""

    def _in_blocks(
        self, builder: ConversionBuilder, carried: Values, block: BlockBody
    ) -> Sequence[SSAValue]:
        """What `block` makes of the carried values, block after block."""
        length = self.sizes[1]
        whole = length - length % BLOCK
        if whole:
            carried = counted_loop(
                builder,
                whole,
                BLOCK,
                carried,
                lambda inner, first, values: block(inner, first, BLOCK, values),
            )
        if whole < length:
            carried = block(builder, constant(builder, whole, INDEX), length - whole, carried)
        return carried

    def _along_scalars(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue], rows: int
    ) -> Sequence[SSAValue]:
        """A running scalar for each of some rows and each inner index."""
        chains = [(r, i) for r in range(rows) for i in range(self.sizes[2])]
        count, type_ = len(chains), elements_of(self.values[0])

        def block(
            builder: ConversionBuilder, first: SSAValue, size: int, carried: Values
        ) -> Sequence[SSAValue]:
            before, excesses = carried[1 : count + 1], carried[count + 1 :]

            def step(s: ScalarBuilder, number: SSAValue, values: Values) -> Values:
                place = s.emit(arith.AddiOp, (first, number))
                return self._advance(s, chains, (row, place), values, before)

            nothing = [constant(builder, -0.0, type_)] * count
            starts = [carried[0], *nothing]
            result, *own = counted_loop(builder, size, 1, starts, on_scalars(step))
            terms = list(zip(before, excesses, own, strict=True))
            after = outside_of_bodies(builder, lambda s: [_compensated(s, term) for term in terms])
            return [result, *(total for total, _ in after), *(excess for _, excess in after)]

        excesses = [constant(builder, 0.0, type_)] * count
        return self._in_blocks(builder, [*results, *[*self.inits] * count, *excesses], block)[:1]

    def _along_rows(
        self, builder: ConversionBuilder, row: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """Running tensors of all inner indices."""
        type_ = self._row_type

        def block(
            builder: ConversionBuilder, first: SSAValue, size: int, carried: Values
        ) -> Sequence[SSAValue]:
            result, before, excess = carried

            def turn(
                inner: ConversionBuilder, number: SSAValue, values: Values
            ) -> Sequence[SSAValue]:
                place = outside_of_bodies(
                    inner, lambda s: self._place(s, s.emit(arith.AddiOp, (first, number)))
                )
                offsets = (row, place, 0)
                elements = extract_slice(inner, self.values[0], offsets, type_.get_shape())

                def body(s: ScalarBuilder, values: Values) -> Sequence[SSAValue]:
                    own = s.addf(values[0], values[1])
                    return own, s.addf(values[2], own)

                own, found = self._on_rows(inner, (values[1], elements, before), body)
                return [insert_slice(inner, found, values[0], offsets), own]

            nothing = fill(builder, constant(builder, -0.0, type_.element_type), type_)
            result, own = counted_loop(builder, size, 1, [result, nothing], turn)
            after = self._on_rows(
                builder, (before, excess, own), lambda s, values: _compensated(s, values[:3])
            )
            return [result, *after]

        starts = [fill(builder, self.inits[0], type_)]
        starts.append(fill(builder, constant(builder, 0.0, type_.element_type), type_))
        return self._in_blocks(builder, [*results, *starts], block)[:1]

    @property
    def _row_type(self) -> TensorType[Attribute]:
        return TensorType(elements_of(self.values[0]), (1, 1, self.sizes[2]))

    def _on_rows(self, builder: ConversionBuilder, rows: Values, body: Body) -> Sequence[SSAValue]:
        """The two rows that `body` computes of others, element by element."""
        everywhere = identity(3)
        outputs = [(empty(builder, self._row_type), everywhere) for _ in range(2)]
        inputs = [(row, everywhere) for row in rows]
        return generic(builder, inputs, outputs, iterators(3), body)


def convert_reduce_window(op: ReduceWindowOp, builder: ConversionBuilder) -> str | None:
    """
    One generic over all inputs: loops over the placements, then over the window's elements.

    The inputs are padded with the neutral element of the computation. Where that is not known,
    the body checks for padding. A cumulative window becomes a loop along its dimension.
    """
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    computation = op.to_apply.block
    inits = [extract_scalar(builder, init) for init in op.init_values]
    sizes = tensor_shape(op.inputs[0])
    dimensions = sliding_dimensions(op.window.data, sizes)
    restricted = [d.restricted() if d.base else None for d in dimensions]
    met = [d for d in restricted if d is not None]
    if len(met) < len(dimensions):
        results = [
            fill(builder, init, array_type(result))
            for init, result in zip(inits, op.results, strict=True)
        ]
        builder.replace(results)
        return None
    running = Running.of(met)
    if running is not None and (not running.backwards or may_reassociate(op.to_apply)):
        kind = RunningSums if _sums_floats(op, running) else CumulativeReduction
        builder.replace(kind.converted(builder, computation, op.inputs, inits, running))
        return None
    builder.replace(_windows(op, builder, met, inits))
    return None


def _sums_floats(op: ReduceWindowOp, running: Running) -> bool:
    """Whether an operation has long running sums of floats, in a type in which they accumulate."""
    row = BY_TYPE[array_type(op.inputs[0]).element_type]
    is_wide = row.element_class == ElementClass.FLOAT and row.bits >= 32
    return is_wide and running.length > BLOCK and only_operation(op.to_apply.block) is AddOp


def is_in_blocks(op: Operation) -> bool:
    """Whether an operation has running sums that are computed in blocks, unlike its windows."""
    if not isinstance(op, ReduceWindowOp) or not all(is_array(t) for t in op.result_types):
        return False
    dimensions = sliding_dimensions(op.window.data, tensor_shape(op.inputs[0]))
    running = Running.of(dimensions)
    return running is not None and _sums_floats(op, running)


def _neutral(computation: Block) -> Neutral | None:
    """The neutral element of a computation, for padding; None for computations without one."""
    type_ = elements_of(computation.args[0])
    number = neutral_element(computation, type_)
    return None if number is None else partial(_constant, number, type_)


def _constant(number: float | int, type_: Attribute, s: ScalarBuilder) -> SSAValue:
    is_float = element_class(type_) == ElementClass.FLOAT
    return s.constant(float(number) if is_float else number, type_)


def _windows(
    op: ReduceWindowOp,
    builder: ConversionBuilder,
    dimensions: Sequence[Sliding],
    inits: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """The generic of a window that slides."""
    computation = op.to_apply.block
    loops = WindowLoops.after(dimensions)
    rank, count = len(dimensions), len(op.inputs)
    neutral = _neutral(computation) if count == 1 else None
    elements = WindowElements.plan(
        loops, range(rank), {}, tensor_shape(op.inputs[0]), neutral=neutral is not None
    )
    padding = [neutral or partial(zero, element_type=elements_of(value)) for value in op.inputs]
    operands = [
        elements.operand(builder, value, own)
        for value, own in zip(op.inputs, padding, strict=True)
        if elements.has_image
    ]
    operands += loops.shape_operands(builder)

    def body(s: ScalarBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        inside = elements.inside(s)
        accumulators = values[-count:]
        met = (
            values[:count]
            if elements.has_image
            else [elements.read(s, value, inside) for value in op.inputs]
        )
        return inline_where(s, inside, computation, (*accumulators, *met), accumulators)

    outputs = [
        (fill(builder, init, array_type(result)), projection(loops.rank, loops.places))
        for init, result in zip(inits, op.results, strict=True)
    ]
    return generic(builder, operands, outputs, iterators(rank, loops.rank - rank), body)


def convert_reduce(op: ReduceOp, builder: ConversionBuilder) -> str | None:
    """
    One generic over all inputs: the kept dimensions are parallel, then come the reduced ones.

    Outputs start as the init values; the body is the computation of accumulators and values.
    """
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    maps = indexing_maps(op)
    count = len(op.inputs)
    computation = op.to_apply.block

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, (*elements[count:], *elements[:count]))

    inputs = list(zip(op.inputs, maps.operands, strict=False))
    outputs = [
        (fill(builder, extract_scalar(builder, init), cast(Array, result.type)), map_)
        for init, result, map_ in zip(op.init_values, op.results, maps.results, strict=True)
    ]
    builder.replace(generic(builder, inputs, outputs, maps.iterator_types, body))
    return None


def convert_map(op: MapOp, builder: ConversionBuilder) -> None:
    """The computation of scalars becomes the body."""
    result = array_type(op.result)
    computation = op.to_apply.block
    count = len(op.inputs)

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, elements[:count])

    inputs = list(zip(op.inputs, indexing_maps(op).operands, strict=True))
    builder.replace([pointwise(builder, inputs, result, body)])
