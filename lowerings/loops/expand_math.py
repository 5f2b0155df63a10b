"""The pass `expand-math`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import func, math
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.math_functions import (
    arctangent,
    error_function,
    exponential,
    hyperbolic,
    large_arguments,
    logarithm,
    power,
    roots,
    trigonometric,
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
    math.SinOp: trigonometric.sin,
    math.CosOp: trigonometric.cos,
    math.TanOp: trigonometric.tan,
    math.AtanOp: arctangent.atan,
    math.Atan2Op: arctangent.atan2,
    math.CbrtOp: roots.cbrt,
    math.PowFOp: power.powf,
}
"""How each function is computed."""

CALLED_FUNCTIONS: dict[str, Callable[[], Sequence[Operation]]] = {
    large_arguments.REDUCTION: large_arguments.definitions,
}
"""What is added to the module where an expansion calls a function, by its name."""


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
        called: set[str] = set()
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                called |= expand_function(function)
        defined = {
            symbol.data
            for each in op.body.block.ops
            if isinstance(symbol := each.properties.get("sym_name"), StringAttr)
        }
        for name in sorted(called - defined):
            op.body.block.add_ops(CALLED_FUNCTIONS[name]())


def expand_function(function: func.FuncOp) -> set[str]:
    """Expands what a function computes; returns the names of functions that it calls then."""
    found = [op for op in function.walk() if type(op) in EXPANSIONS]
    if not found:
        return set()
    builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
    for op in found:
        operands = [Number(builder, operand) for operand in op.operands]
        result = evaluate(EXPANSIONS[type(op)], operands)
        builder.insert_before(op)
        op.results[0].replace_all_uses_with(result.value)
        block = op.parent
        assert block is not None
        block.erase_op(op)
    return builder.called


def evaluate(expansion: Expansion, operands: list[Number]) -> Number:
    """A function of operands of one type, in a type that is wide enough."""
    element_type = operands[0].element_type
    if not isinstance(element_type, NARROW_TYPES):
        return expansion(*operands)
    return expansion(*(operand.extended() for operand in operands)).truncated(element_type)
