"""
Products of bytes as they are stored: what their zero points add is taken off the sums.

    Σ (l - zl) (r - zr) = Σ l r - zl Σ r - zr Σ l + n zl zr

Processors multiply bytes four at a time, and wider integers one by one. What wraps around in one of
the sums wraps back in their difference, which fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import SSAValue

from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.data_movement import BroadcastOp, PadOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.quantized_types import Quantization
from xla_dialect.shapes.size_arithmetic import padded
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension
from xla_dialect.stablehlo.conversion import Conversion, dimension_list
from xla_dialect.stablehlo.legalize.contraction import emit_sum, sum_of_two
from xla_dialect.stablehlo.op import HloOperation
from xla_dialect.stablehlo.quantization.rules import integers_of_entry
from xla_dialect.stablehlo.quantization.values import along, constant
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import Array, array, extents, sizes_of


def are_bytes(lhs: Quantization, rhs: Quantization) -> bool:
    """Whether both are of 8 bits, and one has a zero point."""
    return lhs.storage == rhs.storage == IntegerType(8, lhs.storage.signedness) and any(
        (*lhs.zero_points, *rhs.zero_points)
    )


def is_summed_alone(op: HloOperation, rhs: Quantization) -> bool:
    """Whether windows of a convolution need not be summed group by group."""
    counts = [integers_of_entry(op, f"{each}_group_count") for each in ("feature", "batch")]
    return counts == [1, 1] or not any(rhs.zero_points)


def dot_of_shifted(
    conversion: Conversion,
    total: SSAValue,
    rhs: SSAValue,
    lhs_quantization: Quantization,
    places: Mapping[int, int],
) -> Term:
    """
    The dot of shifted integers from that of the stored ones; rhs has no zero points.

    `places` are the dimensions of the result for those of rhs that are not contracted.
    """
    term = Terms(conversion, cast(Array, total.type)).of(total)
    return term - _sums(term, rhs, places) * lhs_quantization.zero_points[0]


def convolution_of_shifted(
    conversion: Conversion,
    total: SSAValue,
    lhs_quantization: Quantization,
    rhs_quantization: Quantization,
) -> Term:
    """The convolution of shifted integers from that of the stored ones."""
    op = total.owner
    assert isinstance(op, ConvolutionOp)
    labels = op.dim_labels.data
    (zero_point,) = lhs_quantization.zero_points
    if zero_point:
        op = _padded(conversion, op, zero_point)
        total = op.result
    term = Terms(conversion, cast(Array, total.type)).of(total)
    feature, kernel_feature = labels.result_order()[1], labels.rhs_order()[0]
    if zero_point:
        term = term - _sums(term, op.rhs, {kernel_feature: feature}) * zero_point
    if any(rhs_quantization.zero_points):
        kernel = extents(cast(Array, op.rhs.type))
        count = prod(size for d, size in enumerate(kernel) if d != kernel_feature)
        sums = _window_sums(term, op) - zero_point * count
        term = term - sums * along(sums, rhs_quantization.zero_points, i32, feature)
    return term


def _sums(term: Term, value: SSAValue, places: Mapping[int, int]) -> Term:
    """The sums of a value over all dimensions without a place in the term, spread over it."""
    wide = Terms(term.terms.conversion, cast(Array, value.type)).of(value).converted(i32)
    rank = len(extents(wide.type))
    total = emit_sum(term.terms.conversion, wide.value, [d for d in range(rank) if d not in places])
    return _spread(term, total, [places[d] for d in sorted(places)])


def _spread(term: Term, value: SSAValue, places: Sequence[int]) -> Term:
    properties = {"dimensions": dimension_list(places)}
    return term.terms.of(
        term.terms.conversion.emit(BroadcastOp, [value], [term.type], properties)[0]
    )


def _window_sums(term: Term, op: ConvolutionOp) -> Term:
    """The sums of the base in each place of the window, spread over the features of a result."""
    conversion, labels = term.terms.conversion, op.dim_labels.data
    batch, feature, *spatial = labels.lhs_order()
    wide = Terms(conversion, cast(Array, op.lhs.type)).of(op.lhs).converted(i32)
    total = emit_sum(conversion, wide.value, [feature])
    result_sizes = sizes_of(term.type)
    windows = {batch: WindowDimension(1)}
    places = {batch: labels.result_order()[0]}
    for d, w, place in zip(
        spatial, op.window.data.dimensions, labels.result_order()[2:], strict=True
    ):
        windows[d], places[d] = replace(w, reversal=False), place
    kept = sorted(windows)
    (sums,) = conversion.emit(
        ReduceWindowOp,
        [total, constant(conversion, [0], i32, ())],
        [array(i32, [result_sizes[places[d]] for d in kept])],
        {"window": WindowAttr(Window(tuple(windows[d] for d in kept)))},
        [sum_of_two(i32)],
    )
    return _spread(term, sums, [places[d] for d in kept])


def _padded(conversion: Conversion, op: ConvolutionOp, zero_point: int) -> ConvolutionOp:
    """The convolution with the padding, and the holes, of its base in an array: zero points."""
    order = op.dim_labels.data.lhs_order()
    window = op.window.data
    moved = {d: w for d, w in zip(order[2:], window.dimensions, strict=True) if _is_padded(w)}
    if not moved:
        return op
    type_ = cast(Array, op.lhs.type)
    low, high, interior = (
        [getattr(moved[d], name) - least if d in moved else 0 for d in range(len(order))]
        for name, least in (("padding_low", 0), ("padding_high", 0), ("base_dilation", 1))
    )
    value = constant(conversion, [zero_point], type_.element_type, ())
    lists = {
        "edge_padding_low": dimension_list(low),
        "edge_padding_high": dimension_list(high),
        "interior_padding": dimension_list(interior),
    }
    sizes = padded(sizes_of(type_), low, high, interior)
    base_type = array(type_.element_type, sizes)
    (base,) = conversion.emit(PadOp, [op.lhs, value], [base_type], lists)
    plain = [replace(w, padding_low=0, padding_high=0, base_dilation=1) for w in window.dimensions]
    properties = {**op.properties, "window": WindowAttr(Window(tuple(plain)))}
    (total,) = conversion.emit(ConvolutionOp, [base, op.rhs], [op.result.type], properties)
    op.detach()
    op.erase()
    return cast(ConvolutionOp, total.owner)


def _is_padded(dimension: WindowDimension) -> bool:
    return (dimension.padding_low, dimension.padding_high, dimension.base_dilation) != (0, 0, 1)
