"""Contractions (docs/generated/ops.md#contraction)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computations
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.properties import all_normalized
from xla_dialect.builder.recorder import violated
from xla_dialect.builder.type_spelling import ElementTypeLike, as_element_type
from xla_dialect.builder.value import XlaValue
from xla_dialect.builder.window_arguments import Padding, make_window
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp, DotOp, RaggedDotOp, ScaledDotOp
from xla_dialect.rules.constraints import require_same_elements
from xla_dialect.shapes.convolution_labels import ConvolutionLabels
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.shapes.window import Window
from xla_dialect.types import spell
from xla_dialect.violations import Violation


@dataclass(frozen=True)
class DotDimensionNumbers:
    """Which dimensions of the operands of `dot_general` are summed over, and which go in pairs."""

    lhs_contracting_dimensions: Sequence[int] = ()
    rhs_contracting_dimensions: Sequence[int] = ()
    lhs_batch_dimensions: Sequence[int] = ()
    rhs_batch_dimensions: Sequence[int] = ()

    def properties(self, lhs: XlaValue, rhs: XlaValue) -> dict[str, Sizes]:
        """The properties of an operation on these operands."""
        return {
            "lhs_batch_dims": all_normalized(self.lhs_batch_dimensions, lhs.rank),
            "lhs_contracting_dims": all_normalized(self.lhs_contracting_dimensions, lhs.rank),
            "rhs_batch_dims": all_normalized(self.rhs_batch_dimensions, rhs.rank),
            "rhs_contracting_dims": all_normalized(self.rhs_contracting_dimensions, rhs.rank),
        }


class ContractionMethods(Computations):
    """
    Methods for products of matrices, their generalisations, and convolutions.

    `preferred_element_type` is that of the result, and of sums of integers; without it, it is that
    of the operands, which have the same one in any case.
    """

    @appends(DotOp)
    def dot(self, lhs: XlaValue, rhs: XlaValue) -> XlaValue:
        """
        The product of vectors and matrices, over the last dimension of `lhs`, the first of `rhs`.

        (C2) operands of other ranks there are not.

        Example: `b.dot(x, v)`.
        """
        for operand in (lhs, rhs):
            self._ssa(operand)
            if operand.rank not in (1, 2):
                raise build_error(
                    f"dot: (C2) {spell(operand.type)} is neither a vector nor a matrix; "
                    "dot_general takes any rank, mul scalars"
                )
        numbers = DotDimensionNumbers([lhs.rank - 1], [0])
        return self.dot_general(lhs, rhs, numbers)

    @appends(DotOp)
    def dot_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        Sums of products over the contracting dimensions, for each index of the batch dimensions.

        The result has the batch dimensions, those left of `lhs`, and those left of `rhs`.

        (C1) both operands have the same element type.
        Example: `b.dot_general(x, y, DotDimensionNumbers([1], [1]), "f64")`.
        """
        properties = dimension_numbers.properties(lhs, rhs)
        return self._contract(
            "dot_general", "C1", DotOp, lhs, rhs, preferred=preferred_element_type, **properties
        )

    @appends(RaggedDotOp)
    def ragged_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        group_sizes: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        lhs_ragged_dimensions: Sequence[int],
        rhs_group_dimensions: Sequence[int] = (),
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        A dot whose one ragged dimension of `lhs` is cut into groups, each with its part of `rhs`.

        (C1) both operands have the same element type.

        Example: `b.ragged_dot(x, b.broadcast(x, [3]), k, DotDimensionNumbers([1], [2]), [0], [0])`.
        """
        return self._contract(
            "ragged_dot",
            "C1",
            RaggedDotOp,
            lhs,
            rhs,
            group_sizes,
            preferred=preferred_element_type,
            lhs_ragged_dims=all_normalized(lhs_ragged_dimensions, lhs.rank),
            rhs_group_dims=all_normalized(rhs_group_dimensions, rhs.rank),
            **dimension_numbers.properties(lhs, rhs),
        )

    @appends(ScaledDotOp)
    def scaled_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        lhs_scale: XlaValue,
        rhs_scale: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        A dot of operands whose blocks are multiplied by scales first; a scalar scale is none.

        (C1) both operands have the same element type.

        Example: `b.scaled_dot(x, v, b.slice(x, [0, 0], [2, 2]), s, DotDimensionNumbers([1], [0]))`.
        """
        return self._contract(
            "scaled_dot",
            "C1",
            ScaledDotOp,
            lhs,
            rhs,
            lhs_scale,
            rhs_scale,
            preferred=preferred_element_type,
            **dimension_numbers.properties(lhs, rhs),
        )

    @appends(ConvolutionOp)
    def conv(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        The convolution of `lhs` [batch, feature, spatial..] with `rhs` [output, input, spatial..].

        `padding`: "SAME" (the sizes of the input, were the strides 1), "VALID" (none), or pairs.
        Example: `b.conv(b.reshape(x, [1, 4, 8]), b.reshape(x, [2, 4, 4]), [1], "SAME")`.
        """
        return self.conv_with_general_padding(
            lhs,
            rhs,
            window_strides,
            padding,
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
            preferred_element_type=preferred_element_type,
        )

    @appends(ConvolutionOp)
    def conv_with_general_padding(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        lhs_dilation: Sequence[int] = (),
        rhs_dilation: Sequence[int] = (),
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        As `conv`; `padding` has a pair (low, high) per spatial dimension, which may be negative.

        Dilation d puts d - 1 zeros between neighbouring elements of the input (`lhs_dilation`), or
        of the kernel (`rhs_dilation`). (C1) each list has an entry for each spatial dimension.

        Example: `b.conv_with_general_padding(b.broadcast(x, [1]), b.broadcast(y, [2]), [2],
        [(0, 7)])`.
        """
        spatial = max(lhs.rank - 2, 0)
        digits = "".join(map(str, range(spatial)))
        window = make_window(
            "conv_with_general_padding",
            "C1",
            lhs.shape[2:],
            rhs.shape[2:],
            window_strides,
            padding,
            lhs_dilation,
            rhs_dilation,
        )
        return self.conv_general(
            lhs,
            rhs,
            window,
            f"bf{digits}_oi{digits}->bf{digits}",
            feature_group_count,
            batch_group_count,
            preferred_element_type=preferred_element_type,
        )

    @appends(ConvolutionOp)
    def conv_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window: Window | str,
        dim_labels: ConvolutionLabels | str,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        The convolution with any order of dimensions; window and labels as HLO text has them.

        (C2) both operands have the same element type.

        Example: `b.conv_general(b.broadcast(x, [1]), b.broadcast(y, [5]), "size=4",
        "b0f_o0i->b0f")`.
        """
        return self._contract(
            "conv_general",
            "C2",
            ConvolutionOp,
            lhs,
            rhs,
            preferred=preferred_element_type,
            window=window,
            dim_labels=dim_labels,
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
        )

    def _contract(
        self,
        method: str,
        label: str,
        op_class: type[XlaOp],
        lhs: XlaValue,
        rhs: XlaValue,
        *others: XlaValue,
        preferred: ElementTypeLike | None = None,
        **properties: Any,
    ) -> XlaValue:
        """Appends a contraction; `label`: of the rule that operands have one element type."""
        try:
            require_same_elements(lhs.array_type, rhs.array_type, "lhs and rhs", label)
        except Violation as violation:
            raise violated(method, violation) from None
        element_type = None if preferred is None else as_element_type(preferred)
        return self._append(op_class, lhs, rhs, *others, element_type=element_type, **properties)
