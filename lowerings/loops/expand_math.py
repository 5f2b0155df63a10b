"""The pass `expand-math`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import TypeAlias, cast

from xdsl.dialects import func, math
from xdsl.dialects.builtin import (
    LocationAttr,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.type import get_element_type_or_self

from lowerings.ir.functions import INLINED, NO_INLINE, SymbolNames
from lowerings.ir.locations import fused
from lowerings.ir.target import Target
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.math_functions import exponential, logarithm, power, roots, trigonometric
from lowerings.loops.math_functions.numbers import FORMATS, NARROW_TYPES, Number
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.failure import rewrites_op
from lowerings.rewriting.levels import EVERY_LEVEL
from lowerings.rewriting.passes import FunctionPass, ResultDifference
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in

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
    math.TanhOp: exponential.tanh,
    math.ErfOp: exponential.erf,
    math.SinOp: trigonometric.sin,
    math.CosOp: trigonometric.cos,
    math.TanOp: trigonometric.tan,
    math.AtanOp: trigonometric.atan,
    math.Atan2Op: trigonometric.atan2,
    math.CbrtOp: roots.cbrt,
    math.PowFOp: power.powf,
}
"""How each function is computed."""

CALLED_FUNCTIONS: dict[str, Callable[[], Sequence[Operation]]] = {
    trigonometric.REDUCTION: trigonometric.definitions,
}
"""What is added to the module where an expansion calls a function, by its name."""


MAX_COPIES = 8
"""A function with more uses on operands of one type is expanded once, into a function."""

MAX_INLINED = 512
"""
So many operations that one function becomes in another are inlined there; where it is more, each
use is a call. Those are as quick: in a body of that size no instruction overlaps with the next
iteration anyway. A chain of 64 sines takes 0.09 s to compile rather than 0.28.
"""

Use: TypeAlias = tuple[type[Operation], tuple[Attribute, ...]]
"""A function and the types of its operands."""


@dataclass(frozen=True)
class ExpandMathPass(FunctionPass):
    """
    Elementary functions of scalars and vectors to arithmetic.

    Roots, absolute values, roundings, `math.fma` and bit counts stay: processors have them.
    Functions of f16 and bf16 are computed in f32. Each function says how exact it is. What is used
    often becomes a function of the module, which LLVM inlines where a few uses are. `math.rsqrt` of
    f32 stays, too, where the target estimates roots, and `math.exp` of f32 where it multiplies by
    powers of two in one instruction.

    ```mlir
    %1 = math.rsqrt %0 : vector<8xf64>
    ```
    ->
    ```mlir
    %one = arith.constant dense<1.0> : vector<8xf64>
    %1 = math.sqrt %0 : vector<8xf64>
    %2 = arith.divf %one, %1 : vector<8xf64>
    ```
    """

    name = "expand-math"
    takes = EVERY_LEVEL
    difference = ResultDifference(
        16,
        "functions become polynomials",
        inputs=("plain", "special", "limits"),
        where=lambda op: type(op) in EXPANSIONS,
    )

    def on_functions(self, module: ModuleOp) -> Callable[[func.FuncOp], bool]:
        """One for a module, with the functions that it adds."""
        return MathExpansion(module).expand


class MathExpansion:
    """The elementary functions of a module, and what they become."""

    def __init__(self, module: ModuleOp):
        self.module = module
        target = Target.of(module)
        self.left = {
            op_class
            for op_class, is_left in (
                (math.RsqrtOp, target.estimates_roots),
                (math.ExpOp, target.scales_by_powers),
            )
            if is_left
        }
        """What the target has instructions for, in f32."""
        self.names = SymbolNames(module)
        self._shared: dict[Use, tuple[str, int]] = {}
        """The functions that were added, with the number of their operations."""

    def expand(self, function: func.FuncOp) -> bool:
        """Expands those of a function; whether there are any."""
        ops = [op for op in operations_in(function) if self._expands(op)]
        uses: dict[Use, list[Operation]] = {}
        for op in ops:
            uses.setdefault(_use(op), []).append(op)
        for use, same in uses.items():
            if len(same) > MAX_COPIES and use not in self._shared:
                self._share(use, fused(op.location for op in same))
        if ops:
            builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
            for op in ops:
                attempt(partial(self._expand, op, builder, len(uses[_use(op)])))
            self._add_called(builder)
        return bool(ops)

    def _add_called(self, builder: LoopBuilder) -> None:
        """Adds the functions that expansions call, unless the module has them."""
        for name in sorted(builder.called - self.names.taken):
            self.names.taken.add(name)
            self.module.body.block.add_ops(CALLED_FUNCTIONS[name]())

    def _expands(self, op: Operation) -> bool:
        if type(op) not in EXPANSIONS:
            return False
        element = get_element_type_or_self(op.operands[0].type)
        if type(op) in self.left:
            return element != f32
        # What nothing is known of is refused where it is printed.
        return type(element) in FORMATS or isinstance(element, NARROW_TYPES)

    def _share(self, use: Use, location: LocationAttr) -> None:
        """Adds a function that computes a use, of operations at a location."""
        op_class, types = use
        block = Block(arg_types=types)
        builder = LoopBuilder(FunctionConstants(block))
        builder.location = location
        operands = [Number(builder, argument) for argument in block.args]
        result = evaluate(EXPANSIONS[op_class], operands)
        builder.add(func.ReturnOp(result.value))
        block.add_ops(builder.ops)
        self._add_called(builder)
        stem = f"{op_class.name.removeprefix('math.')}.{_spelled(types[0])}"
        name = self.names.take(chain([stem], (f"{stem}.{number}" for number in count(1))))
        self._shared[use] = name, len(operations_in(block))
        function = func.FuncOp(name, (types, [result.value.type]), Region(block), "private")
        function.attributes[INLINED] = UnitAttr()
        function.location = location
        self.module.body.block.add_op(function)

    @rewrites_op
    def _expand(self, op: Operation, builder: LoopBuilder, uses: int) -> None:
        builder.location = op.location
        shared = self._shared.get(_use(op))
        if shared is not None:
            name, size = shared
            call = builder.add(
                create(
                    func.CallOp,
                    operands=op.operands,
                    result_types=op.result_types,
                    properties={"callee": SymbolRefAttr(name)},
                )
            )
            if uses * size > MAX_INLINED:
                call.attributes[NO_INLINE] = UnitAttr()
            (value,) = call.results
        else:
            operands = [Number(builder, operand) for operand in op.operands]
            value = evaluate(EXPANSIONS[type(op)], operands).value
        builder.insert_before(op)
        op.results[0].replace_all_uses_with(value)
        erase(op)


def _use(op: Operation) -> Use:
    return type(op), tuple(operand.type for operand in op.operands)


def _spelled(type_: Attribute) -> str:
    """A type in a name: `16xf32`."""
    if isinstance(type_, VectorType):
        own = cast("VectorType[Attribute]", type_)
        return "x".join([*map(str, own.get_shape()), str(own.element_type)])
    return str(type_)


def evaluate(expansion: Expansion, operands: list[Number]) -> Number:
    """A function of operands of one type, in a type that is wide enough."""
    element_type = operands[0].element_type
    if not isinstance(element_type, NARROW_TYPES):
        return expansion(*operands)
    return expansion(*(operand.extended() for operand in operands)).truncated(element_type)
