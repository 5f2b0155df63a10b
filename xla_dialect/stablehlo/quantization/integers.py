"""Quantized operations as arithmetic of the stored integers.

Products and sums are computed exactly, in integers that are wide enough; what is left of the scales
is one factor, which is 1 where they agree. So a result is the nearest stored integer of the exact
one, but for where that is as good as half way between two. Functions that have no such form (the
exponential) are computed as their meaning says.

Bytes are multiplied as they are stored, and what their zero points add is taken off the sums:

Σ (l - zl) (r - zr) = Σ l r - zl Σ r - zr Σ l + n zl zr

Processors multiply bytes four at a time, and wider integers one by one. What wraps around in one of
the sums wraps back in their difference, which fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, i32, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.op import decode
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.data_movement import PadOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import ReduceWindowOp
from xla_dialect.quantized_types import (
    Quantization,
    quantization_of,
    with_element_type,
)
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.legalize.contraction import emit_sum
from xla_dialect.stablehlo.op import StableHloOp, applied_to_two
from xla_dialect.stablehlo.quantization.expressed import (
    along,
    convert_as,
    expressed_arithmetic,
    paired,
    rescaled,
    shifted,
    span,
    stored,
)
from xla_dialect.stablehlo.quantization.rules import (
    convolution_labels,
    dot_lists,
)
from xla_dialect.stablehlo.terms import Term, Terms, term_of
from xla_dialect.types import Array, array, extents, sizes_of


def are_bytes(lhs: Quantization, rhs: Quantization) -> bool:
    """Whether both are of 8 bits, and one has a zero point."""
    return lhs.storage == rhs.storage == IntegerType(8, lhs.storage.signedness) and any(
        (*lhs.zero_points, *rhs.zero_points)
    )


def is_summed_alone(op: StableHloOp, rhs: Quantization) -> bool:
    """Whether windows of a convolution need not be summed group by group."""
    counts = [decode(op.properties[f"{each}_group_count"]) for each in ("feature", "batch")]
    return counts == [1, 1] or not any(rhs.zero_points)


def dot_of_shifted(
    term: Term,
    rhs: SSAValue,
    lhs_quantization: Quantization,
    places: Mapping[int, int],
) -> Term:
    """
    The dot of shifted integers from that of the stored ones; rhs has no zero points.

    `places` are the dimensions of the result for those of rhs that are not contracted.
    """
    return term - _sums(term, rhs, places) * lhs_quantization.zero_points[0]


def convolution_of_shifted(
    term: Term, lhs_quantization: Quantization, rhs_quantization: Quantization
) -> Term:
    """The convolution of shifted integers from that of the stored ones."""
    conversion, op = term.terms.conversion, term.value.owner
    assert isinstance(op, ConvolutionOp)
    labels = op.dim_labels.data
    (zero_point,) = lhs_quantization.zero_points
    if zero_point:
        op = _padded(conversion, op, zero_point)
        term = term_of(conversion, op.result)
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
    wide = term_of(term.terms.conversion, value).converted(i32)
    rank = len(extents(wide.type))
    total = emit_sum(term.terms.conversion, wide.value, [d for d in range(rank) if d not in places])
    places_of = [places[d] for d in sorted(places)]
    return term.terms.of(term.terms.conversion.broadcast(total, term.type, places_of))


def _window_sums(term: Term, op: ConvolutionOp) -> Term:
    """The sums of the base in each place of the window, spread over the features of a result."""
    conversion, labels = term.terms.conversion, op.dim_labels.data
    batch, feature, *spatial = labels.lhs_order()
    wide = term_of(conversion, op.lhs).converted(i32)
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
        [total, conversion.constant(array(i32, ()), [0])],
        [array(i32, [result_sizes[places[d]] for d in kept])],
        {"window": WindowAttr(Window(tuple(windows[d] for d in kept)))},
        [applied_to_two(AddOp, i32, ReturnOp)],
    )
    return term.terms.of(conversion.broadcast(sums, term.type, [places[d] for d in kept]))


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
    value = conversion.constant(array(type_.element_type, ()), [zero_point])
    base = conversion.made(
        PadOp(
            op.lhs,
            value,
            edge_padding_low=low,
            edge_padding_high=high,
            interior_padding=interior,
        )
    )
    plain = [replace(w, padding_low=0, padding_high=0, base_dilation=1) for w in window.dimensions]
    properties = {**op.properties, "window": WindowAttr(Window(tuple(plain)))}
    (total,) = conversion.emit(ConvolutionOp, [base, op.rhs], [op.result.type], properties)
    op.detach()
    op.erase()
    return cast(ConvolutionOp, total.owner)


def _is_padded(dimension: WindowDimension) -> bool:
    return (dimension.padding_low, dimension.padding_high, dimension.base_dilation) != (0, 0, 1)


Form: TypeAlias = Callable[[StableHloOp, Conversion], Sequence[SSAValue] | None]
"""The integer form of an operation on quantized arrays; None where it has none."""


def _quantizations(op: StableHloOp) -> tuple[list[Quantization], Quantization] | None:
    """Those of all operands, and that of the result; None where one is not quantized."""
    *sides, result = (quantization_of(v.type) for v in (*op.operands, *op.results))
    if result is None or None in sides:
        return None
    return cast("list[Quantization]", sides), result


def _terms(op: StableHloOp, conversion: Conversion) -> list[Term]:
    values = conversion.operands(op)
    terms = Terms(conversion, cast(Array, values[0].type))
    return list(map(terms.of, values))


def _as_stored(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue] | None:
    """Where all types are one, what holds of the numbers holds of the integers: scales are > 0."""
    found = {quantization_of(v.type) for v in (*op.operands, *op.results)} - {None}
    if len(found) != 1:
        return None
    op.properties.pop("compare_type", None)
    return conversion.by_pattern(op)


def _linear(
    op: StableHloOp, conversion: Conversion, combine: Callable[..., Term]
) -> Sequence[SSAValue] | None:
    """A function of operands as multiples of the scale of the result, in floats if need be."""
    found = _quantizations(op)
    if found is None:
        return None
    sides, result = found
    terms: list[Term] = []
    for term, side in zip(_terms(op, conversion), sides, strict=True):
        factors = [mine / theirs for mine, theirs in paired(side.scales, result.scales)]
        dimension = side.dimension if result.dimension is None else result.dimension
        bound = span(side) if side.storage.width.data <= 16 else None
        terms.append(rescaled(shifted(term, side), factors, dimension, bound, result))
    if terms[0].element_type != terms[-1].element_type:  # one of the factors is 1
        wider = next(term for term in terms if term.element_type not in (i32, i64))
        terms = [term.converted(wider.element_type) for term in terms]
    return [stored(combine(*terms), result).value]


def _product(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue] | None:
    found = _quantizations(op)
    if found is None:
        return None
    (lhs, rhs), result = found
    if result.storage.width.data > 8:
        return None
    left, right = map(shifted, _terms(op, conversion), (lhs, rhs))
    factors = [a * b / c for a, b, c in paired(lhs.scales, rhs.scales, result.scales)]
    bound = span(lhs) * span(rhs)
    return [stored(rescaled(left * right, factors, None, bound, result), result).value]


def _requantized(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue] | None:
    found = _quantizations(op)
    if found is None:
        return None
    (side,), result = found
    if None not in (side.dimension, result.dimension) and side.dimension != result.dimension:
        return None
    return _linear(op, conversion, _itself)


def _itself(term: Term) -> Term:
    return term


def _dot(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue] | None:
    """A dot of integers; each column of rhs may have a scale of its own."""
    lists = dot_lists(op)
    rhs = quantization_of(op.operands[1].type)
    if rhs is None or len(op.operands) != 2:
        return None
    sizes = extents(cast(Array, op.operands[1].type))
    contracted = lists["rhs_contracting_dims"]
    batch = list(lists["rhs_batch_dims"])
    free = [d for d in range(len(sizes)) if d not in (*batch, *contracted)]
    before = len(extents(cast(Array, op.results[0].type))) - len(free)
    places = {d: batch.index(d) if d in batch else before + free.index(d) for d in (*batch, *free)}
    place = None if rhs.dimension is None else places[rhs.dimension]
    inner = [sizes[d] for d in contracted if d < len(sizes)]
    return _contraction(op, conversion, inner, place, places)


def _convolution(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue] | None:
    """A convolution of integers; padding stands for the number 0."""
    labels = convolution_labels(op)
    if labels.faults():
        return None
    sizes = extents(cast(Array, op.operands[1].type))
    inner = labels.rhs_order()[1:]
    if any(d >= len(sizes) for d in labels.rhs_order()):
        return None
    return _contraction(op, conversion, [sizes[d] for d in inner], labels.result_order()[1])


def _contraction(
    op: StableHloOp,
    conversion: Conversion,
    sizes: Sequence[int],
    place: int | None,
    places: Mapping[int, int] | None = None,
) -> Sequence[SSAValue] | None:
    """
    Sums of products of `sizes` elements, times a factor that may differ along `place`.

    `places`, of a dot, are the dimensions of the result for those of rhs that are not contracted.
    None for a float on the left: integers have nothing to say of it.
    """
    lhs, rhs = (quantization_of(operand.type) for operand in op.operands[:2])
    result = quantization_of(op.results[0].type)
    if lhs is None or rhs is None or result is None or lhs.storage.width.data > 16:
        return None
    bound = None if DYNAMIC_INDEX in sizes else span(lhs) * span(rhs)
    for size in sizes:
        bound = None if bound is None else bound * size
    accumulator: Attribute = i32 if bound is not None and bound < 1 << 31 else i64
    operands = conversion.operands(op)
    types = [with_element_type(op.results[0].type, accumulator)]
    as_bytes = accumulator == i32 and are_bytes(lhs, rhs)
    as_bytes = as_bytes and (places is not None or is_summed_alone(op, rhs))
    if not as_bytes:
        operands[:2] = _factors_of(operands[:2], (lhs, rhs), conversion, accumulator)
    (total,) = convert_as(op, conversion, operands, types)
    term = term_of(conversion, total)
    if as_bytes and places is not None:
        term = dot_of_shifted(term, operands[1], lhs, places)
    elif as_bytes:
        term = convolution_of_shifted(term, lhs, rhs)
    factors = [a * b / c for a, b, c in paired(lhs.scales, rhs.scales, result.scales)]
    return [stored(rescaled(term, factors, place, bound, result), result).value]


def _factors_of(
    values: Sequence[SSAValue],
    sides: Sequence[Quantization],
    conversion: Conversion,
    accumulator: Attribute,
) -> list[SSAValue]:
    """The integers to be multiplied: as stored, where both sides have zero points 0."""
    if not any(zero for side in sides for zero in side.zero_points):
        return list(values)
    found: list[SSAValue] = []
    for value, side in zip(values, sides, strict=True):
        term = term_of(conversion, value)
        found.append(shifted(term, side).converted(accumulator).value)
    return found


def _applying(combine: Callable[..., Term]) -> Form:
    return lambda op, conversion: _linear(op, conversion, combine)


FORMS: Mapping[str, Form] = {
    "stablehlo.abs": _applying(Term.__abs__),
    "stablehlo.add": _applying(Term.__add__),
    "stablehlo.clamp": _as_stored,
    "stablehlo.compare": _as_stored,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot": _dot,
    "stablehlo.dot_general": _dot,
    "stablehlo.dynamic_conv": _convolution,
    "stablehlo.maximum": _as_stored,
    "stablehlo.minimum": _as_stored,
    "stablehlo.multiply": _product,
    "stablehlo.negate": _applying(Term.__neg__),
    "stablehlo.select": _as_stored,
    "stablehlo.subtract": _applying(Term.__sub__),
    "stablehlo.uniform_quantize": _requantized,
}
"""The integer forms of operations."""


def integer_arithmetic(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """Computes with stored integers where it can, and else with the numbers."""
    form = FORMS.get(op.name)
    found = None if form is None else form(op, conversion)
    return expressed_arithmetic(op, conversion) if found is None else found
