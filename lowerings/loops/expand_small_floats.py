"""
The pass `expand-small-floats`: conversions between f32 and narrower floats, in integer arithmetic
on their codes.

Of bf16 only conversions from and to f32 are left. LLVM 22 calls functions of the C library that a
process need not have to round f64 to floats of 16 bits, and for products and sums of f16 that are
rounded once: both go by way of f32 or f64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeAlias

from xdsl.dialects import arith, func, math, vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    VectorType,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation

from lowerings.dialects.arith_extension import with_element_type
from lowerings.ir.float_formats import FLOAT_FORMATS, SMALL_FLOATS, FloatFormat, Specials
from lowerings.ir.target import Target
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants, element_bits
from lowerings.loops.math_functions.numbers import FORMATS, Number
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.failure import rewrites_op
from lowerings.rewriting.levels import EVERY_LEVEL
from lowerings.rewriting.passes import FunctionPass
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operands_of, operations_in

SINGLE = FORMATS[type(f32)]
BFLOAT = FLOAT_FORMATS[BFloat16Type]
_INFINITY = 0x7F80_0000
_QUIET_NAN = 0x7FC0_0000
_MAGNITUDE = 0x7FFF_FFFF


def extended_to_single(number: Number, format_: FloatFormat) -> Number:
    """A small float as f32: exact; a NaN is quiet and has its sign."""
    code = number.bitcast(IntegerType(format_.bits)).zero_extended(SINGLE.bits)
    if not format_.has_zero:
        return _power_of_two(code, format_).as_float()
    shift = SINGLE.mantissa_bits - format_.mantissa_bits
    magnitude = code & (format_.sign - 1)
    # With the exponent rebased, what has the leading one is right. The others, with one more in
    # the exponent, have a leading one too many: it is subtracted.
    rebased = (magnitude << shift) + ((SINGLE.bias - format_.bias) << SINGLE.mantissa_bits)
    with_leading_one = (rebased + (1 << SINGLE.mantissa_bits)).as_float()
    subnormal = with_leading_one - 2.0 ** (1 - format_.bias)
    is_subnormal = magnitude.is_less(1 << format_.mantissa_bits)
    bits = is_subnormal.choose(subnormal.as_integer(), rebased)
    if format_.infinity is not None:
        bits = magnitude.is_equal(format_.infinity).choose(_INFINITY, bits)
        bits = magnitude.is_greater(format_.infinity).choose(_QUIET_NAN, bits)
    elif format_.specials is Specials.LAST_IS_NAN:
        bits = magnitude.is_equal(format_.largest + 1).choose(_QUIET_NAN, bits)
    sign = (code & format_.sign) << (SINGLE.bits - format_.bits)
    if format_.specials is Specials.NEGATIVE_ZERO_IS_NAN:
        bits = code.is_equal(format_.sign).choose(_QUIET_NAN, bits)
    return (bits | sign).as_float()


def _power_of_two(code: Number, format_: FloatFormat) -> Number:
    """The f32 bits of a format that is an exponent alone, the same as that of f32."""
    bits = code << SINGLE.mantissa_bits
    # 2**-127 is half of the smallest number with a leading one.
    bits = code.is_equal(0).choose(1 << (SINGLE.mantissa_bits - 1), bits)
    return code.is_equal(format_.largest + 1).choose(_QUIET_NAN, bits)


def rounded_from_single(number: Number, format_: FloatFormat, element_type: Attribute) -> Number:
    """
    An f32 as a small float: to nearest, ties to even. Larger magnitudes become infinity, NaN, or
    the largest number, which of them the format has first.

    Without signs, negative numbers are NaN, and so is zero where there is none; NaN is -0 where
    there is no NaN.
    """
    bits = number.as_integer()
    magnitude = bits & _MAGNITUDE
    if format_.has_zero:
        code = _rounded_magnitude(magnitude, format_)
    else:
        # The only bit that is kept is the leading one: a tie goes away from it.
        half = 1 << (SINGLE.mantissa_bits - 1)
        is_subnormal = magnitude.is_less(1 << SINGLE.mantissa_bits)
        nearly_half = is_subnormal.choose(magnitude.constant(half - 1), half)
        code = (magnitude + nearly_half).shift_right_unsigned(SINGLE.mantissa_bits)
    code = code.is_greater(format_.largest).choose(format_.overflow, code)
    is_nan = magnitude.is_greater(_INFINITY)
    if format_.infinity is not None:
        assert format_.nan is not None
        code = is_nan.choose(format_.nan, code)
    if not format_.is_signed:
        assert format_.nan is not None
        code = bits.compare("ole", 0).choose(format_.nan, code)
    else:
        sign = bits.shift_right_unsigned(SINGLE.bits - format_.bits) & format_.sign
        signed = code | sign
        if format_.specials is Specials.NEGATIVE_ZERO_IS_NAN:
            signed = code.is_equal(0).choose(0, signed)
        code = signed
    if format_.nan is None:
        code = is_nan.choose(format_.sign, code)
    return code.cut(format_.bits).bitcast(element_type)


def _rounded_magnitude(magnitude: Number, format_: FloatFormat) -> Number:
    """The magnitude in the small format, as if its exponents had no end."""
    shift = SINGLE.mantissa_bits - format_.mantissa_bits
    rebase = (SINGLE.bias - format_.bias) << SINGLE.mantissa_bits
    odd = magnitude.shift_right_unsigned(shift) & 1
    rounded = magnitude + odd + ((1 << (shift - 1)) - 1 - rebase)
    normal = rounded.shift_right_unsigned(shift)
    # The last bit of this addend weighs what the last bit of a subnormal does: the addition
    # rounds to it.
    addend = 2.0 ** (shift + 1 - format_.bias)
    addend_bits = (SINGLE.bias + shift + 1 - format_.bias) << SINGLE.mantissa_bits
    subnormal = (magnitude.as_float() + addend).as_integer() - addend_bits
    smallest = (SINGLE.bias + 1 - format_.bias) << SINGLE.mantissa_bits
    return magnitude.is_less(smallest).choose(subnormal, normal)


def rounded_to_odd(number: Number) -> Number:
    """
    An f64 as f32, of the two neighbours the one with an odd last bit unless exact: rounded to
    fewer bits afterwards, it is rounded once (Boldo and Melquiond, 2008).
    """
    nearest = number.truncated(f32)
    back = nearest.extended(Float64Type())
    bits = nearest.as_integer()
    away = abs(back).is_greater(abs(number))
    odd = away.choose(bits - 1, bits) | 1
    return back.compare("one", number).choose(odd, bits).as_float()


FORMATS_WITHOUT_ARITHMETIC = {**SMALL_FLOATS, BFloat16Type: BFLOAT}
WITHOUT_HALVES = {**FORMATS_WITHOUT_ARITHMETIC, Float16Type: FLOAT_FORMATS[Float16Type]}
"""Where the processor does not convert f16: LLVM would call functions of the C library."""
Formats: TypeAlias = Mapping[type[Attribute], FloatFormat]

FUSED = frozenset((math.FmaOp, vector.FMAOp))
ON_VECTORS = frozenset((vector.ReductionOp, vector.FMAOp))
CONVERSIONS = (arith.ExtFOp, arith.TruncFOp)

MOVES = (arith.ConstantOp, arith.SelectOp, arith.BitcastOp)
"""Operations that take the codes of small floats as they are."""


@dataclass(frozen=True)
class ExpandSmallFloatsPass(FunctionPass):
    """
    Arithmetic of floats of 4 to 8 bits and bf16, of scalars and vectors, to integer arithmetic and
    f32.

    Conversions become integer arithmetic on the codes, with one rounding to nearest, ties to even.
    Any other operation of arith and math, and reductions of vectors, are done in f32 and the result
    is rounded. Integers that become floats of at most 8 bits are rounded to f32 before. Of f16,
    products that are added and conversions from f64 are rounded once; where the target does not
    convert it, it is one of the narrower floats. Conversions between bf16 and f32 stay.

    ```mlir
    %1 = arith.extf %0 : f8E8M0FNU to f32
    ```
    ->
    ```mlir
    %1 = arith.bitcast %0 : f8E8M0FNU to i8
    %2 = arith.extui %1 : i8 to i32
    %3 = arith.shli %2, %c23 : i32
    %4 = arith.cmpi eq, %2, %c0 : i32
    %5 = arith.select %4, %half_of_smallest_normal, %3 : i32
    %6 = arith.cmpi eq, %2, %c255 : i32
    %7 = arith.select %6, %quiet_nan, %5 : i32
    %8 = arith.bitcast %7 : i32 to f32
    ```
    """

    name = "expand-small-floats"
    takes = EVERY_LEVEL

    def on_functions(self, module: ModuleOp) -> Callable[[func.FuncOp], bool]:
        """The same for all modules of a processor."""
        has_halves = Target.of(module).converts_halves
        formats = FORMATS_WITHOUT_ARITHMETIC if has_halves else WITHOUT_HALVES
        return partial(_expand_function, formats)


def _expand_function(formats: Formats, function: func.FuncOp) -> bool:
    """Expands what a function computes of small floats; whether there was anything."""
    found = [
        op for op in operations_in(function) if _computes(type(op)) and _is_expanded(op, formats)
    ]
    if not found:
        return False
    builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
    for op in found:
        attempt(partial(_expand, op, builder, formats))
    return True


@rewrites_op
def _expand(op: Operation, builder: LoopBuilder, formats: Formats) -> None:
    builder.location = op.location
    operands = [Number(builder, operand) for operand in op.operands]
    result = _evaluate(op, operands, builder, formats)
    builder.insert_before(op)
    op.results[0].replace_all_uses_with(result.value)
    erase(op)


@cache
def _computes(op_class: type[Operation]) -> bool:
    """Whether operations of a class depend on the values of floats."""
    is_arithmetic = op_class.name.partition(".")[0] in ("arith", "math")
    return (is_arithmetic and not issubclass(op_class, MOVES)) or op_class in ON_VECTORS


def _is_expanded(op: Operation, formats: Formats) -> bool:
    values = (*operands_of(op), *op.results)
    types = [type(_element_type(value.type)) for value in values]
    if type(op) in CONVERSIONS and {*types} == {BFloat16Type, Float32Type}:
        return False
    return not formats.keys().isdisjoint(types) or (
        types[-1] is Float16Type and (Float64Type in types or type(op) in FUSED)
    )


def _element_type(type_: Attribute) -> Attribute:
    if type(type_) is VectorType:
        return type_.element_type
    return type_


def _evaluate(
    op: Operation, given: Sequence[Number], builder: LoopBuilder, formats: Formats
) -> Number:
    """The result of an operation on operands."""
    element_type = _element_type(op.results[0].type)
    format_ = formats.get(type(element_type))
    if isinstance(op, arith.NegfOp) and format_ is not None and format_.has_negative_zero:
        code = given[0].bitcast(IntegerType(format_.bits))
        return (code ^ format_.sign).bitcast(element_type)
    operands = [_extended(number, formats) for number in given]
    if isinstance(op, CONVERSIONS):
        number = operands[0]
    else:
        wide = element_type if format_ is None else f32
        if type(op) in FUSED and element_type == f16:
            wide, operands = f64, [number.extended(f64) for number in operands]
        elif format_ is BFLOAT and operands[0].is_integer and not _fits_single(operands[0]):
            wide = f64
        number = _repeated(op, operands, wide, builder)
    if format_ is None or format_ is BFLOAT:
        return number if number.element_type == element_type else _converted(number, element_type)
    return rounded_from_single(_as_single(number), format_, element_type)


def _extended(number: Number, formats: Formats) -> Number:
    """A small float as f32; any other number itself."""
    format_ = formats.get(type(number.element_type))
    if format_ is None:
        return number
    return number.extended() if format_ is BFLOAT else extended_to_single(number, format_)


def _fits_single(number: Number) -> bool:
    """Whether all integers of a type are numbers of f32."""
    return (element_bits(number.element_type) or 0) <= SINGLE.mantissa_bits + 1


def _repeated(
    op: Operation, operands: Sequence[Number], wide: Attribute, builder: LoopBuilder
) -> Number:
    """The operation on other operands, its result in another element type."""
    repeated = create(
        type(op),
        operands=[operand.value for operand in operands],
        result_types=[with_element_type(op.results[0].type, wide)],
        properties=op.properties,
        attributes=op.attributes,
    )
    return Number(builder, builder.add(repeated).results[0])


def _as_single(number: Number) -> Number:
    """A float of 16, 32 or 64 bits as f32, an f64 so that rounding it again does no harm."""
    if isinstance(number.element_type, Float64Type):
        return rounded_to_odd(number)
    return number if number.element_type == f32 else number.extended()


def _converted(number: Number, element_type: Attribute) -> Number:
    """A float as f64, or rounded once to a float of 16 bits."""
    if isinstance(element_type, Float64Type):
        return number.extended(element_type)
    return _as_single(number).truncated(element_type)
