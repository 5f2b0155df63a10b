"""The pass `expand-small-floats`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import Float64Type, ModuleOp, VectorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.dialects.arith_extension import with_element_type
from lowerings.ir.float_formats import small_float
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import FunctionConstants
from lowerings.loops.math_functions.numbers import Number
from lowerings.loops.small_float_conversion import (
    extended_to_single,
    rounded_from_single,
    rounded_to_odd,
)
from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.failure import rewrites_op
from lowerings.rewriting.levels import EVERY_LEVEL
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import operations_in

CONVERSIONS = (arith.ExtFOp, arith.TruncFOp)

MOVES = (arith.ConstantOp, arith.SelectOp, arith.BitcastOp)
"""Operations that take the codes of small floats as they are."""


@dataclass(frozen=True)
class ExpandSmallFloatsPass(ReportingPass):
    """
    Arithmetic of floats of 4 to 8 bits, of scalars and vectors, to integer arithmetic and f32.

    Conversions become integer arithmetic on the codes, with one rounding to nearest, ties to even.
    Any other operation of arith and math is done in f32 and its result is rounded. Integers that
    become small floats are rounded to f32 before.

    ```mlir
    %1 = arith.extf %0 : f8E8M0FNU to f32
    ```
    ->
    ```mlir
    %1 = arith.bitcast %0 : f8E8M0FNU to i8
    %2 = arith.extui %1 : i8 to i32
    %3 = arith.shli %2, %c23 : i32
    %4 = arith.cmpi eq, %2, %c0 : i32
    %5 = arith.select %4, %half_of_smallest_normal, %3 : i32
    %6 = arith.cmpi eq, %2, %c255 : i32
    %7 = arith.select %6, %quiet_nan, %5 : i32
    %8 = arith.bitcast %7 : i32 to f32
    ```
    """

    name = "expand-small-floats"
    takes = EVERY_LEVEL

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through every function."""
        functions = [each for each in op.body.block.ops if isinstance(each, func.FuncOp)]
        changed = [expand_function(each) for each in functions if each.body.blocks]
        return any(changed)


def expand_function(function: func.FuncOp) -> bool:
    """Expands what a function computes of small floats; whether there was anything."""
    found = [op for op in operations_in(function) if _computes(type(op)) and _has_small_floats(op)]
    if not found:
        return False
    builder = LoopBuilder(FunctionConstants(function.body.blocks[0]))
    for op in found:
        attempt(partial(_expand, op, builder))
    return True


@rewrites_op
def _expand(op: Operation, builder: LoopBuilder) -> None:
    builder.location = op.location
    operands = [_extended(Number(builder, operand)) for operand in op.operands]
    result = _evaluate(op, operands, builder)
    builder.insert_before(op)
    op.results[0].replace_all_uses_with(result.value)
    erase(op)


@cache
def _computes(op_class: type[Operation]) -> bool:
    """Whether operations of a class are of arith or math and depend on the values of floats."""
    return op_class.name.partition(".")[0] in ("arith", "math") and not issubclass(op_class, MOVES)


def _has_small_floats(op: Operation) -> bool:
    return any(
        small_float(_element_type(value.type)) is not None for value in (*op.operands, *op.results)
    )


def _element_type(type_: Attribute) -> Attribute:
    if type(type_) is VectorType:
        return type_.element_type
    return type_


def _extended(number: Number) -> Number:
    """A small float as f32; any other number itself."""
    format_ = small_float(number.element_type)
    return number if format_ is None else extended_to_single(number, format_)


def _evaluate(op: Operation, operands: list[Number], builder: LoopBuilder) -> Number:
    """The result of an operation whose operands have been extended."""
    result = op.results[0]
    element_type = _element_type(result.type)
    format_ = small_float(element_type)
    if isinstance(op, CONVERSIONS):
        (number,) = operands
    else:
        number = Number(builder, _repeated(op, operands, builder, in_single=format_ is not None))
    if format_ is None:
        return number if number.type == result.type else _converted(number, element_type)
    return rounded_from_single(_as_single(number), format_, element_type)


def _repeated(
    op: Operation, operands: list[Number], builder: LoopBuilder, *, in_single: bool
) -> SSAValue:
    """The operation on other operands, its result in f32 if it was a small float."""
    result_type = op.results[0].type
    repeated = create(
        type(op),
        operands=[operand.value for operand in operands],
        result_types=[with_element_type(result_type, f32) if in_single else result_type],
        properties=op.properties,
        attributes=op.attributes,
    )
    return builder.add(repeated).results[0]


def _as_single(number: Number) -> Number:
    """A float of 16, 32 or 64 bits as f32, an f64 so that rounding it again does no harm."""
    if isinstance(number.element_type, Float64Type):
        return rounded_to_odd(number)
    return number if number.element_type == f32 else number.extended()


def _converted(number: Number, element_type: Attribute) -> Number:
    """The f32 that a small float was, as f64 or a float of 16 bits."""
    if isinstance(element_type, Float64Type):
        return number.extended(element_type)
    return number.truncated(element_type)
