"""Scalar operations whose result is known without running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.ir.scalar_attributes import scalar_attribute

Number = Any
"""A numpy float of the precision of the type, or a Python integer."""

_FLOATS: dict[type[Attribute], Callable[[float], Number]] = {
    Float32Type: np.float32,
    Float64Type: np.float64,
}


def number_of(attribute: Attribute) -> Number | None:
    """The value of a scalar attribute; None for types that are not folded."""
    if isinstance(attribute, IntegerAttr):
        return int(cast("IntegerAttr[Any]", attribute).value.data)
    if isinstance(attribute, FloatAttr):
        value = cast("FloatAttr[Any]", attribute)
        make = _FLOATS.get(type(cast(Attribute, value.type)))
        return None if make is None else make(value.value.data)
    return None


_BINARY: dict[type[Operation], Callable[[Number, Number], Number]] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.AddiOp: int.__add__,
    arith.SubiOp: int.__sub__,
    arith.MuliOp: int.__mul__,
    arith.AndIOp: int.__and__,
    arith.OrIOp: int.__or__,
    arith.XOrIOp: int.__xor__,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
}

_ORDERED: dict[str, Callable[[Number, Number], Any]] = {
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "une": np.not_equal,
}

_SIGNED: dict[str, Callable[[Number, Number], bool]] = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "slt": int.__lt__,
    "sle": int.__le__,
    "sgt": int.__gt__,
    "sge": int.__ge__,
}


def fold(
    op: Operation, operands: Sequence[SSAValue], constants: Sequence[Attribute | None]
) -> Attribute | SSAValue | None:
    """
    The result of an operation on these operands: a constant, one of the operands, or unknown.

    `constants` has an attribute for each operand that is constant. Results are exactly those of
    running the operation.
    """
    if isinstance(op, arith.SelectOp):
        return _fold_select(operands, constants)
    if len(operands) == 2 and constants[1] is not None and constants[0] is None:
        return operands[0] if _is_neutral(op, number_of(constants[1])) else None
    numbers = [None if c is None else number_of(c) for c in constants]
    if not numbers or any(number is None for number in numbers):
        return None
    result_type = op.results[0].type
    with np.errstate(all="ignore"):
        number = _compute(op, numbers)
    if number is None or number != number:
        return None
    return scalar_attribute(number, result_type)


_TRUE, _FALSE = IntegerAttr(-1, i1), IntegerAttr(0, i1)


def _fold_select(
    operands: Sequence[SSAValue], constants: Sequence[Attribute | None]
) -> SSAValue | None:
    condition = constants[0]
    if operands[1] is operands[2]:
        return operands[1]
    if condition is None:
        on_true, on_false = constants[1:]
        is_condition = on_true == _TRUE and on_false == _FALSE
        return operands[0] if is_condition else None
    return operands[1] if number_of(condition) else operands[2]


def _is_neutral(op: Operation, number: Number | None) -> bool:
    """Whether a binary operation with this second operand gives its first, bit for bit or NaN."""
    match op:
        case arith.MaximumfOp():
            return number == -inf
        case arith.MinimumfOp():
            return number == inf
        case arith.MulfOp() | arith.DivfOp() | arith.MuliOp():
            return number == 1
        case arith.AddiOp() | arith.SubiOp() | arith.OrIOp() | arith.XOrIOp():
            return number == 0
        case arith.AndIOp():
            return number == -1
        case _:
            return False


def _compute(op: Operation, numbers: Sequence[Number]) -> Number | None:
    binary = _BINARY.get(type(op))
    if binary is not None:
        return binary(*numbers)
    match op:
        case arith.CmpfOp():
            word = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
            relation = _ORDERED.get(word)
            return None if relation is None else bool(relation(*numbers))
        case arith.CmpiOp():
            word = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
            relation = _SIGNED.get(word)
            return None if relation is None or op.lhs.type == i1 else relation(*numbers)
        case arith.SIToFPOp() if op.input.type != i1:
            make = _FLOATS.get(type(cast(Attribute, op.result.type)))
            return None if make is None else make(numbers[0])
        case arith.ExtSIOp() | arith.TruncIOp() | arith.IndexCastOp() if op.input.type != i1:
            return numbers[0]
        case arith.ExtFOp():
            return numbers[0]
        case _:
            return None
