"""Sliding windows: the element of the base that each element of a placement covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AffineMapAttr, TensorType, i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.data_movement import StridedInsertion, place
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    empty,
    outside_of_bodies,
    projection,
)
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import element_count
from xla_dialect.xdsl.traversal import tensor_shape

Neutral = Callable[[ScalarBuilder], SSAValue]
"""Makes the scalar that stands for padding and holes."""

IMAGE_GROWTH = 8
"""A padded copy of the base has up to this many times the elements of base and placements."""
SMALL_IMAGE = 1 << 12
"""Padded copies up to this many elements are always made."""


@dataclass(frozen=True)
class Sliding:
    """
    One dimension of a window that slides over one dimension of the base.

    Element k of the window at placement p meets position `p * stride + k * dilation` of the base
    after its dilation and padding; with `reversal`, k counts from the window's other end.
    """

    base: int
    """The elements of the base."""
    placements: int
    elements: int
    """The elements of the window."""
    stride: int
    low: int
    """The padding before the first element of the base; below 0, elements are cut off."""
    holes: int
    """How far apart the elements of the base are."""
    dilation: int
    """How far apart the elements of the window are."""
    reversal: bool

    @staticmethod
    def of(dimension: WindowDimension, base: int) -> Sliding:
        """A dimension of a window over a base of this size."""
        return Sliding(
            base,
            dimension.placements(base),
            dimension.size,
            dimension.stride,
            dimension.padding_low,
            dimension.base_dilation,
            dimension.window_dilation,
            dimension.reversal,
        )

    @property
    def dilated_base(self) -> int:
        """The size of the base with its holes."""
        return (self.base - 1) * self.holes + 1

    @property
    def reach(self) -> int:
        """The extent of all placements together in the padded base."""
        return (self.placements - 1) * self.stride + (self.elements - 1) * self.dilation + 1

    @property
    def is_idle(self) -> bool:
        """Whether the window is trivial: placement i covers element i of the base, and no other."""
        return (
            self.elements == 1
            and self.is_inside
            and (self.stride, self.low) == (1, 0)
            and self.placements == self.base
        )

    @property
    def is_inside(self) -> bool:
        """Whether no placement covers padding or a hole."""
        meets_holes = self.holes > 1 and self.base > 1 and not self._steps_over_holes
        return self.low <= 0 and self.reach <= self.low + self.dilated_base and not meets_holes

    @property
    def _steps_over_holes(self) -> bool:
        steps = (
            self.low,
            self.stride if self.placements > 1 else 0,
            self.dilation if self.elements > 1 else 0,
        )
        return all(step % self.holes == 0 for step in steps)

    @property
    def phase_step(self) -> int:
        """The distance of placements for which the same elements of the window fall on holes."""
        return self.holes // gcd(self.stride, self.holes)

    def phases(self) -> list[Phase]:
        """
        The placements grouped by which elements of the window fall on holes of the dilated base.

        A phase leaves out those elements, so it is a convolution without dilation of the base.
        """
        step = self.phase_step
        element_step = self.holes // gcd(self.dilation, self.holes)
        found: list[Phase] = []
        for first in range(min(step, self.placements)):
            starts = (
                (k, first * self.stride + k * self.dilation - self.low)
                for k in range(min(element_step, self.elements))
            )
            met = next(((k, at) for k, at in starts if at % self.holes == 0), None)
            if met is None:
                found.append(Phase(first, step, 0, element_step, None))
                continue
            element, start = met
            sliding = replace(
                self,
                placements=ceil_div(self.placements - first, step),
                elements=ceil_div(self.elements - element, element_step),
                stride=self.stride * step // self.holes,
                low=-(start // self.holes),
                holes=1,
                dilation=self.dilation * element_step // self.holes,
            )
            found.append(Phase(first, step, element, element_step, sliding))
        return found

    def restricted(self) -> Sliding | None:
        """
        Without the elements at the ends of the window that only cover padding.

        Windows may be much larger than the base. None if nothing is left. Not for reversed ones.
        """
        last_start = (self.placements - 1) * self.stride
        begin = max(0, ceil_div(self.low - last_start, self.dilation))
        end = min(self.elements, (self.dilated_base - 1 + self.low) // self.dilation + 1)
        if begin >= end:
            return None
        return replace(self, elements=end - begin, low=self.low - begin * self.dilation)


@dataclass(frozen=True)
class Phase:
    """Placements `first + p * step`, with elements `element + k * element_step` of the window."""

    first: int
    step: int
    element: int
    element_step: int
    sliding: Sliding | None
    """How those elements slide at those placements; None if there are no such elements."""


@dataclass(frozen=True)
class WindowLoops:
    """A window's dimensions with the loops of a generic that count placements and elements."""

    dimensions: tuple[Sliding, ...]
    places: tuple[int, ...]
    """The loop over the placements, by dimension."""
    elements: tuple[int | None, ...]
    """The loop over the window's elements; None where there is only one."""
    rank: int
    """The number of all loops."""

    @staticmethod
    def after(dimensions: Sequence[Sliding], first: int = 0) -> WindowLoops:
        """Loops from `first` on: one a dimension for the placements, then those of the elements."""
        count = first + len(dimensions)
        places = tuple(range(first, count))
        elements: list[int | None] = []
        for dimension in dimensions:
            elements.append(count if dimension.elements > 1 else None)
            count += dimension.elements > 1
        return WindowLoops(tuple(dimensions), places, tuple(elements), count)

    def with_more_loops(self, count: int) -> WindowLoops:
        """With further loops of the generic, after these."""
        return replace(self, rank=self.rank + count)

    @property
    def counted(self) -> list[int]:
        """The loops over the window's elements."""
        return [loop for loop in self.elements if loop is not None]

    def position(self, dimension: int) -> AffineExpr:
        """The position in the padded base, as a function of the loops."""
        sliding, element = self.dimensions[dimension], self.elements[dimension]
        position: AffineExpr = _scaled(self.places[dimension], sliding.stride)
        if element is None:
            return position
        if not sliding.reversal:
            return position + _scaled(element, sliding.dilation)
        last = (sliding.elements - 1) * sliding.dilation
        return position + _scaled(element, -sliding.dilation) + last

    def index(self, s: ScalarBuilder, dimension: int) -> SSAValue:
        """The position in the padded base as a scalar, in a body."""
        sliding, element = self.dimensions[dimension], self.elements[dimension]
        position = times(s, s.index(self.places[dimension]), sliding.stride)
        if element is None:
            return position
        k = s.index(element)
        if sliding.reversal:
            last = s.constant(sliding.elements - 1, INDEX)
            k = s.emit(arith.SubiOp, (last, k))
        return s.emit(arith.AddiOp, (position, times(s, k, sliding.dilation)))

    def shape_operands(self, builder: ConversionBuilder) -> list[tuple[SSAValue, AffineMapAttr]]:
        """The `shape_operands` of the window's elements."""
        sizes = [d.elements for d in self.dimensions if d.elements > 1]
        return shape_operands(builder, sizes, self.counted, self.rank)


def shape_operands(
    builder: ConversionBuilder, sizes: Sequence[int], loops: Sequence[int], rank: int
) -> list[tuple[SSAValue, AffineMapAttr]]:
    """
    A tensor that nothing reads, with its map: an operand whose shape gives some loop bounds.

    As in the pooling operations of linalg. None if there are no such loops. Its elements are of
    the smallest type, as memory is allocated for it.
    """
    if not loops:
        return []
    return [(empty(builder, TensorType(i1, sizes)), projection(rank, tuple(loops)))]


def _scaled(loop: int, factor: int) -> AffineExpr:
    expression = AffineExpr.dimension(loop)
    return expression if factor == 1 else expression * factor


def times(s: ScalarBuilder, index: SSAValue, factor: int) -> SSAValue:
    """An index times a constant."""
    return index if factor == 1 else s.emit(arith.MuliOp, (index, s.constant(factor, INDEX)))


def sliding_dimensions(window: Window, sizes: Sequence[int]) -> list[Sliding]:
    """The dimensions of a window over a base of these sizes."""
    return [Sliding.of(d, size) for d, size in zip(window.dimensions, sizes, strict=True)]


def is_proportionate(
    image: Sequence[int], base: Sequence[int], dimensions: Sequence[Sliding]
) -> bool:
    """Whether a padded base of sizes `image` may be made for a window of these dimensions."""
    placements = element_count([sliding.placements for sliding in dimensions])
    limit = max(SMALL_IMAGE, IMAGE_GROWTH * (element_count(base) + placements))
    return element_count(image) <= limit


@dataclass(frozen=True)
class WindowElements:
    """How a generic reads the elements of a base that a window covers."""

    loops: WindowLoops
    slides: tuple[int, ...]
    """The dimension of the base that each dimension of the window slides over."""
    others: dict[int, int]
    """The loop over each other dimension of the base."""
    has_image: bool
    """Whether the base is an operand, padded; else the body reads the elements one by one."""
    is_checked: bool
    """Whether the body checks for padding."""

    @staticmethod
    def plan(
        loops: WindowLoops,
        slides: Sequence[int],
        others: dict[int, int],
        base: Sequence[int],
        *,
        neutral: bool,
    ) -> WindowElements:
        """`neutral`: whether some element can stand for padding, so that nothing is checked."""
        sizes = list(base)
        for dimension, sliding in zip(slides, loops.dimensions, strict=True):
            sizes[dimension] = _image_size(sliding)
        fits = is_proportionate(sizes, base, loops.dimensions)
        is_inside = all(sliding.is_inside for sliding in loops.dimensions)
        checked = not is_inside and not (fits and neutral)
        return WindowElements(loops, tuple(slides), others, fits, checked)

    def operand(
        self, builder: ConversionBuilder, value: SSAValue, padding: Neutral
    ) -> tuple[SSAValue, AffineMapAttr]:
        """The padded base as operand of the generic."""
        assert self.has_image
        return image_of(builder, value, self.slides, self.loops.dimensions, padding), self.map

    @property
    def map(self) -> AffineMapAttr:
        """The map into the padded base."""
        expressions = {d: AffineExpr.dimension(loop) for d, loop in self.others.items()}
        for number, dimension in enumerate(self.slides):
            expressions[dimension] = self.loops.position(number)
        return affine_map(self.loops.rank, tuple(expressions[d] for d in sorted(expressions)))

    def inside(self, s: ScalarBuilder) -> SSAValue | None:
        """In the body, whether this is an element of the base; None if it always is."""
        if not self.is_checked:
            return None
        conditions: list[SSAValue] = []
        for number, sliding in enumerate(self.loops.dimensions):
            if sliding.is_inside:
                continue
            position = self._in_base(s, number)
            # Unsigned, negative positions are large: one comparison checks both bounds.
            conditions.append(s.compare("ult", position, s.constant(sliding.dilated_base, INDEX)))
            if sliding.holes > 1:
                rest = s.emit(arith.RemUIOp, (position, s.constant(sliding.holes, INDEX)))
                conditions.append(s.compare("eq", rest, s.constant(0, INDEX)))
        result = conditions[0]
        for condition in conditions[1:]:
            result = s.both(result, condition)
        return result

    def _in_base(self, s: ScalarBuilder, number: int) -> SSAValue:
        """The position in the dilated base without its padding."""
        sliding, position = self.loops.dimensions[number], self.loops.index(s, number)
        if not sliding.low:
            return position
        return s.emit(arith.SubiOp, (position, s.constant(sliding.low, INDEX)))

    def read(self, s: ScalarBuilder, value: SSAValue, inside: SSAValue | None) -> SSAValue:
        """In the body, the element of the base; any element where `inside` is false."""
        where: list[SSAValue] = []
        for dimension in range(len(tensor_shape(value))):
            if dimension in self.others:
                where.append(s.index(self.others[dimension]))
                continue
            number = self.slides.index(dimension)
            sliding, position = self.loops.dimensions[number], self._in_base(s, number)
            if sliding.holes > 1:
                position = s.emit(arith.DivUIOp, (position, s.constant(sliding.holes, INDEX)))
            if inside is not None and not sliding.is_inside:
                position = s.select(inside, position, s.constant(0, INDEX))
            where.append(position)
        element_type = storage(array_type(value).element_type)
        return s.emit(tensor.ExtractOp, (value, *where), element_type)


def _image_size(sliding: Sliding) -> int:
    """The size of the padded base, which is the base itself where no padding is needed."""
    # linalg infers the bound of a loop from a dimension that the loop alone indexes.
    leaves_rest = sliding.stride > 1 or sliding.elements > 1
    fits = sliding.reach <= sliding.base if leaves_rest else sliding.reach == sliding.base
    return sliding.base if fits and (sliding.low, sliding.holes) == (0, 1) else sliding.reach


def image_of(
    builder: ConversionBuilder,
    value: SSAValue,
    slides: Sequence[int],
    dimensions: Sequence[Sliding],
    padding: Neutral,
) -> SSAValue:
    """
    The part of the dilated and padded base that the window can cover.

    `slides`: the dimension of `value` that each dimension of the window slides over.
    """
    sizes = list(tensor_shape(value))
    placed = [StridedInsertion.of(size, 0, 1, size) for size in sizes]
    for dimension, sliding in zip(slides, dimensions, strict=True):
        sizes[dimension] = _image_size(sliding)
        placed[dimension] = StridedInsertion.of(
            sliding.base, sliding.low, sliding.holes, sizes[dimension]
        )
    result = TensorType(array_type(value).element_type, sizes)
    return place(builder, value, placed, result, lambda: outside_of_bodies(builder, padding))
