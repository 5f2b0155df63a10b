"""`math`: functions that LLVM compiles to a few instructions; `expand-math` expands the others."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.ir import Operation

from lowerings.ir.processor_features import ROOT_ESTIMATES
from lowerings.targets.llvm.arith import emit_float, float_call, integer_call
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import F32, I1, ValueType, value_type
from xla_dialect.xdsl.operation_table import OperationTable

_LANES = (4, 8, 16)
"""Of the vectors that there are instructions for."""


def emit_rsqrt(e: FunctionEmitter, op: Operation) -> None:
    """
    One over the square root: in f32 the estimate and a step of Newton's, at most 1.1 ULP, the same
    in vectors of all widths; elsewhere a root and a division.
    """
    type_ = e.type_of(op.results[0])
    lanes = next((each for each in _LANES if (type_.lanes or 1) <= each), None)
    if type_.element is not F32 or lanes is None or not ROOT_ESTIMATES.issubset(e.symbols.features):
        emit_float(e, op, lambda type_, operands: _divide(e, type_, operands[0]))
        return
    text, x = type_.text, e.values[op.operands[0]]
    root = _estimate(e, type_, lanes, x)
    one, half = (float_constant(type_, each) for each in (1.0, 0.5))
    product = e.temporary(f"fmul {text} {x}, {root}")
    negated = e.temporary(f"fneg {text} {product}")
    operands = ", ".join(f"{text} {each}" for each in (negated, root, one))
    rest = e.temporary(f"call {text} @llvm.fma.{type_.suffix}({operands})")
    halved = e.temporary(f"fmul {text} {root}, {half}")
    operands = ", ".join(f"{text} {each}" for each in (halved, rest, root))
    better = e.temporary(f"call {text} @llvm.fma.{type_.suffix}({operands})")
    # Of zero and infinity the estimate is the result, and its product with them NaN.
    is_last = e.temporary(f"fcmp uno {text} {rest}, {rest}")
    mask = type_.with_element(I1).text
    e.define(op.results[0], f"select {mask} {is_last}, {text} {root}, {text} {better}")


def _divide(e: FunctionEmitter, type_: ValueType, x: str) -> str:
    root = e.temporary(f"call {type_.text} @llvm.sqrt.{type_.suffix}({type_.text} {x})")
    return f"fdiv {type_.text} {float_constant(type_, 1.0)}, {root}"


def _estimate(e: FunctionEmitter, type_: ValueType, lanes: int, x: str) -> str:
    """The processor's, in the first lanes of a vector that it has."""
    wide = value_type(F32, lanes)
    if type_.lanes is None:
        x = e.temporary(f"insertelement {wide.text} poison, {type_.text} {x}, i32 0")
    elif type_.lanes != lanes:
        x = _resized(e, type_, x, lanes)
    mask = f"i{max(8, lanes)}"
    root = e.temporary(
        f"call {wide.text} @llvm.x86.avx512.rsqrt14.ps.{32 * lanes}("
        f"{wide.text} {x}, {wide.text} zeroinitializer, {mask} -1)"
    )
    if type_.lanes is None:
        return e.temporary(f"extractelement {wide.text} {root}, i32 0")
    return root if type_.lanes == lanes else _resized(e, wide, root, type_.lanes)


def _resized(e: FunctionEmitter, type_: ValueType, x: str, lanes: int) -> str:
    """The first lanes of a vector; further ones are poison."""
    chosen = [f"i32 {lane if lane < (type_.lanes or 0) else 'poison'}" for lane in range(lanes)]
    return e.temporary(
        f"shufflevector {type_.text} {x}, {type_.text} poison, "
        f"<{lanes} x i32> <{', '.join(chosen)}>"
    )


HANDLERS = (
    OperationTable[Handler]()
    .add(math.SqrtOp, float_call("sqrt"))
    .add(math.RsqrtOp, emit_rsqrt)
    .add(math.FmaOp, float_call("fma"))
    .add(math.FloorOp, float_call("floor"))
    .add(math.CeilOp, float_call("ceil"))
    .add(math.TruncOp, float_call("trunc"))
    .add(math.RoundEvenOp, float_call("roundeven"))
    .add(math.RoundOp, float_call("round"))
    .add(math.CopySignOp, float_call("copysign"))
    .add(math.AbsFOp, float_call("fabs"))
    .add(math.AbsIOp, integer_call("abs", "false"))
    .add(math.CountLeadingZerosOp, integer_call("ctlz", "false"))
    .add(math.CountTrailingZerosOp, integer_call("cttz", "false"))
    .add(math.CtPopOp, integer_call("ctpop"))
)
