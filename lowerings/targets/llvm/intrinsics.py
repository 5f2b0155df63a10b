"""`llvm.call_intrinsic`: instructions of some processors, and what others do instead."""

from __future__ import annotations

from xdsl.dialects.llvm import CallIntrinsicOp
from xdsl.ir import Operation

from lowerings.ir.dot_products import BY_NAME, QUADS
from lowerings.targets.llvm.arith import widen
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter
from lowerings.targets.llvm.types import (
    BF16,
    F32,
    I1,
    INTEGERS,
    UnsupportedType,
    ValueType,
    value_type,
)
from lowerings.targets.llvm.vector import shuffled

_LEAST_NORMAL = 2.0**-126


def emit_call(e: FunctionEmitter, op: Operation) -> None:
    """
    The instruction, or where it is not known that the processor has it, what it does.

    Raises UnsupportedType for intrinsics that are not known.
    """
    assert isinstance(op, CallIntrinsicOp)
    name = op.intrin.data
    known = BY_NAME.get(name)
    if known is None:
        raise UnsupportedType(f"an intrinsic that is not known here: {name}")
    product, lanes = known
    total, lhs, rhs = (e.values[operand] for operand in op.args)
    type_ = e.type_of(op.args[0])
    if product.is_of(e.symbols.features):
        words = e.type_of(op.args[1])
        if words.element is BF16:
            # Elsewhere numbers of bf16 are integers to LLVM.
            bfloats = f"<{words.lanes} x bfloat>"
            lhs, rhs = (
                e.temporary(f"bitcast {words.text} {each} to {bfloats}") for each in (lhs, rhs)
            )
            operands = f"{type_.text} {total}, {bfloats} {lhs}, {bfloats} {rhs}"
        else:
            operands = ", ".join(map(e.typed, op.args))
        e.define(op.results[0], f"call {type_.text} @{name}({operands})")
    elif product is QUADS:
        e.values[op.results[0]] = _add_quads(e, type_, total, lhs, rhs)
    else:
        e.values[op.results[0]] = _add_bfloats(e, lanes, total, lhs, rhs)


def _add_quads(e: FunctionEmitter, sums: ValueType, total: str, unsigned: str, signed: str) -> str:
    lanes = sums.lanes or 0
    narrow, wide = (value_type(INTEGERS[bits], 4 * lanes) for bits in (8, 32))
    lhs = e.temporary(f"zext {narrow.text} {unsigned} to {wide.text}")
    rhs = e.temporary(f"sext {narrow.text} {signed} to {wide.text}")
    products = e.temporary(f"mul {wide.text} {lhs}, {rhs}")
    for first in range(4):
        total = e.temporary(f"add {sums.text} {total}, {_every(e, wide, products, 4, first)}")
    return total


def _add_bfloats(e: FunctionEmitter, lanes: int, total: str, lhs: str, rhs: str) -> str:
    words, singles = value_type(BF16, 2 * lanes), value_type(F32, lanes)
    for term in (1, 0):
        x, y = (
            _flushed(e, singles, widen(e, _every(e, words, each, 2, term), value_type(BF16, lanes)))
            for each in (lhs, rhs)
        )
        total = _flushed(e, singles, total)
        total = _flushed(e, singles, e.call("fma", singles, x, y, total))
    return total


def _every(e: FunctionEmitter, type_: ValueType, operand: str, step: int, first: int) -> str:
    """Every so many elements of a vector."""
    return shuffled(e, type_, operand, range(first, type_.lanes or 0, step))


def _flushed(e: FunctionEmitter, type_: ValueType, operand: str) -> str:
    """Numbers, those that are subnormal as zero of their sign."""
    text, mask = type_.text, type_.with_element(I1).text
    magnitude = e.call("fabs", type_, operand)
    least, zero = (float_constant(type_, each) for each in (_LEAST_NORMAL, 0.0))
    is_small = e.temporary(f"fcmp olt {text} {magnitude}, {least}")
    signed = e.call("copysign", type_, zero, operand)
    return e.temporary(f"select {mask} {is_small}, {text} {signed}, {text} {operand}")
