"""`math`: functions that LLVM compiles to a few instructions; `expand-math` expands the others."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.ir import Operation

from lowerings.ir.processor_features import ROOT_ESTIMATES
from lowerings.targets.llvm.arith import arithmetic_type, intrinsic
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import F32, I1, ValueType, value_type
from lowerings.targets.llvm.vector import resized
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
    x = e.values[op.operands[0]]
    if type_.element is not F32 or lanes is None or not ROOT_ESTIMATES.issubset(e.symbols.features):
        one = float_constant(arithmetic_type(e, op.results[0]), 1.0)
        e.define(op.results[0], f"fdiv {type_.text} {one}, {e.call('sqrt', type_, x)}")
        return
    text = type_.text
    root = _estimate(e, type_, lanes, x)
    one, half = (float_constant(type_, each) for each in (1.0, 0.5))
    product = e.temporary(f"fmul {text} {x}, {root}")
    negated = e.temporary(f"fneg {text} {product}")
    rest = e.call("fma", type_, negated, root, one)
    halved = e.temporary(f"fmul {text} {root}, {half}")
    better = e.call("fma", type_, halved, rest, root)
    # Of zero and infinity the estimate is the result, and its product with them NaN.
    is_last = e.temporary(f"fcmp uno {text} {rest}, {rest}")
    mask = type_.with_element(I1).text
    e.define(op.results[0], f"select {mask} {is_last}, {text} {root}, {text} {better}")


def _estimate(e: FunctionEmitter, type_: ValueType, lanes: int, x: str) -> str:
    """The processor's, in the first lanes of a vector that it has."""
    wide = value_type(F32, lanes)
    if type_.lanes is None:
        x = e.temporary(f"insertelement {wide.text} poison, {type_.text} {x}, i32 0")
    else:
        x = resized(e, type_, x, lanes)
    mask = f"i{max(8, lanes)}"
    root = e.temporary(
        f"call {wide.text} @llvm.x86.avx512.rsqrt14.ps.{32 * lanes}("
        f"{wide.text} {x}, {wide.text} zeroinitializer, {mask} -1)"
    )
    if type_.lanes is None:
        return e.temporary(f"extractelement {wide.text} {root}, i32 0")
    return resized(e, wide, root, type_.lanes)


HANDLERS = (
    OperationTable[Handler]()
    .add(math.SqrtOp, intrinsic("sqrt"))
    .add(math.RsqrtOp, emit_rsqrt)
    .add(math.FmaOp, intrinsic("fma"))
    .add(math.FloorOp, intrinsic("floor"))
    .add(math.CeilOp, intrinsic("ceil"))
    .add(math.TruncOp, intrinsic("trunc"))
    .add(math.RoundEvenOp, intrinsic("roundeven"))
    .add(math.RoundOp, intrinsic("round"))
    .add(math.CopySignOp, intrinsic("copysign"))
    .add(math.AbsFOp, intrinsic("fabs"))
    .add(math.AbsIOp, intrinsic("abs", "false"))
    .add(math.CountLeadingZerosOp, intrinsic("ctlz", "false"))
    .add(math.CountTrailingZerosOp, intrinsic("cttz", "false"))
    .add(math.CtPopOp, intrinsic("ctpop"))
)
