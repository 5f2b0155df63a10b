"""
`arith`: arithmetic of scalars and vectors. That of bf16 and narrower floats is done in f32 before,
by `expand-small-floats`; the numbers themselves are words to LLVM.

LLVM 22 rounds `float` to `bfloat` on x86 with `vcvtneps2bf16`, which flushes subnormals to zero, or
calls the C library's `__truncsfbf2`, which a process need not have: the rounding is written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects import arith, math, vector
from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, FloatAttr, bf16
from xdsl.dialects.utils import FastMathAttrBase
from xdsl.ir import Operation, SSAValue
from xdsl.utils.type import get_element_type_or_self

from lowerings.dialects.arith_extension import IndexCastUIOp, RemFOp
from lowerings.targets.llvm.constants import scalar_literal, vector_literal
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import (
    BF16,
    F16,
    F32,
    INTEGERS,
    Kind,
    UnsupportedType,
    ValueType,
)
from xla_dialect.xdsl.operation_table import OperationTable

_I32 = INTEGERS[32]


def widen(e: FunctionEmitter, operand: str, type_: ValueType) -> str:
    """A bf16 operand as f32, by moving its bits."""
    integers = type_.with_element(_I32)
    word = e.temporary(f"zext {type_.text} {operand} to {integers.text}")
    high = e.temporary(f"shl {integers.text} {word}, {integers.constant('16')}")
    return e.temporary(f"bitcast {integers.text} {high} to {type_.with_element(F32).text}")


def round_to_bf16(
    e: FunctionEmitter, operand: str, single: ValueType, *, has_short_nan: bool
) -> str:
    """
    An f32 operand rounded to bf16: nearest, ties to even; a NaN becomes or stays quiet. One that
    `has_short_nan` is rounded as numbers are.
    """
    integers = single.with_element(_I32)
    word = integers.text

    def constant(value: int) -> str:
        return integers.constant(str(value))

    bits = e.temporary(f"bitcast {single.text} {operand} to {word}")
    high = e.temporary(f"lshr {word} {bits}, {constant(16)}")
    odd = e.temporary(f"and {word} {high}, {constant(1)}")
    bias = e.temporary(f"add {word} {odd}, {constant(0x7FFF)}")
    rounded = e.temporary(f"add {word} {bits}, {bias}")
    if not has_short_nan:
        rounded = _with_quiet_nan(e, operand, single, bits, rounded)
    shifted = e.temporary(f"lshr {word} {rounded}, {constant(16)}")
    return e.temporary(f"trunc {word} {shifted} to {single.with_element(BF16).text}")


def _with_quiet_nan(
    e: FunctionEmitter, operand: str, single: ValueType, bits: str, rounded: str
) -> str:
    """What is rounded, or the bits of a NaN, quiet."""
    integers, mask = single.with_element(_I32), single.with_element(INTEGERS[1]).text
    word = integers.text
    quiet = e.temporary(f"or {word} {bits}, {integers.constant(str(0x40_0000))}")
    is_nan = e.temporary(f"fcmp uno {single.text} {operand}, {operand}")
    return e.temporary(f"select {mask} {is_nan}, {word} {quiet}, {word} {rounded}")


_QUIETING = (
    *(arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp),
    *(math.FmaOp, math.SqrtOp, math.ExpOp, vector.FMAOp),
)
_PASSING_ON = (*_QUIETING, arith.SelectOp, arith.NegfOp, math.AbsFOp, vector.BroadcastOp)


def has_short_nan(value: SSAValue) -> bool:
    """
    Whether a NaN of f32 is quiet and has no bits that bf16 has not: processors compute it from that
    of an operand, or make one of their own, which has none.
    """
    waiting = [value]
    seen: set[SSAValue] = set()
    while waiting:
        read = waiting.pop()
        op = read.owner
        if read in seen or isinstance(op, arith.SIToFPOp):
            continue
        seen.add(read)
        if isinstance(op, arith.ConstantOp) and _is_short_constant(op):
            continue
        if isinstance(op, arith.ExtFOp) and get_element_type_or_self(op.input.type) == bf16:
            continue
        if not isinstance(op, _PASSING_ON):
            return False
        waiting += op.operands[1:] if isinstance(op, arith.SelectOp) else op.operands
    return isinstance(value.owner, _QUIETING)


def _is_short_constant(op: arith.ConstantOp) -> bool:
    """Whether no NaN among the numbers of f32 has bits that bf16 has not."""
    attribute = op.properties["value"]
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        data = cast("DenseIntOrFPElementsAttr[Any]", attribute).data.data
    else:
        number = cast("FloatAttr[AnyFloat]", attribute)
        data = number.type.pack((number.value.data,))
    words = memoryview(data).cast("I")
    return all(word & 0x7FFF_FFFF <= 0x7F80_0000 or not word & 0xFFFF for word in words)


SATURATING = "xla.saturating"
"""
The unit attribute of a float-to-integer cast whose results saturate and whose result for NaN
is 0, instead of being undefined.
"""


def flags_of(op: Operation) -> str:
    """What an operation promises of its numbers, as LLVM writes it, with a space after each."""
    attribute = op.properties.get("fastmath") or op.properties.get("overflowFlags")
    if not isinstance(attribute, FastMathAttrBase | arith.IntegerOverflowAttr):
        return ""
    if len(attribute.data) == _ALL_FAST_MATH_FLAGS:
        return "fast "
    return "".join(sorted(f"{flag.value} " for flag in attribute.data))


_ALL_FAST_MATH_FLAGS = len(arith.FastMathFlagsAttr("fast").data)


def arithmetic_type(e: FunctionEmitter, value: SSAValue) -> ValueType:
    """The type of a value; raises UnsupportedType for elements that LLVM has no arithmetic of."""
    type_ = e.type_of(value)
    if type_.element.kind not in (Kind.INTEGER, Kind.FLOAT) or type_.element is BF16:
        raise UnsupportedType(f"arithmetic of {value.type} must be expanded before")
    return type_


def emit_constant(e: FunctionEmitter, op: arith.ConstantOp) -> None:
    result, attribute = op.results[0], op.properties["value"]
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        e.values[result] = vector_literal(e.type_of(result), dense)
    else:
        e.values[result] = scalar_literal(attribute)


def _instruction(opcode: str) -> Handler:
    """An operation that is an instruction over operands of the result's type."""

    def emit(e: FunctionEmitter, op: Operation) -> None:
        result = op.results[0]
        type_ = arithmetic_type(e, result)
        operands = ", ".join([e.values[operand] for operand in op.operands])
        e.define(result, f"{opcode} {flags_of(op)}{type_.text} {operands}")

    return emit


def intrinsic(name: str, *flags: str) -> Handler:
    """
    An operation that is an intrinsic of LLVM over operands of the result's type, with the `flags`
    as last arguments.
    """

    def emit(e: FunctionEmitter, op: Operation) -> None:
        result = op.results[0]
        type_ = arithmetic_type(e, result)
        arguments = [f"{type_.text} {e.values[operand]}" for operand in op.operands]
        arguments += [f"i1 {flag}" for flag in flags]
        function = f"@llvm.{name}.{type_.suffix}"
        e.define(result, f"call {flags_of(op)}{type_.text} {function}({', '.join(arguments)})")

    return emit


def emit_cmpi(e: FunctionEmitter, op: arith.CmpiOp) -> None:
    lhs, rhs = op.operands
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    e.define(op.results[0], f"icmp {predicate} {e.typed(lhs)}, {e.values[rhs]}")


def emit_cmpf(e: FunctionEmitter, op: arith.CmpfOp) -> None:
    type_ = arithmetic_type(e, op.lhs)
    lhs, rhs = (e.values[operand] for operand in op.operands)
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    e.define(op.results[0], f"fcmp {flags_of(op)}{predicate} {type_.text} {lhs}, {rhs}")


def emit_select(e: FunctionEmitter, op: arith.SelectOp) -> None:
    condition, lhs, rhs = op.operands
    e.define(op.results[0], f"select {e.typed(condition)}, {e.typed(lhs)}, {e.typed(rhs)}")


def _cast(opcode: str) -> Handler:
    def emit(e: FunctionEmitter, op: Operation) -> None:
        operand, result = op.operands[0], op.results[0]
        source, target = arithmetic_type(e, operand), arithmetic_type(e, result)
        e.define(result, f"{opcode} {source.text} {e.values[operand]} to {target.text}")

    return emit


def _index_cast(extension: str) -> Handler:
    """`index` is a 64-bit integer: a cast extends, truncates or does nothing."""

    def emit(e: FunctionEmitter, op: Operation) -> None:
        operand, result = op.operands[0], op.results[0]
        source, target = e.type_of(operand), e.type_of(result)
        if source is target:
            e.values[result] = e.values[operand]
        else:
            opcode = extension if source.element.bits < target.element.bits else "trunc"
            e.define(result, f"{opcode} {e.typed(operand)} to {target.text}")

    return emit


def _float_to_integer(opcode: str) -> Handler:
    def emit(e: FunctionEmitter, op: Operation) -> None:
        operand, result = op.operands[0], op.results[0]
        source, target = arithmetic_type(e, operand), e.type_of(result)
        value = e.values[operand]
        if SATURATING in op.attributes:
            if source.element is F16:
                # With AVX512-FP16, LLVM 22 makes the smallest i16 of a NaN, not 0.
                single = source.with_element(F32)
                value = e.temporary(f"fpext {source.text} {value} to {single.text}")
                source = single
            name = f"llvm.{opcode}.sat.{target.suffix}.{source.suffix}"
            e.define(result, f"call {target.text} @{name}({source.text} {value})")
        else:
            e.define(result, f"{opcode} {source.text} {value} to {target.text}")

    return emit


def _rounded(e: FunctionEmitter, operand: SSAValue, single: ValueType) -> str:
    value = e.values[operand]
    return round_to_bf16(e, value, single, has_short_nan=has_short_nan(operand))


def _widened(e: FunctionEmitter, operand: SSAValue, type_: ValueType) -> str:
    return widen(e, e.values[operand], type_)


def _float_cast(
    opcode: str, by_hand: Callable[[FunctionEmitter, SSAValue, ValueType], str]
) -> Handler:
    """A cast between floats, that between bf16 and f32 `by_hand`."""
    plain = _cast(opcode)

    def emit(e: FunctionEmitter, op: Operation) -> None:
        operand, result = op.operands[0], op.results[0]
        source, target = e.type_of(operand), e.type_of(result)
        if {source.element, target.element} == {BF16, F32}:
            e.values[result] = by_hand(e, operand, source)
        else:
            plain(e, op)

    return emit


def emit_bitcast(e: FunctionEmitter, op: arith.BitcastOp) -> None:
    operand, result = op.operands[0], op.results[0]
    source, target = e.type_of(operand), e.type_of(result)
    if source.text == target.text:
        e.values[result] = e.values[operand]
        return
    # A float of 4 bits is a byte in a register, an integer of 4 bits is not.
    widths = source.element.bits, target.element.bits
    opcode = "zext" if widths[0] < widths[1] else "trunc" if widths[0] > widths[1] else "bitcast"
    e.define(result, f"{opcode} {source.text} {e.values[operand]} to {target.text}")


def _rounding_division(opcode: str, remainder: str, sign: str | None, step: str) -> Handler:
    """
    A division that rounds down (`step` is `sub`) or up (`add`): one step from the quotient
    rounded to zero, where there is a remainder and the exact quotient lies on that side.
    `sign` is the predicate that the product of the signs fulfils there, None if it is not asked.
    """

    def emit(e: FunctionEmitter, op: Operation) -> None:
        result = op.results[0]
        type_, flag = e.type_of(result), e.type_of(result).with_element(INTEGERS[1])
        lhs, rhs = (e.values[operand] for operand in op.operands)
        word = type_.text
        quotient = e.temporary(f"{opcode} {word} {lhs}, {rhs}")
        rest = e.temporary(f"{remainder} {word} {lhs}, {rhs}")
        adjust = e.temporary(f"icmp ne {word} {rest}, {type_.constant('0')}")
        if sign is not None:
            signs = e.temporary(f"xor {word} {lhs}, {rhs}")
            side = e.temporary(f"icmp {sign} {word} {signs}, {type_.constant('0')}")
            adjust = e.temporary(f"and {flag.text} {adjust}, {side}")
        amount = e.temporary(f"zext {flag.text} {adjust} to {word}")
        e.define(result, f"{step} {word} {quotient}, {amount}")

    return emit


def _extended_multiplication(extension: str) -> Handler:
    """The low and the high half of a product."""

    def emit(e: FunctionEmitter, op: Operation) -> None:
        low, high = op.results
        type_ = e.type_of(low)
        bits = type_.element.bits
        double = INTEGERS.get(2 * bits)
        if double is None:
            raise UnsupportedType(f"no product of {low.type}")
        wide = type_.with_element(double)
        lhs, rhs = (
            e.temporary(f"{extension} {type_.text} {e.values[x]} to {wide.text}")
            for x in op.operands
        )
        product = e.temporary(f"mul {wide.text} {lhs}, {rhs}")
        e.define(low, f"trunc {wide.text} {product} to {type_.text}")
        upper = e.temporary(f"lshr {wide.text} {product}, {wide.constant(str(bits))}")
        e.define(high, f"trunc {wide.text} {upper} to {type_.text}")

    return emit


def emit_addui_extended(e: FunctionEmitter, op: arith.AddUIExtendedOp) -> None:
    lhs, rhs = op.operands
    total, overflow = op.results
    type_ = e.type_of(total)
    e.define(total, f"add {type_.text} {e.values[lhs]}, {e.values[rhs]}")
    e.define(overflow, f"icmp ult {type_.text} {e.values[total]}, {e.values[lhs]}")


HANDLERS = (
    OperationTable[Handler]()
    .add(arith.ConstantOp, emit_constant)
    .add(arith.AddiOp, _instruction("add"))
    .add(arith.SubiOp, _instruction("sub"))
    .add(arith.MuliOp, _instruction("mul"))
    .add(arith.AddUIExtendedOp, emit_addui_extended)
    .add(arith.MulUIExtendedOp, _extended_multiplication("zext"))
    .add(arith.MulSIExtendedOp, _extended_multiplication("sext"))
    .add(arith.DivSIOp, _instruction("sdiv"))
    .add(arith.DivUIOp, _instruction("udiv"))
    .add(arith.RemSIOp, _instruction("srem"))
    .add(arith.RemUIOp, _instruction("urem"))
    .add(arith.FloorDivSIOp, _rounding_division("sdiv", "srem", "slt", "sub"))
    .add(arith.CeilDivSIOp, _rounding_division("sdiv", "srem", "sge", "add"))
    .add(arith.CeilDivUIOp, _rounding_division("udiv", "urem", None, "add"))
    .add(arith.AndIOp, _instruction("and"))
    .add(arith.OrIOp, _instruction("or"))
    .add(arith.XOrIOp, _instruction("xor"))
    .add(arith.ShLIOp, _instruction("shl"))
    .add(arith.ShRUIOp, _instruction("lshr"))
    .add(arith.ShRSIOp, _instruction("ashr"))
    .add(arith.MinSIOp, intrinsic("smin"))
    .add(arith.MaxSIOp, intrinsic("smax"))
    .add(arith.MinUIOp, intrinsic("umin"))
    .add(arith.MaxUIOp, intrinsic("umax"))
    .add(arith.AddfOp, _instruction("fadd"))
    .add(arith.SubfOp, _instruction("fsub"))
    .add(arith.MulfOp, _instruction("fmul"))
    .add(arith.DivfOp, _instruction("fdiv"))
    .add(RemFOp, _instruction("frem"))
    .add(arith.NegfOp, _instruction("fneg"))
    .add(arith.MaximumfOp, intrinsic("maximum"))
    .add(arith.MinimumfOp, intrinsic("minimum"))
    .add(arith.MaxnumfOp, intrinsic("maxnum"))
    .add(arith.MinnumfOp, intrinsic("minnum"))
    .add(arith.CmpiOp, emit_cmpi)
    .add(arith.CmpfOp, emit_cmpf)
    .add(arith.SelectOp, emit_select)
    .add(arith.ExtSIOp, _cast("sext"))
    .add(arith.ExtUIOp, _cast("zext"))
    .add(arith.TruncIOp, _cast("trunc"))
    .add(arith.ExtFOp, _float_cast("fpext", _widened))
    .add(arith.TruncFOp, _float_cast("fptrunc", _rounded))
    .add(arith.FPToSIOp, _float_to_integer("fptosi"))
    .add(arith.FPToUIOp, _float_to_integer("fptoui"))
    .add(arith.SIToFPOp, _cast("sitofp"))
    .add(arith.UIToFPOp, _cast("uitofp"))
    .add(arith.IndexCastOp, _index_cast("sext"))
    .add(IndexCastUIOp, _index_cast("zext"))
    .add(arith.BitcastOp, emit_bitcast)
)
