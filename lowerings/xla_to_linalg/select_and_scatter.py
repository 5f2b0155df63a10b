"""
Select-and-scatter: each placement of a window adds an element of the source where it selects.

It is computed as a gather: each element of the result goes through the few placements that cover
it, in their order, and folds the sources of those that selected it. So the result is one generic
that writes each element once, and `scatter` is applied in the order of the placements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, IntegerType, TensorType, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.contraction import filled_with_zeros, zero
from lowerings.xla_to_linalg.data_movement import StridedInsertion, place
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import inline_computation
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    constant,
    extract_scalar,
    extract_slice,
    fill,
    generic,
    iterators,
    outside_of_bodies,
    projection,
)
from lowerings.xla_to_linalg.windows import (
    Sliding,
    WindowElements,
    WindowLoops,
    shape_operands,
    sliding_dimensions,
    times,
)
from xla_dialect.ops.reduction import SelectAndScatterOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.xdsl.traversal import tensor_shape


def convert_select_and_scatter(op: SelectAndScatterOp, builder: ConversionBuilder) -> None:
    """Two generics: which element of the window each placement picks; what each element gets."""
    result = array_type(op.result)
    init = extract_scalar(builder, op.init_value)
    dimensions = sliding_dimensions(op.window.data, tensor_shape(op.operand))
    restricted = [d.restricted() if d.placements else None for d in dimensions]
    met = [d for d in restricted if d is not None]
    if len(met) < len(dimensions):
        builder.replace([fill(builder, init, result)])
        return
    picked = _picked(op, builder, met)
    builder.replace([_scattered(op, builder, [Overlap(d) for d in met], picked, init)])


def _flat_strides(sizes: Sequence[int]) -> list[int]:
    return [prod(sizes[d + 1 :]) for d in range(len(sizes))]


def _number_type(dimensions: Sequence[Sliding]) -> IntegerType:
    """The type of the numbers of a window's elements."""
    return i32 if prod(d.elements for d in dimensions) < 1 << 31 else i64


def _sum(s: ScalarBuilder, terms: Sequence[SSAValue]) -> SSAValue:
    total = terms[0] if terms else s.constant(0, INDEX)
    for term in terms[1:]:
        total = s.emit(arith.AddiOp, (total, term))
    return total


def _picked(
    op: SelectAndScatterOp, builder: ConversionBuilder, dimensions: Sequence[Sliding]
) -> SSAValue:
    """Per placement the number, in row-major order, of the element it picks; -1 for none."""
    loops, rank = WindowLoops.after(dimensions), len(dimensions)
    element_type, number_type = elements_of(op.operand), _number_type(dimensions)
    elements = WindowElements.plan(loops, range(rank), {}, tensor_shape(op.operand), neutral=False)
    operands = loops.shape_operands(builder)
    if elements.has_image:
        operand = elements.operand(builder, op.operand, lambda s: zero(s, element_type))
        operands.insert(0, operand)
    strides = _flat_strides([d.elements for d in dimensions])
    select = op.select.block

    def body(s: ScalarBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        inside = elements.inside(s)
        candidate = values[0] if elements.has_image else elements.read(s, op.operand, inside)
        best, number = values[-2:]
        (wins,) = inline_computation(s, select, (best, candidate))
        stays = s.both(s.compare("sge", number, 0), wins)
        if inside is not None:
            stays = s.either(stays, s.emit(arith.XOrIOp, (inside, s.constant(1, i1))))
        counted = [
            times(s, s.index(loop), stride)
            for loop, stride in zip(loops.elements, strides, strict=True)
            if loop is not None
        ]
        own = s.emit(arith.IndexCastOp, (_sum(s, counted),), number_type)
        return s.select(stays, best, candidate), s.select(stays, number, own)

    placements = [d.placements for d in dimensions]
    places = projection(loops.rank, loops.places)
    none = constant(builder, -1, number_type)
    starts = (
        (filled_with_zeros(builder, TensorType(element_type, placements)), places),
        (fill(builder, none, TensorType(number_type, placements)), places),
    )
    return generic(builder, operands, starts, iterators(rank, loops.rank - rank), body)[1]


@dataclass(frozen=True)
class Overlap:
    """
    Which placements of a window overlap with an element, in one dimension.

    With positions counted from `shift` before the first, position `block * stride + rest` is met
    by the placements `block - skipped - t`, t below `most`, as element `rest + t * stride` of the
    window.
    """

    sliding: Sliding

    @property
    def skipped(self) -> int:
        """Blocks before the first placement."""
        return ceil_div(max(0, -self.sliding.low), self.sliding.stride)

    @property
    def shift(self) -> int:
        """The position of the first element."""
        return self.sliding.low + self.skipped * self.sliding.stride

    @property
    def blocks(self) -> int:
        """How many blocks hold all elements."""
        return ceil_div(self.shift + self.sliding.base, self.sliding.stride)

    @property
    def most(self) -> int:
        """How many placements may meet one element."""
        return ceil_div(self.sliding.elements, self.sliding.stride)

    @property
    def is_blocked(self) -> bool:
        """Whether loops run over blocks and what is in them; else they would be too large."""
        return self.sliding.stride <= self.sliding.base

    @property
    def result_sizes(self) -> list[int]:
        """The sizes of the loops over elements, which are those of the result before slicing."""
        if not self.is_blocked:
            return [self.sliding.base]
        return [self.blocks, *([self.sliding.stride] if self.sliding.stride > 1 else [])]

    @property
    def begin(self) -> int:
        """How far before its block the first placement is that may meet an element."""
        return self.skipped + self.most - 1

    @property
    def always_met(self) -> bool:
        """Whether the window has all these elements."""
        return self.most * self.sliding.stride == self.sliding.elements


@dataclass(frozen=True)
class OverlapLoops:
    """The loops over an array in blocks, and over the placements that meet an element."""

    overlaps: tuple[Overlap, ...]
    places: tuple[tuple[int, ...], ...]
    """The loops over elements: over blocks and, if they have several elements, inside of them."""
    turns: tuple[int | None, ...]
    """The loop over the placements, ascending; None where there is one at most."""
    rank: int

    @staticmethod
    def of(overlaps: Sequence[Overlap]) -> OverlapLoops:
        """The loops in the order of the dimensions; those over placements come last."""
        count = 0
        places: list[tuple[int, ...]] = []
        for overlap in overlaps:
            following = count + len(overlap.result_sizes)
            places.append(tuple(range(count, following)))
            count = following
        turns: list[int | None] = []
        for overlap in overlaps:
            turns.append(count if overlap.most > 1 else None)
            count += overlap.most > 1
        return OverlapLoops(tuple(overlaps), tuple(places), tuple(turns), count)

    @property
    def result_sizes(self) -> list[int]:
        """The sizes of the result before reshaping and slicing."""
        return [size for overlap in self.overlaps for size in overlap.result_sizes]

    @property
    def blocks(self) -> tuple[int, ...]:
        """The loops over blocks."""
        return tuple(loops[0] for loops in self.places)

    @property
    def turned(self) -> list[int]:
        """The loops over placements."""
        return [loop for loop in self.turns if loop is not None]

    @property
    def is_blocked(self) -> bool:
        """Whether all dimensions are divided into blocks."""
        return all(overlap.is_blocked for overlap in self.overlaps)

    def placements(
        self,
        builder: ConversionBuilder,
        value: SSAValue,
        background: Callable[[ScalarBuilder], SSAValue],
    ) -> tuple[SSAValue, AffineMapAttr]:
        """
        An operand that has, for each turn of each element, what `value` has for the placement.

        `background`: what it has where there is no such placement.
        """
        placed: list[StridedInsertion] = []
        sizes: list[int] = []
        indices: list[AffineExpr] = []
        for overlap, block, turn in zip(self.overlaps, self.blocks, self.turns, strict=True):
            sizes.append(overlap.blocks + overlap.most - 1)
            placed.append(
                StridedInsertion.of(overlap.sliding.placements, overlap.begin, 1, sizes[-1])
            )
            index: AffineExpr = AffineExpr.dimension(block)
            indices.append(index if turn is None else index + AffineExpr.dimension(turn))
        type_ = TensorType(array_type(value).element_type, sizes)
        around = partial(outside_of_bodies, builder, background)
        return place(builder, value, placed, type_, around), affine_map(self.rank, tuple(indices))

    def _block_and_rest(self, s: ScalarBuilder, dimension: int) -> tuple[SSAValue, SSAValue | None]:
        """Which block an element is in, and where in it; None for the only place."""
        overlap, (first, *rest) = self.overlaps[dimension], self.places[dimension]
        if overlap.is_blocked:
            return s.index(first), s.index(rest[0]) if rest else None
        position = s.emit(arith.AddiOp, (s.index(first), s.constant(overlap.shift, INDEX)))
        stride = s.constant(overlap.sliding.stride, INDEX)
        return s.emit(arith.DivUIOp, (position, stride)), s.emit(arith.RemUIOp, (position, stride))

    def place(self, s: ScalarBuilder, dimension: int) -> SSAValue:
        """The placement of this iteration, which may not exist."""
        overlap, turn = self.overlaps[dimension], self.turns[dimension]
        place = self._block_and_rest(s, dimension)[0]
        if overlap.begin:
            place = s.emit(arith.SubiOp, (place, s.constant(overlap.begin, INDEX)))
        return place if turn is None else s.emit(arith.AddiOp, (place, s.index(turn)))

    def element(self, s: ScalarBuilder, dimension: int) -> SSAValue:
        """The element of the window that meets this one, which may not exist."""
        overlap, turn = self.overlaps[dimension], self.turns[dimension]
        rest = self._block_and_rest(s, dimension)[1]
        element = s.constant(0, INDEX) if rest is None else rest
        if turn is None:
            return element
        left = s.emit(arith.SubiOp, (s.constant(overlap.most - 1, INDEX), s.index(turn)))
        return s.emit(arith.AddiOp, (element, times(s, left, overlap.sliding.stride)))


def _has_elements(s: ScalarBuilder, loops: OverlapLoops) -> list[SSAValue]:
    """Conditions that the window has the elements that would meet this one."""
    return [
        s.compare("ult", loops.element(s, dimension), overlap.sliding.elements)
        for dimension, overlap in enumerate(loops.overlaps)
        if not overlap.always_met
    ]


def _read_placement(
    s: ScalarBuilder, loops: OverlapLoops, values: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """Elements of tensors for the placement of this iteration, and conditions that it exists."""
    places = [loops.place(s, dimension) for dimension in range(len(loops.overlaps))]
    # Unsigned, negative numbers are large: one comparison checks both bounds.
    exist = [
        s.compare("ult", place, overlap.sliding.placements)
        for place, overlap in zip(places, loops.overlaps, strict=True)
    ]
    where = [
        s.select(exists, place, s.constant(0, INDEX))
        for exists, place in zip(exist, places, strict=True)
    ]
    read = [
        s.emit(tensor.ExtractOp, (value, *where), storage(elements_of(value))) for value in values
    ]
    return read, exist


def _element_number(s: ScalarBuilder, loops: OverlapLoops, like: SSAValue) -> SSAValue:
    """The number of the window's element that meets this one."""
    strides = _flat_strides([overlap.sliding.elements for overlap in loops.overlaps])
    counted = [
        times(s, loops.element(s, dimension), stride)
        for dimension, (overlap, stride) in enumerate(zip(loops.overlaps, strides, strict=True))
        if overlap.sliding.elements > 1
    ]
    return s.emit(arith.IndexCastOp, (_sum(s, counted),), like.type)


def _scattered(
    op: SelectAndScatterOp,
    builder: ConversionBuilder,
    overlaps: Sequence[Overlap],
    picked: SSAValue,
    init: SSAValue,
) -> SSAValue:
    """The result: per element the fold of the source's elements of placements that picked it."""
    loops, result = OverlapLoops.of(overlaps), array_type(op.result)
    turns = [overlap.most for overlap in overlaps if overlap.most > 1]
    operands: list[tuple[SSAValue, AffineMapAttr]] = []
    if loops.is_blocked:
        number_type, value_type = elements_of(picked), elements_of(op.source)
        operands = [
            loops.placements(builder, picked, lambda s: s.constant(-1, number_type)),
            loops.placements(builder, op.source, lambda s: zero(s, value_type)),
        ]
    operands += shape_operands(builder, turns, loops.turned, loops.rank)
    scatter = op.scatter.block

    def body(s: ScalarBuilder, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        conditions = _has_elements(s, loops)
        if loops.is_blocked:
            number, value = values[:2]
        else:
            (number, value), exist = _read_placement(s, loops, (picked, op.source))
            conditions += exist
        conditions.append(s.compare("eq", number, _element_number(s, loops, number)))
        (folded,) = inline_computation(s, scatter, (values[-1], value))
        return (s.select(reduce(s.both, conditions), folded, values[-1]),)

    sizes = loops.result_sizes
    start = fill(builder, init, TensorType(result.element_type, sizes))
    parallel = len(sizes)
    found = generic(
        builder,
        operands,
        ((start, projection(loops.rank, tuple(range(parallel)))),),
        iterators(parallel, loops.rank - parallel),
        body,
    )[0]
    whole = reshape(found, [prod(overlap.result_sizes) for overlap in overlaps], op)
    begins = [overlap.shift if overlap.is_blocked else 0 for overlap in overlaps]
    return extract_slice(builder, whole, begins, result.get_shape())
