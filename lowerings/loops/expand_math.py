"""The pass `expand-math`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import func, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.loops.builder import FunctionConstants, LoopBuilder
from lowerings.loops.math_functions import (
    error_function,
    exponential,
    hyperbolic,
    logarithm,
    roots,
)
from lowerings.loops.math_functions.numbers import NARROW_TYPES, Number

Expansion: TypeAlias = Callable[..., Number]
"""From the operands of a function, in f32 or f64, to its value."""

EXPANSIONS: dict[type[Operation], Expansion] = {
    math.ExpOp: exponential.exp,
    math.Exp2Op: exponential.exp2,
    math.ExpM1Op: exponential.expm1,
    math.LogOp: logarithm.log_e,
    math.Log2Op: logarithm.log_2,
    math.Log10Op: logarithm.log_10,
    math.Log1pOp: logarithm.log1p,
    math.RsqrtOp: roots.rsqrt,
    math.TanhOp: hyperbolic.tanh,
    math.ErfOp: error_function.erf,
}
"""How each function is computed."""


@dataclass(frozen=True)
class ExpandMathPass(ModulePass):
    """
    Elementary functions of scalars and vectors to arithmetic.

    Roots, absolute values, roundings, `math.fma` and bit counts stay: processors have them.
    Functions of f16 and bf16 are computed in f32. Each function says how exact it is.

    ```mlir
    %1 = math.rsqrt %0 : vector<16xf32>
    ```
    ->
    ```mlir
    %one = arith.constant dense<1.0> : vector<16xf32>
    %1 = math.sqrt %0 : vector<16xf32>
    %2 = arith.divf %one, %1 : vector<16xf32>
    ```
    """

    name = "expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if isinstance(function, func.FuncOp) and function.body.blocks:
                expand_function(function)


def expand_function(function: func.FuncOp) -> None:
    """Expands what a function computes."""
    found = [op for op in function.walk() if type(op) in EXPANSIONS]
    if not found:
        return
    builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
    for op in found:
        operands = [Number(builder, operand) for operand in op.operands]
        result = evaluate(EXPANSIONS[type(op)], operands)
        builder.insert_before(op)
        op.results[0].replace_all_uses_with(result.value)
        block = op.parent
        assert block is not None
        block.erase_op(op)


def evaluate(expansion: Expansion, operands: list[Number]) -> Number:
    """A function of operands of one type, in a type that is wide enough."""
    element_type = operands[0].element_type
    if not isinstance(element_type, NARROW_TYPES):
        return expansion(*operands)
    return expansion(*(operand.extended() for operand in operands)).truncated(element_type)
