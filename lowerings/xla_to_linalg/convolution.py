"""Convolutions: contractions with a sliding window over the left operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

from xdsl.dialects.builtin import AffineMapAttr, Float8E8M0FNUType, TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.reshapes import reshape
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.contraction import (
    Factors,
    converted,
    filled_with_zeros,
    sum_products,
    zero,
)
from lowerings.xla_to_linalg.data_movement import StridedInsertion, place
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    empty,
    extract_slice,
    insert_slice,
    iterators,
    outside_of_bodies,
)
from lowerings.xla_to_linalg.windows import (
    Phase,
    Sliding,
    WindowElements,
    WindowLoops,
    is_proportionate,
    sliding_dimensions,
)
from xla_dialect.op import Ints
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.shapes.size_arithmetic import ceil_div, permuted
from xla_dialect.types import element_count
from xla_dialect.xdsl.traversal import tensor_shape


@dataclass(frozen=True)
class Labelled:
    """The dimensions of an operand or result: labels as in `dim_labels`, `g` for the groups."""

    labels: str
    sizes: Ints

    def divided(self, label: str, groups: int) -> Labelled:
        """With a dimension split into the groups and the part in each group, if that is several."""
        if groups == 1:
            return self
        position = self.labels.index(label)
        size = self.sizes[position]
        if size == groups:
            return replace(self, labels=self.labels.replace(label, "g"))
        sizes = (*self.sizes[:position], groups, size // groups, *self.sizes[position + 1 :])
        return Labelled(self.labels.replace(label, "g" + label), sizes)


@dataclass(frozen=True)
class ConvolutionLoops:
    """
    The loops of a convolution: groups if there are several, batch, output features, placements;
    then what is summed up: the elements of the kernel, and the input features.
    """

    lhs: Labelled
    rhs: Labelled
    result: Labelled
    loops: dict[str, int]
    """By label: `g`, `b`, `o` unless groups have one each, and `i` for the input features."""
    window: WindowLoops

    @staticmethod
    def of(
        op: ConvolutionOp, lhs: Ints, rhs: Ints, dimensions: Sequence[Sliding]
    ) -> ConvolutionLoops:
        """The loops of a convolution of operands of these sizes, otherwise like `op`."""
        labels = op.dim_labels.data
        batches, features = op.batch_group_count.value.data, op.feature_group_count.value.data
        groups = batches * features
        right = Labelled(labels.rhs, rhs).divided("o", groups)
        outer = [label for label in "gbo" if label == "b" or label in right.labels]
        loops = {label: loop for loop, label in enumerate(outer)}
        window = WindowLoops.after(dimensions, len(outer))
        loops["i"] = window.rank
        sizes = {
            "b": lhs[labels.lhs.index("b")] // batches,
            "f": rhs[labels.rhs.index("o")],
            **{str(d): sliding.placements for d, sliding in enumerate(dimensions)},
        }
        result = tuple(sizes[label] for label in labels.result)
        return ConvolutionLoops(
            Labelled(labels.lhs, lhs).divided("b" if batches > 1 else "f", groups),
            right,
            Labelled(labels.result, result).divided("f", groups),
            loops,
            window.with_more_loops(1),
        )

    def elements(self) -> WindowElements:
        """How the body reads the left operand."""
        loops = {**self.loops, "f": self.loops["i"]}
        slides = sorted(
            (d for d, label in enumerate(self.lhs.labels) if label.isdigit()),
            key=lambda d: self.lhs.labels[d],
        )
        others = {d: loops[label] for d, label in enumerate(self.lhs.labels) if label in loops}
        return WindowElements.plan(self.window, slides, others, self.lhs.sizes, neutral=True)

    def kernel_map(self) -> AffineMapAttr:
        """From the loops to the right operand."""
        return self._map(self.rhs.labels, self.window.elements, self.loops)

    def result_map(self) -> AffineMapAttr:
        """From the loops to the result."""
        loops = {**self.loops, "f": self.loops.get("o")}
        return self._map(self.result.labels, self.window.places, loops)

    def _map(
        self, labels: str, spatial: Sequence[int | None], loops: Mapping[str, int | None]
    ) -> AffineMapAttr:
        expressions: list[AffineExpr] = []
        for label in labels:
            loop = spatial[int(label)] if label.isdigit() else loops[label]
            expressions.append(
                AffineExpr.constant(0) if loop is None else AffineExpr.dimension(loop)
            )
        return affine_map(self.window.rank, tuple(expressions))


def convert_convolution(op: ConvolutionOp, builder: ConversionBuilder) -> None:
    """
    One generic of products and sums, whose map of the base is `placement * stride + element`.

    The base is padded with zeros before, which are multiplied like others: with NaN and infinity in
    the kernel they give NaN, unlike on the reference. Groups are loops of their own, and a reversed
    window has a negative coefficient. A dilated base is split into phases. A base whose padded copy
    would be too large is read element by element, with a check of bounds.
    """
    result = array_type(op.result)
    factors = Factors.of(op)
    if not element_count(tensor_shape(op.lhs)) or not element_count(tensor_shape(op.rhs)):
        builder.replace([filled_with_zeros(builder, result)])
        return
    base = op.lhs
    if isinstance(factors.left, Float8E8M0FNUType):
        # f8e8m0fnu has no zero for the padding.
        base = converted(builder, base, factors.left, factors.accumulator)
        factors = replace(factors, left=factors.accumulator)
    order = op.dim_labels.data.lhs_order()
    dimensions = sliding_dimensions(op.window.data, permuted(tensor_shape(base), order)[2:])
    convolution = Convolution(op, builder, factors)
    sums = convolution.in_phases(base, dimensions)
    if sums is None:
        sums = convolution.sums(base, op.rhs, dimensions)
    builder.replace([converted(builder, sums, factors.accumulator, factors.result)])


MOST_PHASES = 16
"""Up to so many phases of a dilated base become convolutions of their own."""


@dataclass(frozen=True)
class Convolution:
    """A convolution that is being converted."""

    op: ConvolutionOp
    builder: ConversionBuilder
    factors: Factors

    def sums(self, base: SSAValue, kernel: SSAValue, dimensions: Sequence[Sliding]) -> SSAValue:
        """The sums of products where a kernel slides over a base."""
        op = self.op
        loops = ConvolutionLoops.of(op, tensor_shape(base), tensor_shape(kernel), dimensions)
        elements = loops.elements()
        left = reshape(base, loops.lhs.sizes, op)
        operands = [(reshape(kernel, loops.rhs.sizes, op), loops.kernel_map())]
        if elements.has_image:
            image = elements.operand(self.builder, left, self._zero)
            operands.insert(0, image)

        def factors_of(s: ScalarBuilder, values: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
            if elements.has_image:
                return values[0], values[1]
            inside = elements.inside(s)
            element = elements.read(s, left, inside)
            if inside is not None:
                element = s.select(inside, element, self._zero(s))
            return element, values[0]

        parallel = len(loops.result.sizes)
        sums = sum_products(
            self.builder,
            self.factors,
            operands,
            (loops.result.sizes, loops.result_map()),
            iterators(parallel, loops.window.rank - parallel),
            factors_of,
        )
        labels = op.dim_labels.data
        sizes = dict(zip(loops.result.labels, loops.result.sizes, strict=True))
        sizes["f"] = sizes.get("f", 1) * sizes.get("g", 1)
        return reshape(sums, [sizes[label] for label in labels.result], op)

    def in_phases(self, base: SSAValue, dimensions: Sequence[Sliding]) -> SSAValue | None:
        """
        The sums over a dilated base, without those of its holes.

        None if there are no holes, or if phases would be too many or their base too large.
        """
        if not 1 < prod(sliding.phase_step for sliding in dimensions) <= MOST_PHASES:
            return None
        labels, builder = self.op.dim_labels.data, self.builder
        phases = [sliding.phases() for sliding in dimensions]
        margins = [Margin.of(sliding, own) for sliding, own in zip(dimensions, phases, strict=True)]
        sizes = list(tensor_shape(base))
        placed = [StridedInsertion.of(size, 0, 1, size) for size in sizes]
        for d, margin in zip(labels.lhs_order()[2:], margins, strict=True):
            placed[d] = StridedInsertion.of(sizes[d], margin.low, 1, margin.size)
            sizes[d] = margin.size
        if not is_proportionate(sizes, tensor_shape(base), dimensions):
            return None
        padded = TensorType(self.factors.left, sizes)
        base = place(builder, base, placed, padded, partial(outside_of_bodies, builder, self._zero))
        sums = empty(
            builder, TensorType(self.factors.accumulator, array_type(self.op.result).shape)
        )
        for combination in product(*phases):
            part = self._phase(base, dimensions, margins, combination)
            offsets, steps = [0] * len(labels.result), [1] * len(labels.result)
            for d, phase in zip(labels.result_order()[2:], combination, strict=True):
                offsets[d] = phase.first
                steps[d] = phase.step if tensor_shape(part)[d] > 1 else 1
            sums = insert_slice(builder, part, sums, offsets, steps)
        return sums

    def _zero(self, s: ScalarBuilder) -> SSAValue:
        """The padding value of the base."""
        return zero(s, self.factors.left)

    def _phase(
        self,
        base: SSAValue,
        dimensions: Sequence[Sliding],
        margins: Sequence[Margin],
        phases: Sequence[Phase],
    ) -> SSAValue:
        """The sums of one phase in each dimension."""
        builder, labels = self.builder, self.op.dim_labels.data
        slidings = [
            margin.within(phase.sliding)
            for margin, phase in zip(margins, phases, strict=True)
            if phase.sliding is not None
        ]
        if len(slidings) < len(phases):
            sizes = list(array_type(self.op.result).get_shape())
            for d, phase in zip(labels.result_order()[2:], phases, strict=True):
                sizes[d] = ceil_div(sizes[d] - phase.first, phase.step)
            return filled_with_zeros(builder, TensorType(self.factors.accumulator, sizes))
        sizes = list(tensor_shape(self.op.rhs))
        offsets, steps = [0] * len(sizes), [1] * len(sizes)
        for d, whole, phase, own in zip(
            labels.rhs_order()[2:], dimensions, phases, slidings, strict=True
        ):
            sizes[d], steps[d] = own.elements, phase.element_step if own.elements > 1 else 1
            offsets[d] = phase.element
            if whole.reversal:
                last = phase.element + (own.elements - 1) * steps[d]
                offsets[d] = whole.elements - 1 - last
        kernel = extract_slice(builder, self.op.rhs, offsets, sizes, steps)
        return self.sums(base, kernel, slidings)


@dataclass(frozen=True)
class Margin:
    """The padding that all phases of a dimension share."""

    low: int
    size: int
    """The size of the padded base."""

    @staticmethod
    def of(sliding: Sliding, phases: Sequence[Phase]) -> Margin:
        """The largest padding that a phase needs before and after the base."""
        own = [phase.sliding for phase in phases if phase.sliding is not None]
        low = max((0, *(phase.low for phase in own)))
        reach = max((phase.reach - phase.low for phase in own), default=0)
        return Margin(low, low + max(sliding.base, reach))

    def within(self, sliding: Sliding) -> Sliding:
        """How a phase slides over the padded base."""
        return replace(sliding, base=self.size, low=sliding.low - self.low)
