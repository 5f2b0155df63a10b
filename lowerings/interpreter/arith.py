"""`arith`: scalars, vectors and tensors, element by element."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Operation

from lowerings.dialects.arith_extension import IndexCastUIOp, RemFOp
from lowerings.interpreter.elements import (
    Element,
    Number,
    UndefinedBehavior,
    constant_value,
    element_of,
    is_vector,
    where,
)
from lowerings.interpreter.machine import Dialect, Function, ValueMaker, of_one, of_two
from lowerings.targets.llvm.arith import SATURATING
from xla_dialect.reference.conversion import float_to_integer, integer_to_float
from xla_dialect.reference.elementwise import high_product, maximum, minimum
from xla_dialect.reference.rounding import in_compute_type, rounded
from xla_dialect.xdsl.operation_table import OperationTable


def element_of_result(op: Operation) -> Element:
    """The element of the first result."""
    return element_of(op.results[0].type)


def constant(op: arith.ConstantOp) -> Function:
    """A number, or a dense vector or tensor."""
    value = constant_value(op.value, op.result.type)
    return lambda: value


# Integers


def integers(function: Function, *, signed: bool = True) -> ValueMaker:
    """A function of integers, with or without sign, whose value wraps."""

    def make(op: Operation) -> Function:
        source, target = element_of(op.operands[0].type), element_of_result(op)
        read = source.signed if signed else source.unsigned
        if source == target and target.is_whole:
            return function if signed else lambda *xs: function(*map(read, xs)).view(target.dtype)
        return lambda *xs: target.wrapped(function(*map(read, xs)))

    return make


def same(x: Number) -> Number:
    """The number itself."""
    return x


def shift(function: Function, is_signed: bool) -> ValueMaker:
    """A shift; by the width or more it has no value."""

    def make(op: Operation) -> Function:
        element = element_of_result(op)
        read = element.signed if is_signed else element.unsigned

        def run(x: Number, amount: Number) -> Number:
            steps = element.unsigned(amount)
            if np.any(steps >= element.bits):
                raise UndefinedBehavior(f"a shift of {element.bits} bits by {np.max(steps)}")
            return element.wrapped(function(read(x), steps.astype(read(x).dtype)))

        return run

    return make


def quotient(x: Number, y: Number) -> Number:
    """The quotient of integers, toward zero."""
    return (x - np.fmod(x, y)) // y


def ceiling_quotient(x: Number, y: Number) -> Number:
    """The quotient of integers, toward positive infinity."""
    whole = x // y
    return whole + (np.fmod(x, y) != 0).astype(whole.dtype)


def division(function: Function, *, signed: bool = True) -> ValueMaker:
    """A division; by zero, and of the least signed number by -1, it is undefined."""

    def make(op: Operation) -> Function:
        element = element_of_result(op)
        read = element.signed if signed else element.unsigned
        least = -(1 << (element.bits - 1))

        def run(x: Number, y: Number) -> Number:
            x, y = read(x), read(y)
            if not np.all(y):
                raise UndefinedBehavior("division by zero")
            if signed and np.any((y == -1) & (x == least)):
                raise UndefinedBehavior(f"division of {least} by -1")
            return element.wrapped(function(x, y))

        return run

    return make


def extended_product(is_signed: bool) -> ValueMaker:
    """The low and the high half of a product."""

    def make(op: Operation) -> Function:
        element = element_of_result(op)
        read = element.signed if is_signed else element.unsigned

        def run(x: Number, y: Number) -> list[Number]:
            x, y = read(x), read(y)
            low = element.wrapped(x * y)
            if element.bits == 64:
                high = high_product(x, y)
            else:
                wide = np.dtype(np.int64 if is_signed else np.uint64)
                high = x.astype(wide) * y.astype(wide) >> wide.type(element.bits)
            return [low, element.wrapped(high)]

        return run

    return make


def extended_sum(op: arith.AddUIExtendedOp) -> Function:
    """A sum of unsigned integers, and whether it overflows."""
    element = element_of_result(op)

    def run(x: Number, y: Number) -> list[Number]:
        total = element.wrapped(element.signed(x) + element.signed(y))
        return [total, element.unsigned(total) < element.unsigned(x)]

    return run


RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def compare_integers(op: arith.CmpiOp) -> Function:
    """A comparison of signed or unsigned integers."""
    predicate = CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    element = element_of(op.lhs.type)
    relation = RELATIONS[predicate[-2:]]
    if predicate in ("eq", "ne") or (element.is_whole and predicate[0] == "s"):
        return relation
    read = element.unsigned if predicate[0] == "u" else element.signed
    return of_two(lambda x, y: relation(read(x), read(y)))


# Floats


def floating(function: Function) -> ValueMaker:
    """A function of floats; those that numpy cannot compute with go through f32."""
    evaluate = in_compute_type(function)

    def make(op: Operation) -> Function:
        return function if element_of_result(op).dtype.itemsize >= 4 else evaluate

    return make


def not_a_number(x: Number) -> Number:
    """Where x is NaN, of any float type."""
    return x != x


def maximum_number(x: Number, y: Number) -> Number:
    """The larger number; the other one of a NaN."""
    return where(np.isnan(x), y, where(np.isnan(y), x, maximum(x, y)))


def minimum_number(x: Number, y: Number) -> Number:
    """The smaller number; the other one of a NaN."""
    return where(np.isnan(x), y, where(np.isnan(y), x, minimum(x, y)))


def compare_floats(op: arith.CmpfOp) -> Function:
    """A comparison that says for NaN what its predicate's first letter says."""
    predicate = CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]
    if predicate in ("true", "false"):
        return of_two(lambda x, y: np.full(np.broadcast(x, y).shape, predicate == "true"))
    is_ordered = predicate[0] == "o"
    relation = RELATIONS.get(predicate[1:])
    if relation is not None and is_ordered != (predicate[1:] == "ne"):
        # What IEEE's relation says of NaN already.
        return relation

    def run(x: Number, y: Number) -> Number:
        is_unordered = not_a_number(x) | not_a_number(y)
        if relation is None:
            return ~is_unordered if is_ordered else is_unordered
        return relation(x, y) & ~is_unordered if is_ordered else relation(x, y) | is_unordered

    return run


# Conversions


def resize_float(op: Operation) -> Function:
    """To a float of fewer bits, rounded once, or of more."""
    dtype = element_of_result(op).dtype
    return of_one(lambda x: rounded(x, dtype))


def to_integer(is_signed: bool) -> ValueMaker:
    """Toward zero; out of range and of NaN there is no value, unless the operation saturates."""

    def make(op: Operation) -> Function:
        element = element_of_result(op)
        low = -(1 << (element.bits - 1)) if is_signed else 0
        high = low + (1 << element.bits)
        dtype = np.dtype(f"{'i' if is_signed else 'u'}{element.dtype.itemsize}")
        saturates = SATURATING in op.attributes

        def run(x: Number) -> Number:
            if saturates and element.is_whole:
                return float_to_integer(x, dtype).view(element.dtype)
            whole = np.trunc(x.astype(np.float64))
            inside = (whole >= float(low)) & (whole < float(high))
            if saturates:
                limited = np.clip(where(whole != whole, 0.0, whole), float(low), float(high - 1))
                return element.wrapped(limited.astype(np.int64))
            if not np.all(inside):
                raise UndefinedBehavior(
                    f"{np.asarray(x)[~np.asarray(inside)].ravel()[0]} is no integer of "
                    f"{element.bits} bits{'' if is_signed else ' without sign'}"
                )
            return element.wrapped(whole.astype(dtype))

        return run

    return make


def from_integer(is_signed: bool) -> ValueMaker:
    """The nearest float."""

    def make(op: Operation) -> Function:
        source, dtype = element_of(op.operands[0].type), element_of_result(op).dtype
        read = source.signed if is_signed else source.unsigned
        return of_one(lambda x: integer_to_float(read(x), dtype))

    return make


def bitcast(op: Operation) -> Function:
    """The same bits as another type of as many."""
    source, target = element_of(op.operands[0].type), element_of_result(op)
    if target.dtype.kind == "b" or source.dtype.kind == "b":
        return of_one(lambda x: target.wrapped(source.unsigned(x)) if source != target else x)

    def run(x: Number) -> Number:
        bits = x.view(target.dtype)
        if target.is_integer:
            return target.wrapped(bits)
        # A float of 4 bits is a byte whose other bits are 0.
        return source.unsigned(x).view(target.dtype) if source.is_integer else bits

    return run


def choose(condition: Number, x: Number, y: Number) -> Number:
    """The first where the condition holds, else y."""
    if isinstance(condition, np.ndarray):
        return where(condition, x, y)
    return x if condition else y


def select(op: arith.SelectOp) -> Function:
    """One of two values; one condition may be for all elements of a vector."""
    own_axes = is_shaped(op.result.type) and not is_shaped(op.cond.type)
    if not own_axes:
        return choose

    def run(condition: Number, x: Number, y: Number) -> Number:
        if np.ndim(condition) and is_vector(op.result.type):
            return where(condition[..., None], x, y)
        return choose(condition, x, y)

    return run


def is_shaped(type_: object) -> bool:
    """Whether values of a type have elements."""
    return isinstance(type_, VectorType | TensorType)


VALUES = (
    OperationTable[ValueMaker]()
    .add(arith.ConstantOp, constant)
    .add(arith.AddiOp, integers(operator.add))
    .add(arith.SubiOp, integers(operator.sub))
    .add(arith.MuliOp, integers(operator.mul))
    .add(arith.AddUIExtendedOp, extended_sum)
    .add(arith.MulUIExtendedOp, extended_product(is_signed=False))
    .add(arith.MulSIExtendedOp, extended_product(is_signed=True))
    .add(arith.AndIOp, integers(np.bitwise_and))
    .add(arith.OrIOp, integers(np.bitwise_or))
    .add(arith.XOrIOp, integers(np.bitwise_xor))
    .add(arith.MaxSIOp, integers(np.maximum))
    .add(arith.MinSIOp, integers(np.minimum))
    .add(arith.MaxUIOp, integers(np.maximum, signed=False))
    .add(arith.MinUIOp, integers(np.minimum, signed=False))
    .add(arith.DivSIOp, division(quotient))
    .add(arith.RemSIOp, division(np.fmod))
    .add(arith.FloorDivSIOp, division(np.floor_divide))
    .add(arith.CeilDivSIOp, division(ceiling_quotient))
    .add(arith.DivUIOp, division(np.floor_divide, signed=False))
    .add(arith.RemUIOp, division(np.fmod, signed=False))
    .add(arith.CeilDivUIOp, division(ceiling_quotient, signed=False))
    .add(arith.ShLIOp, shift(np.left_shift, is_signed=False))
    .add(arith.ShRUIOp, shift(np.right_shift, is_signed=False))
    .add(arith.ShRSIOp, shift(np.right_shift, is_signed=True))
    .add(arith.CmpiOp, compare_integers)
    .add(arith.AddfOp, floating(operator.add))
    .add(arith.SubfOp, floating(operator.sub))
    .add(arith.MulfOp, floating(operator.mul))
    .add(arith.DivfOp, floating(np.divide))
    .add(RemFOp, floating(np.fmod))
    .add(arith.MaximumfOp, floating(maximum))
    .add(arith.MinimumfOp, floating(minimum))
    .add(arith.MaxnumfOp, floating(maximum_number))
    .add(arith.MinnumfOp, floating(minimum_number))
    .add(arith.NegfOp, lambda _op: operator.neg)
    .add(arith.CmpfOp, compare_floats)
    .add(arith.SelectOp, select)
    .add(arith.BitcastOp, bitcast)
    .add((arith.ExtFOp, arith.TruncFOp), resize_float)
    .add((arith.ExtSIOp, arith.TruncIOp, arith.IndexCastOp), integers(same))
    .add((arith.ExtUIOp, IndexCastUIOp), integers(same, signed=False))
    .add(arith.FPToSIOp, to_integer(is_signed=True))
    .add(arith.FPToUIOp, to_integer(is_signed=False))
    .add(arith.SIToFPOp, from_integer(is_signed=True))
    .add(arith.UIToFPOp, from_integer(is_signed=False))
)

ARITH = Dialect(VALUES, {})
