"""The meaning of quantized operations: dequantize, compute with the numbers, quantize.

As the specification defines `dequantize_op_quantize` and its kin. Operations that only move stored
integers keep them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import TensorType, f32, f64, i32, i64
from xdsl.ir import Attribute, Block, SSAValue

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.elementwise import RoundNearestEvenOp
from xla_dialect.quantized_types import Quantization, quantization_of, with_element_type
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.op import SourceError, StableHloOp
from xla_dialect.stablehlo.quantization.rules import NUMBERS
from xla_dialect.stablehlo.terms import Term, term_of
from xla_dialect.types import BY_TYPE, array_like
from xla_dialect.xdsl.creation import create

EXACT_IN_F32 = 1 << 24
"""Integers up to here are numbers of f32."""


def dequantized(conversion: Conversion, value: SSAValue, quantization: Quantization) -> SSAValue:
    """The numbers that stored integers stand for, in their expressed type."""
    term = shifted(term_of(conversion, value), quantization)
    scales = along(term, quantization.scales, quantization.expressed, quantization.dimension)
    return (term.converted(quantization.expressed) * scales).value


def quantized(conversion: Conversion, value: SSAValue, quantization: Quantization) -> SSAValue:
    """The stored integers for numbers: rounded half to even, and saturated."""
    term = term_of(conversion, value)
    scales = along(term, quantization.scales, quantization.expressed, quantization.dimension)
    return stored(term / scales, quantization).value


def shifted(term: Term, quantization: Quantization) -> Term:
    """Stored integers less their zero points, as integers that can be the difference."""
    wide = term.converted(wide_integer(quantization))
    if not any(quantization.zero_points):
        return wide
    dimension = quantization.dimension
    return wide - along(wide, quantization.zero_points, wide.element_type, dimension)


def wide_integer(quantization: Quantization) -> Attribute:
    """The type of sums and differences of stored integers."""
    return i32 if quantization.storage.width.data <= 16 else i64


def stored(term: Term, quantization: Quantization) -> Term:
    """Multiples of the scales, integers or floats, as stored integers."""
    is_integer = term.element_type in (i32, i64)
    zero_points: Sequence[float] = quantization.zero_points
    limits: Sequence[float] = (quantization.minimum, quantization.maximum)
    if not is_integer:
        zero_points = [_nearest(each, term.element_type) for each in zero_points]
        # What rounds to more than the storage has is converted to its end.
        is_whole = tuple(limits) == quantization.range_of_storage
        limits = [_nearest(each, term.element_type, is_within=not is_whole) for each in limits]
    if any(zero_points):
        term = term + along(term, zero_points, term.element_type, quantization.dimension)
    term = term.maximum(limits[0]).minimum(limits[1])
    if not is_integer:
        term = term.emit(RoundNearestEvenOp)
    return term.converted(quantization.storage)


def _nearest(number: int, element_type: Attribute, *, is_within: bool = False) -> float:
    """The nearest finite float; if `is_within`, none that is further from 0."""
    dtype = numpy_dtype(element_type)
    largest = float(cast(Any, ml_dtypes.finfo(dtype)).max)
    found = np.array(min(max(number, -largest), largest)).astype(dtype)
    if is_within and abs(float(found)) > abs(number):
        found = np.nextafter(found, np.zeros((), dtype))
    return float(found)


def rescaled(
    term: Term,
    factors: Sequence[float],
    dimension: int | None,
    bound: int | None,
    quantization: Quantization,
) -> Term:
    """
    Integers times factors as floats, or as they are where all factors are 1.

    They are at most `bound`. The floats are f32 where these integers are numbers of it, else f64,
    and never less exact than the expressed type.
    """
    if all(factor == 1 for factor in factors):
        return term
    narrow = bound is not None and bound <= EXACT_IN_F32
    narrow = narrow and BY_TYPE[quantization.expressed].bits <= 32
    term = term.converted(f32 if narrow else f64)
    return term * along(term, factors, term.element_type, dimension)


def along(
    term: Term, numbers: Sequence[float], element_type: Attribute, dimension: int | None
) -> Term:
    """An array of the term's sizes with these numbers along a dimension, or one everywhere."""
    if len(set(numbers)) == 1:
        return term.terms.number(numbers[0], element_type)
    assert dimension is not None
    conversion = term.terms.conversion
    value = conversion.constant(TensorType(element_type, [len(numbers)]), numbers)
    type_ = array_like(term.type, element_type)
    return term.terms.of(conversion.broadcast(value, type_, [dimension]))


def paired(*lists: Sequence[float]) -> list[tuple[float, ...]]:
    """The lists side by side, those of one number repeated."""
    count = max(map(len, lists))
    return list(zip(*(islice(cycle(numbers), count) for numbers in lists), strict=True))


def span(quantization: Quantization) -> int:
    """The greatest distance of a stored integer from its zero point."""
    return max(
        max(quantization.maximum - zero_point, zero_point - quantization.minimum)
        for zero_point in quantization.zero_points
    )


def convert_as(
    op: StableHloOp,
    conversion: Conversion,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
) -> list[SSAValue]:
    """What the operation becomes on other, converted operands."""
    block = Block(arg_types=[value.type for value in operands])
    for argument, value in zip(block.args, operands, strict=True):
        conversion.define(argument, value)
    regions = [region.clone() for region in op.regions]
    plain = create(
        type(op),
        operands=block.args,
        result_types=result_types,
        properties=op.properties,
        attributes=op.attributes,
        regions=regions,
    )
    op.attributes.clear()
    try:
        conversion.convert_operation(plain)
    except SourceError as error:
        error.op = op
        raise
    return [conversion.value(result) for result in plain.results]


def expressed_arithmetic(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """Computes with numbers of the expressed type."""
    if op.name not in NUMBERS:
        return conversion.by_pattern(op)
    operands = list(map(conversion.value, op.operands))
    for position, operand in enumerate(op.operands):
        quantization = quantization_of(operand.type)
        if quantization is not None:
            operands[position] = dequantized(conversion, operands[position], quantization)
    found = [quantization_of(result.type) for result in op.results]
    types = [
        result.type if each is None else with_element_type(result.type, each.expressed)
        for result, each in zip(op.results, found, strict=True)
    ]
    results = convert_as(op, conversion, operands, types)
    return [
        value if each is None else quantized(conversion, value, each)
        for value, each in zip(results, found, strict=True)
    ]
