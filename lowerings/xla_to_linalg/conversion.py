"""Conversions of element types and of bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, f32, f64, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.ir.float_formats import FLOAT_FORMATS, FloatFormat, Specials
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of, narrow, widen
from lowerings.xla_to_linalg.scalar_functions.scalars import (
    ScalarBuilder,
    arithmetic_type,
    component,
    int_width,
    storage,
)
from lowerings.xla_to_linalg.structured import (
    affine_map,
    array_type,
    pointwise,
    projection,
)
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.types import BY_TYPE, ElementClass, component_type

PRED, SIGNED, UNSIGNED = ElementClass.PRED, ElementClass.SIGNED, ElementClass.UNSIGNED
FLOAT, COMPLEX = ElementClass.FLOAT, ElementClass.COMPLEX


def convert(s: ScalarBuilder, op: ConvertOp, x: SSAValue) -> SSAValue:
    """The result of a `convert` of a scalar."""
    return convert_scalar(s, x, elements_of(op.operand), elements_of(op.result))


def convert_scalar(s: ScalarBuilder, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    """
    A scalar of one XLA element type as another.

    Floats saturate to integers and NaN gives 0, integers wrap, floats round to nearest even; real
    to complex has imaginary part 0, complex to real is the real part; to pred is `x != 0`.
    """
    if source == target:
        return x
    old, new = BY_TYPE[source].element_class, BY_TYPE[target].element_class
    if old == COMPLEX:
        return _from_complex(s, x, target)
    if new == COMPLEX:
        part = component_type(target)
        return s.create_complex(convert_scalar(s, x, source, part), s.constant(0.0, part))
    if new == PRED:
        return _is_nonzero(s, x, old)
    if old == FLOAT and new == FLOAT:
        return narrow(s, _resize_float(s, widen(s, x), target), target)
    if old == FLOAT:
        return _to_integer(s, widen(s, x), BY_TYPE[target].bits, new == SIGNED)
    if new == FLOAT:
        return _to_float(s, x, target, old == SIGNED)
    return s.resize(x, BY_TYPE[target].bits, old == SIGNED)


def _from_complex(s: ScalarBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    part = component(x)
    real = s.real(x)
    match BY_TYPE[target].element_class:
        case ElementClass.PRED:
            return s.either(_is_nonzero(s, real, FLOAT), _is_nonzero(s, s.imaginary(x), FLOAT))
        case ElementClass.COMPLEX:
            new = component_type(target)
            return s.create_complex(
                convert_scalar(s, real, part, new), convert_scalar(s, s.imaginary(x), part, new)
            )
        case _:
            return convert_scalar(s, real, part, target)


def _is_nonzero(s: ScalarBuilder, x: SSAValue, elements: ElementClass) -> SSAValue:
    if elements == FLOAT:
        return s.compare_floats("une", widen(s, x), 0.0)
    return s.compare("ne", x, 0)


def _resize_float(s: ScalarBuilder, x: SSAValue, target: Attribute) -> SSAValue:
    """Extends f32 to f64 if that is the target; other values are narrowed by the caller."""
    type_ = arithmetic_type(target)
    if x.type == f32 and type_ != f32:
        return s.emit(arith.ExtFOp, (x,), type_)
    return x


def _to_float(s: ScalarBuilder, x: SSAValue, target: Attribute, signed: bool) -> SSAValue:
    """
    The nearest float, rounded once.

    Where the target is narrower than f32 and the integer wider than f32 (or, of 64 bits, than f64)
    holds exactly, its low bits are replaced by whether one of them is set: a float then holds it
    exactly, and rounding that is rounding the integer.
    """
    cast_class = arith.SIToFPOp if signed else arith.UIToFPOp
    type_, width = arithmetic_type(target), int_width(x)
    if width == 1 and signed:
        # LLVM 22 miscompiles `bitcast(sitofp i1) < 1` as `i1 < true`, although true is -1.
        minus_one, zero = (s.constant(number, type_) for number in (-1.0, 0.0))
        return narrow(s, s.select(x, minus_one, zero), target)
    if type_ == target:
        return s.emit(cast_class, (x,), target)
    middle, digits = (f64, 53) if width == 64 else (f32, 24)
    if width > digits:
        limit, mask = 1 << digits, (1 << (width - digits)) - 1
        low = s.integers(arith.AddiOp, s.integers(arith.AndIOp, x, mask), mask)
        replaced = s.integers(arith.AndIOp, s.either(x, low), ~mask)
        shifted = s.integers(arith.AddiOp, x, limit) if signed else x
        is_exact = s.compare("ult", shifted, 2 * limit if signed else limit)
        x = s.select(is_exact, x, replaced)
    return narrow(s, s.emit(cast_class, (x,), middle), target)


def _to_integer(s: ScalarBuilder, x: SSAValue, width: int, signed: bool) -> SSAValue:
    """
    Truncation that saturates; NaN gives 0.

    The conversion itself sees 0 for what is out of range, where its result would be poison.
    """
    type_ = IntegerType(width)
    bound = 2.0 ** (width - 1 if signed else width)
    greatest, least = (1 << (width - 1)) - 1 if signed else -1, -(1 << (width - 1))
    too_large = s.compare_floats("oge", x, bound)
    above = s.compare_floats("ogt", x, -bound if signed else 0.0)
    in_range = s.both(above, s.compare_floats("olt", x, bound))
    inside = s.select(in_range, x, s.constant_like(0, x))
    value = s.emit(arith.FPToSIOp if signed else arith.FPToUIOp, (inside,), type_)
    value = s.select(too_large, s.constant(greatest, type_), value)
    if signed:
        too_small = s.compare_floats("ole", x, -bound)
        value = s.select(too_small, s.constant(least, type_), value)
    return value


def reduce_precision(s: ScalarBuilder, op: ReducePrecisionOp, x: SSAValue) -> SSAValue:
    """
    The result of a `reduce_precision` of a scalar, computed on its bits.

    Overflow gives what it gives in the operand's type: infinity, NaN or the largest number.
    """
    format_ = FLOAT_FORMATS[type(x.type)]
    exponent_bits, mantissa_bits = op.exponent_bits.value.data, op.mantissa_bits.value.data
    bits = s.bitcast(x, IntegerType(format_.bits))
    magnitude = s.integers(arith.AndIOp, bits, format_.sign - 1)
    sign = s.integers(arith.XOrIOp, bits, magnitude)
    rounded = magnitude
    if mantissa_bits < format_.mantissa_bits:
        dropped = format_.mantissa_bits - mantissa_bits
        last = s.integers(arith.AndIOp, s.integers(arith.ShRUIOp, magnitude, dropped), 1)
        half = s.integers(arith.AddiOp, last, (1 << (dropped - 1)) - 1)
        rounded = s.integers(arith.AddiOp, magnitude, half)
        rounded = s.integers(arith.AndIOp, rounded, -(1 << dropped))
    largest, result = format_.largest, s.either(sign, rounded)
    if exponent_bits < format_.exponent_bits:
        bias = (1 << (exponent_bits - 1)) - 1
        largest = min(largest, ((format_.bias + bias + 1) << format_.mantissa_bits) - 1)
        least = max(0, (format_.bias + 1 - bias) << format_.mantissa_bits)
        only_zero = s.constant(format_.positive_zero, bits.type)
        zero = sign if format_.has_negative_zero else only_zero
        result = s.select(s.compare("ult", rounded, least), zero, result)
    overflow = s.either(sign, s.constant(format_.overflow, bits.type))
    result = s.select(s.compare("ugt", rounded, largest), overflow, result)
    return s.select(_is_nan(s, bits, magnitude, format_), x, s.bitcast(result, x.type))


def _is_nan(
    s: ScalarBuilder, bits: SSAValue, magnitude: SSAValue, format_: FloatFormat
) -> SSAValue:
    """Whether a code is a NaN; false in formats without NaN."""
    match format_.specials:
        case Specials.IEEE:
            return s.compare("ugt", magnitude, format_.largest + 1)
        case Specials.LAST_IS_NAN:
            return s.compare("ugt", magnitude, format_.largest)
        case Specials.NEGATIVE_ZERO_IS_NAN:
            return s.compare("eq", bits, format_.sign)
        case Specials.NONE:
            return s.constant(0, i1)


def bits_of(s: ScalarBuilder, x: SSAValue, element_type: Attribute) -> SSAValue:
    """The bits of a scalar of an XLA type that is not complex; pred is 8 bits wide."""
    row = BY_TYPE[element_type]
    if row.element_class == PRED:
        return s.resize(x, row.bits, signed=False)
    return s.bitcast(x, IntegerType(row.bits))


def from_bits(s: ScalarBuilder, bits: SSAValue, element_type: Attribute) -> SSAValue:
    """The inverse of `bits_of`; nonzero bits are true."""
    if BY_TYPE[element_type].element_class == PRED:
        return s.compare("ne", bits, 0)
    return s.bitcast(bits, storage(element_type))


def bitcast_scalar(s: ScalarBuilder, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    """The bits of a scalar as another XLA type of the same width."""
    return x if source == target else from_bits(s, bits_of(s, x, source), target)


def bitcast_convert(op: BitcastConvertOp, builder: ConversionBuilder) -> None:
    """Elementwise for equal widths; else narrow elements are cut from or put into wide ones."""
    old, new = elements_of(op.operand), elements_of(op.result)
    result = array_type(op.result)
    rank = len(result.shape)
    before, after = BY_TYPE[old], BY_TYPE[new]
    if before.element_class == COMPLEX and before.bits != after.bits:
        builder.replace([_bitcast_complex(op, builder)])
        return
    leading = tuple(range(min(rank, len(array_type(op.operand).shape))))
    if before.bits <= after.bits:
        ratio = after.bits // before.bits
        pieces = [
            (
                op.operand,
                projection(rank, leading)
                if ratio == 1
                else affine_map(
                    rank,
                    (*(AffineExpr.dimension(d) for d in range(rank)), AffineExpr.constant(k)),
                ),
            )
            for k in range(ratio)
        ]

        def join(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
            if ratio == 1:
                return (bitcast_scalar(s, elements[0], old, new),)
            return (from_bits(s, _joined(s, elements[:ratio], old, after.bits), new),)

        builder.replace([pointwise(builder, pieces, result, join)])
        return

    def cut(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        bits = bits_of(s, elements[0], old)
        position = s.emit(arith.IndexCastOp, (s.index(rank - 1),), bits.type)
        amount = s.integers(arith.MuliOp, position, after.bits)
        piece = s.resize(s.integers(arith.ShRUIOp, bits, amount), after.bits, signed=False)
        return (from_bits(s, piece, new),)

    source = ((op.operand, projection(rank, leading)),)
    builder.replace([pointwise(builder, source, result, cut)])


def _joined(
    s: ScalarBuilder, elements: Sequence[SSAValue], element_type: Attribute, width: int
) -> SSAValue:
    """The bits of several scalars as one integer, the first one lowest."""
    joined: SSAValue | None = None
    for k, element in enumerate(elements):
        bits = bits_of(s, element, element_type)
        offset = k * int_width(bits)
        wide = s.resize(bits, width, signed=False)
        shifted = s.integers(arith.ShLIOp, wide, offset) if offset else wide
        joined = shifted if joined is None else s.either(joined, shifted)
    assert joined is not None
    return joined


def _bitcast_complex(op: BitcastConvertOp, builder: ConversionBuilder) -> SSAValue:
    """c128 to pairs of c64 and back: each f64 part is the bits of two f32, the real part lowest."""
    result = array_type(op.result)
    rank = len(result.shape)
    dimensions = tuple(AffineExpr.dimension(d) for d in range(rank))
    if BY_TYPE[elements_of(op.operand)].bits > BY_TYPE[result.element_type].bits:

        def cut(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
            real, imaginary = s.parts(elements[0])
            is_first = s.compare("eq", s.index(rank - 1), 0)
            bits = s.bitcast(s.select(is_first, real, imaginary), IntegerType(64))
            high = s.integers(arith.ShRUIOp, bits, 32)
            parts = [s.bitcast(s.resize(half, 32, signed=False), f32) for half in (bits, high)]
            return (s.create_complex(parts[0], parts[1]),)

        source = ((op.operand, affine_map(rank, dimensions[:-1])),)
        return pointwise(builder, source, result, cut)

    def join(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        part = component_type(result.element_type)
        parts = [s.bitcast(_joined(s, s.parts(element), f32, 64), part) for element in elements[:2]]
        return (s.create_complex(parts[0], parts[1]),)

    halves = [
        (op.operand, affine_map(rank, (*dimensions, AffineExpr.constant(k)))) for k in range(2)
    ]
    return pointwise(builder, halves, result, join)
