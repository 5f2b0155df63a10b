"""The pass `expand-small-floats`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.tensors.fused_body import FusedBody

F32_BIAS = 127
F32_MANTISSA = 23
F32_INFINITY = 0xFF << F32_MANTISSA
F32_NAN = F32_INFINITY | 1 << (F32_MANTISSA - 1)
F32_MAGNITUDE = (1 << 31) - 1


@dataclass(frozen=True)
class SmallFloat:
    """A float of at most 8 bits: a sign, an exponent and a mantissa."""

    exponent: int
    """Bits of the exponent."""
    mantissa: int
    bias: int
    largest: int
    """The bits of the largest number."""
    infinity: int | None = None
    """The bits of infinity; None for a format without: there are no numbers above `largest`."""
    nan: int | None = None
    """The bits of the NaN that conversions give, without sign; None where there is none."""
    has_negative_zero: bool = True
    """If not, the bits of -0 are the only NaN."""

    @property
    def sign(self) -> int:
        """The position of the sign bit."""
        return self.exponent + self.mantissa


SMALL_FLOATS: dict[type[Attribute], SmallFloat] = {
    Float4E2M1FNType: SmallFloat(2, 1, 1, 0x7),
    Float8E3M4Type: SmallFloat(3, 4, 3, 0x6F, infinity=0x70, nan=0x78),
    Float8E4M3Type: SmallFloat(4, 3, 7, 0x77, infinity=0x78, nan=0x7C),
    Float8E4M3FNType: SmallFloat(4, 3, 7, 0x7E, nan=0x7F),
    Float8E4M3FNUZType: SmallFloat(4, 3, 8, 0x7F, has_negative_zero=False),
    Float8E4M3B11FNUZType: SmallFloat(4, 3, 11, 0x7F, has_negative_zero=False),
    Float8E5M2Type: SmallFloat(5, 2, 15, 0x7B, infinity=0x7C, nan=0x7E),
    Float8E5M2FNUZType: SmallFloat(5, 2, 16, 0x7F, has_negative_zero=False),
}
"""All formats but f8E8M0FNU, which has neither sign nor mantissa nor zero."""

E8M0_NAN = 0xFF
E8M0_LEAST = 1 << (F32_MANTISSA - 1)
"""The bits of 2^-127, the value of the exponent 0, as f32: subnormal there."""

Operand: TypeAlias = SSAValue | int


class ExpandSmallFloatsPass(ModulePass):
    """
    Expands casts between f32 and the floats of 4 and 8 bits to operations on their bits.

    No processor that we compile for has such casts, nor has LLVM.

    ```
    %1 = arith.extf %0 : f8E5M2 to f32
    // becomes
    %b = arith.bitcast %0 : f8E5M2 to i8
    %w = arith.extui %b : i8 to i32
    %m = arith.andi %w, %c127 : i32
    ...
    ```
    """

    name = "expand-small-floats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expands the casts of scalars in all bodies."""
        bodies: dict[Block, Bits] = {}
        for inner in list(op.walk()):
            if not isinstance(inner, arith.ExtFOp | arith.TruncFOp):
                continue
            source = inner.input.type
            target = inner.result.type
            small = source if isinstance(inner, arith.ExtFOp) else target
            is_e8m0 = isinstance(small, Float8E8M0FNUType)
            format_ = SMALL_FLOATS.get(type(small))
            if not (is_e8m0 or format_) or not isinstance(
                target if small is source else source, Float32Type
            ):
                continue
            block = inner.parent
            assert block is not None
            bits = bodies.setdefault(block, Bits(block))
            bits.stand_before(inner)
            result = _expanded(bits, inner, format_)
            inner.result.replace_all_uses_with(result)
            block.erase_op(inner)


def _expanded(
    bits: Bits, op: arith.ExtFOp | arith.TruncFOp, format_: SmallFloat | None
) -> SSAValue:
    if isinstance(op, arith.ExtFOp):
        code = bits.read(op.input)
        value = _extend_e8m0(bits, code) if format_ is None else _extend(bits, code, format_)
        return bits.cast(value, f32)
    value = bits.cast(op.input, i32)
    code = _round_e8m0(bits, value) if format_ is None else _round(bits, value, format_)
    return bits.write(code, op.result.type)


class Bits:
    """Arithmetic on 32-bit integers, in front of an operation."""

    def __init__(self, block: Block):
        self._block = block
        self._body: FusedBody | None = None

    def stand_before(self, op: Operation) -> None:
        """What follows is put in front of an operation; equal operations before it are used."""
        if self._body is None:
            self._body = FusedBody(self._block, op.location, op)
        self._body.before, self._body.location = op, op.location

    def _emit(
        self, op_class: type[Operation], operands: tuple[Operand, ...], type_: Attribute = i32
    ) -> SSAValue:
        assert self._body is not None
        values = [v if isinstance(v, SSAValue) else self.constant(v) for v in operands]
        return self._body.emit(op_class, values, type_, {})

    def constant(self, value: int) -> SSAValue:
        """An i32."""
        assert self._body is not None
        signed = value - (1 << 32) if value >> 31 else value
        return self._body.constant(IntegerAttr(signed, i32))

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The same bits as another type."""
        return self._emit(arith.BitcastOp, (value,), type_)

    def read(self, value: SSAValue) -> SSAValue:
        """The bits of a small float."""
        width = 4 if isinstance(value.type, Float4E2M1FNType) else 8
        return self._emit(arith.ExtUIOp, (self.cast(value, IntegerType(width)),))

    def write(self, bits: SSAValue, type_: Attribute) -> SSAValue:
        """The small float of the low bits."""
        width = 4 if isinstance(type_, Float4E2M1FNType) else 8
        return self.cast(self._emit(arith.TruncIOp, (bits,), IntegerType(width)), type_)

    def compare(self, predicate: str, lhs: SSAValue, rhs: int) -> SSAValue:
        """An i1."""
        assert self._body is not None
        number = arith.CMPI_COMPARISON_OPERATIONS.index(predicate)
        properties = {"predicate": IntegerAttr(number, 64)}
        return self._body.emit(arith.CmpiOp, (lhs, self.constant(rhs)), i1, properties)

    def select(self, condition: SSAValue, on_true: Operand, on_false: Operand) -> SSAValue:
        """One of two."""
        return self._emit(arith.SelectOp, (condition, on_true, on_false))

    def both(self, lhs: Operand, rhs: Operand) -> SSAValue:
        """Bitwise and."""
        type_ = lhs.type if isinstance(lhs, SSAValue) else i32
        return self._emit(arith.AndIOp, (lhs, rhs), type_)

    def either(self, lhs: Operand, rhs: Operand) -> SSAValue:
        """Bitwise or."""
        return self._emit(arith.OrIOp, (lhs, rhs))

    def differ(self, lhs: Operand, rhs: Operand) -> SSAValue:
        """Bitwise exclusive or."""
        return self._emit(arith.XOrIOp, (lhs, rhs))

    def left(self, value: SSAValue, amount: int) -> SSAValue:
        """`value << amount`."""
        return self._emit(arith.ShLIOp, (value, amount)) if amount else value

    def right(self, value: SSAValue, amount: int) -> SSAValue:
        """`value >> amount`, filled with zeros."""
        return self._emit(arith.ShRUIOp, (value, amount)) if amount else value

    def add(self, lhs: Operand, rhs: Operand) -> SSAValue:
        """`lhs + rhs`."""
        return self._emit(arith.AddiOp, (lhs, rhs))

    def subtract(self, lhs: Operand, rhs: Operand) -> SSAValue:
        """`lhs - rhs`."""
        return self._emit(arith.SubiOp, (lhs, rhs))

    def floats(self, op_class: type[Operation], lhs: SSAValue, rhs: int) -> SSAValue:
        """The bits of an operation on two f32 given by their bits."""
        operands = (self.cast(lhs, f32), self.cast(self.constant(rhs), f32))
        return self.cast(self._emit(op_class, operands, f32), i32)


def _power_of_two(exponent: int) -> int:
    """The bits of 2^exponent as f32."""
    return (exponent + F32_BIAS) << F32_MANTISSA


def _extend(bits: Bits, code: SSAValue, format_: SmallFloat) -> SSAValue:
    """
    The f32 of a small float.

    Exponent and mantissa in the place of those of an f32 are the value times a power of two,
    subnormal numbers included.
    """
    magnitude = bits.both(code, (1 << format_.sign) - 1)
    shifted = bits.left(magnitude, F32_MANTISSA - format_.mantissa)
    value = bits.floats(arith.MulfOp, shifted, _power_of_two(F32_BIAS - format_.bias))
    if format_.infinity is not None:
        is_infinite = bits.compare("eq", magnitude, format_.infinity)
        special = bits.select(is_infinite, F32_INFINITY, F32_NAN)
        value = bits.select(bits.compare("ugt", magnitude, format_.largest), special, value)
    elif format_.nan is not None:
        value = bits.select(bits.compare("eq", magnitude, format_.nan), F32_NAN, value)
    sign = bits.left(bits.differ(code, magnitude), 31 - format_.sign)
    value = bits.either(value, sign)
    if format_.has_negative_zero:
        return value
    return bits.select(bits.compare("eq", code, 1 << format_.sign), F32_NAN, value)


def _round(bits: Bits, value: SSAValue, format_: SmallFloat) -> SSAValue:
    """The small float nearest to an f32, ties to even."""
    magnitude = bits.both(value, F32_MAGNITUDE)
    dropped = F32_MANTISSA - format_.mantissa
    last = bits.both(bits.right(magnitude, dropped), 1)
    rounded = bits.add(magnitude, bits.add(last, (1 << (dropped - 1)) - 1))
    rebias = (F32_BIAS - format_.bias) << format_.mantissa
    normal = bits.subtract(bits.right(rounded, dropped), rebias)
    # Adding this power of two rounds to a multiple of the least subnormal number.
    least = 1 - format_.bias - format_.mantissa
    anchor = _power_of_two(least + F32_MANTISSA)
    subnormal = bits.subtract(bits.floats(arith.AddfOp, magnitude, anchor), anchor)
    is_subnormal = bits.compare("ult", magnitude, _power_of_two(1 - format_.bias))
    number = bits.select(is_subnormal, subnormal, normal)
    sign = bits.right(value, 31)
    is_nan = bits.compare("ugt", magnitude, F32_INFINITY)
    overflows = bits.compare("ugt", number, format_.largest)
    signed = bits.left(sign, format_.sign)
    if not format_.has_negative_zero:
        is_zero = bits.compare("eq", number, 0)
        result = bits.select(is_zero, 0, bits.either(number, signed))
        result = bits.select(overflows, 1 << format_.sign, result)
        return bits.select(is_nan, 1 << format_.sign, result)
    beyond = format_.infinity if format_.infinity is not None else format_.nan
    number = bits.select(overflows, format_.largest if beyond is None else beyond, number)
    if format_.nan is not None:
        return bits.either(bits.select(is_nan, format_.nan, number), signed)
    # f4E2M1FN has no NaN: it becomes a zero of the other sign.
    other_sign = bits.left(bits.differ(sign, 1), format_.sign)
    return bits.select(is_nan, other_sign, bits.either(number, signed))


def _extend_e8m0(bits: Bits, code: SSAValue) -> SSAValue:
    """`2^(code - 127)`."""
    value = bits.left(code, F32_MANTISSA)
    value = bits.select(bits.compare("eq", code, 0), E8M0_LEAST, value)
    return bits.select(bits.compare("eq", code, E8M0_NAN), F32_NAN, value)


def _round_e8m0(bits: Bits, value: SSAValue) -> SSAValue:
    """The nearest power of two, ties up; NaN for what is not a positive finite number."""
    half = 1 << (F32_MANTISSA - 1)
    normal = bits.right(bits.add(value, half), F32_MANTISSA)
    subnormal = bits.right(bits.add(value, half // 2), F32_MANTISSA)
    is_subnormal = bits.compare("ult", value, 1 << F32_MANTISSA)
    number = bits.select(is_subnormal, subnormal, normal)
    is_positive = bits.both(bits.compare("ult", value, F32_INFINITY), bits.compare("ne", value, 0))
    return bits.select(is_positive, number, E8M0_NAN)
