"""`math`: functions that LLVM compiles to a few instructions; `expand-math` expands the others."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.ir import Operation

from lowerings.targets.llvm.arith import emit_fma, float_call, integer_call
from lowerings.targets.llvm.emitter import Handler

HANDLERS: dict[type[Operation], Handler] = {
    math.SqrtOp: float_call("sqrt"),
    math.FmaOp: emit_fma,
    math.FloorOp: float_call("floor"),
    math.CeilOp: float_call("ceil"),
    math.TruncOp: float_call("trunc"),
    math.RoundEvenOp: float_call("roundeven"),
    math.RoundOp: float_call("round"),
    math.CopySignOp: float_call("copysign"),
    math.AbsFOp: float_call("fabs"),
    math.AbsIOp: integer_call("abs", "false"),
    math.CountLeadingZerosOp: integer_call("ctlz", "false"),
    math.CountTrailingZerosOp: integer_call("cttz", "false"),
    math.CtPopOp: integer_call("ctpop"),
}
