"""Convolutions: contractions whose left operand is met by a sliding window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import AffineMapAttr, Float8E8M0FNUType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.conversion import ConversionBuilder
from lowerings.reshapes import reshape
from lowerings.xla_to_linalg.contraction import (
    Factors,
    converted,
    filled_with_zeros,
    sum_products,
    zero,
)
from lowerings.xla_to_linalg.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import affine_map, array_type, iterators, sizes_of
from lowerings.xla_to_linalg.windows import WindowElements, WindowLoops, sliding_dimensions
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.shapes import permuted
from xla_dialect.types import element_count

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Labelled:
    """The dimensions of an operand or result: labels as in `dim_labels`, `g` for the groups."""

    labels: str
    sizes: Ints

    def divided(self, label: str, groups: int) -> Labelled:
        """With a dimension as two: the groups, and what is in each."""
        if groups == 1:
            return self
        position = self.labels.index(label)
        size = self.sizes[position]
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
    """By label: `g`, `b`, `o`, and `i` for the input features."""
    window: WindowLoops

    @staticmethod
    def of(op: ConvolutionOp) -> ConvolutionLoops:
        """The loops of a convolution."""
        labels = op.dim_labels.data
        batches, features = op.batch_group_count.value.data, op.feature_group_count.value.data
        groups = batches * features
        base = permuted(sizes_of(op.lhs), labels.lhs_order())[2:]
        outer = "gbo" if groups > 1 else "bo"
        loops = {label: loop for loop, label in enumerate(outer)}
        window = WindowLoops.after(sliding_dimensions(op.window.data, base), len(outer))
        loops["i"] = window.rank
        return ConvolutionLoops(
            Labelled(labels.lhs, sizes_of(op.lhs)).divided("b" if batches > 1 else "f", groups),
            Labelled(labels.rhs, sizes_of(op.rhs)).divided("o", groups),
            Labelled(labels.result, sizes_of(op.result)).divided("f", groups),
            loops,
            window.with_more_loops(1),
        )

    def elements(self) -> WindowElements:
        """How the window meets the left operand."""
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
        loops = {**self.loops, "f": self.loops["o"]}
        return self._map(self.result.labels, self.window.places, loops)

    def _map(
        self, labels: str, spatial: Sequence[int | None], loops: dict[str, int]
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
    One generic of products and sums; the window's places are sums in the map of the base.

    The base is padded before. Groups are loops of their own, a reversed window is met backwards.
    A base whose padded copy would be out of proportion is read element by element instead.
    """
    result = array_type(op.result)
    factors = Factors.of(op.lhs, op.rhs, result.element_type)
    if not element_count(sizes_of(op.lhs)) or not element_count(sizes_of(op.rhs)):
        builder.replace([filled_with_zeros(builder, result)])
        return
    loops = ConvolutionLoops.of(op)
    elements = loops.elements()
    base = op.lhs
    if isinstance(factors.left, Float8E8M0FNUType):
        # There is no zero in this type to pad with.
        base = converted(builder, base, factors.left, factors.accumulator)
        factors = replace(factors, left=factors.accumulator)
    left_type = factors.left
    base = reshape(base, loops.lhs.sizes, op)
    operands = [(reshape(op.rhs, loops.rhs.sizes, op), loops.kernel_map())]
    if elements.has_image:
        operands.insert(0, elements.operand(builder, base, lambda s: zero(s, left_type)))

    def factors_of(s: ScalarBuilder, values: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
        if elements.has_image:
            return values[0], values[1]
        inside = elements.inside(s)
        element = elements.read(s, base, inside)
        if inside is not None:
            element = s.select(inside, element, zero(s, left_type))
        return element, values[0]

    parallel = len(loops.result.sizes)
    sums = sum_products(
        builder,
        factors,
        operands,
        (loops.result.sizes, loops.result_map()),
        iterators(parallel, loops.window.rank - parallel),
        factors_of,
    )
    rounded = converted(builder, sums, factors.accumulator, factors.result)
    builder.replace([reshape(rounded, result.get_shape(), op)])
