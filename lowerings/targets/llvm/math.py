"""`math`: functions that LLVM compiles to a few instructions; `expand-math` expands the others."""

from __future__ import annotations

from xdsl.dialects import math

from lowerings.targets.llvm.arith import emit_fma, float_call, integer_call
from lowerings.targets.llvm.emitter import Handler
from lowerings.targets.llvm.reciprocal_roots import emit_rsqrt
from xla_dialect.xdsl.operation_table import OperationTable

HANDLERS = (
    OperationTable[Handler]()
    .add(math.SqrtOp, float_call("sqrt"))
    .add(math.RsqrtOp, emit_rsqrt)
    .add(math.FmaOp, emit_fma)
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
