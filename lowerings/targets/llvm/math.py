"""`math`: functions that LLVM compiles to a few instructions; `expand-math` expands the others."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from xdsl.dialects import math
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation

from lowerings.ir.float_formats import FLOAT_FORMATS
from lowerings.ir.processor_features import ROOT_ESTIMATES, SCALING
from lowerings.loops.math_functions.exponential import EXP_Q, EXP_RANGE, LN2
from lowerings.targets.llvm.arith import arithmetic_type, intrinsic
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import F32, I1, UnsupportedType, ValueType, value_type
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
    lanes = _lanes(type_)
    x = e.values[op.operands[0]]
    if type_.element is not F32 or lanes is None or not ROOT_ESTIMATES.issubset(e.symbols.features):
        one = float_constant(arithmetic_type(e, op.results[0]), 1.0)
        e.define(op.results[0], f"fdiv {type_.text} {one}, {e.call('sqrt', type_, x)}")
        return
    text = type_.text
    root = _instruction(e, "rsqrt14", type_, lanes, (x,))
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


def emit_exp(e: FunctionEmitter, op: Operation) -> None:
    """
    `exp(x) = 2**n * exp(r)` with `r = x - n * ln 2`, as `expand-math` has it, but multiplied by the
    power of two in one instruction that rounds once: at most 1.0 ULP. Raises UnsupportedType where
    there is none.
    """
    type_ = e.type_of(op.results[0])
    lanes = _lanes(type_)
    x = e.values[op.operands[0]]
    if type_.element is not F32 or lanes is None or not SCALING.issubset(e.symbols.features):
        raise UnsupportedType("must be expanded by expand-math")
    text, condition = type_.text, type_.with_element(I1).text

    def number(value: float) -> str:
        return float_constant(type_, value)

    for comparison, bound in zip(("olt", "ogt"), map(number, EXP_RANGE[32]), strict=True):
        is_beyond = e.temporary(f"fcmp {comparison} {text} {x}, {bound}")
        x = e.temporary(f"select {condition} {is_beyond}, {text} {bound}, {text} {x}")
    shift = number(FLOAT_FORMATS[Float32Type].rounding_shift)
    shifted = e.call("fma", type_, x, number(1 / log(2)), shift)
    n = e.temporary(f"fsub {text} {shifted}, {shift}")
    for part in LN2[32]:
        x = e.call("fma", type_, n, number(-part), x)
    *coefficients, near = map(number, (1.0, 1.0, *EXP_Q[32]))
    for coefficient in reversed(coefficients):
        near = e.call("fma", type_, near, x, coefficient)
    e.values[op.results[0]] = _instruction(e, "mask.scalef", type_, lanes, (near, n))


def _lanes(type_: ValueType) -> int | None:
    """Those of the smallest vector that there are instructions for with as many as a type has."""
    return next((each for each in _LANES if (type_.lanes or 1) <= each), None)


def _instruction(
    e: FunctionEmitter, name: str, type_: ValueType, lanes: int, operands: Sequence[str]
) -> str:
    """One of AVX-512, in the first lanes of vectors that it has."""
    wide = value_type(F32, lanes)
    if type_.lanes is None:
        operands = [
            e.temporary(f"insertelement {wide.text} poison, {type_.text} {each}, i32 0")
            for each in operands
        ]
    else:
        operands = [resized(e, type_, each, lanes) for each in operands]
    given = ", ".join(f"{wide.text} {each}" for each in (*operands, "zeroinitializer"))
    # What is masked takes a rounding too, in the widest vectors: that of the processor's state.
    rounding = ", i32 4" if lanes == _LANES[-1] and name.startswith("mask.") else ""
    result = e.temporary(
        f"call {wide.text} @llvm.x86.avx512.{name}.ps.{32 * lanes}("
        f"{given}, i{max(8, lanes)} -1{rounding})"
    )
    if type_.lanes is None:
        return e.temporary(f"extractelement {wide.text} {result}, i32 0")
    return resized(e, wide, result, type_.lanes)


HANDLERS = (
    OperationTable[Handler]()
    .add(math.SqrtOp, intrinsic("sqrt"))
    .add(math.RsqrtOp, emit_rsqrt)
    .add(math.ExpOp, emit_exp)
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
