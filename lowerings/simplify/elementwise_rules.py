"""Algebra that is exact: no rule changes a rounding, a NaN into a number, or the sign of a zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.ir import Attribute, SSAValue

from lowerings.simplify.constant_folding import number_of, splat_of
from lowerings.simplify.rewriting import Inserter, Replacement, Rule, constant
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion, creation, elementwise
from xla_dialect.types import BY_NAME, BY_TYPE, ElementClass, element_class
from xla_dialect.types import Array as ArrayType
from xla_dialect.xdsl.operation_table import OperationTable

WHOLE = ElementClass.INTEGER | ElementClass.PRED
"""Types in which arithmetic is exact, modulo a power of two."""

IsNumber: TypeAlias = Callable[[Array], bool]


def _is(number: int) -> IsNumber:
    return lambda value: bool(value == number)


def _is_zero(*, negative: bool) -> IsNumber:
    return lambda value: bool(value == 0) and bool(np.signbit(value)) == negative


def _is_infinity(*, negative: bool) -> IsNumber:
    return lambda value: bool(np.isinf(value)) and bool(np.signbit(value)) == negative


def _is_all_ones(value: Array) -> bool:
    return bool(~value == 0)


def _is_limit(name: str) -> IsNumber:
    return lambda value: bool(value == getattr(cast(Any, ml_dtypes).iinfo(value.dtype), name))


@dataclass(frozen=True)
class Identity:
    """`x op c = x` for the constants c that `holds` accepts."""

    classes: ElementClass
    holds: IsNumber
    either_side: bool = False
    """Whether `c op x = x` too."""


FLOAT, INTEGER = ElementClass.FLOAT, ElementClass.INTEGER
REAL = ElementClass.REAL

IDENTITIES: Mapping[type[elementwise.ElementwiseBinaryOp], tuple[Identity, ...]] = {
    # x + 0.0 is 0.0 for x = -0.0; x + -0.0 is x.
    elementwise.AddOp: (
        Identity(WHOLE, _is(0), True),
        Identity(FLOAT, _is_zero(negative=True), True),
    ),
    elementwise.SubtractOp: (Identity(INTEGER, _is(0)), Identity(FLOAT, _is_zero(negative=False))),
    elementwise.MultiplyOp: (Identity(WHOLE | FLOAT, _is(1), True),),
    elementwise.DivideOp: (Identity(REAL, _is(1)),),
    elementwise.PowerOp: (Identity(REAL, _is(1)),),
    elementwise.AndOp: (Identity(WHOLE, _is_all_ones, True),),
    elementwise.OrOp: (Identity(WHOLE, _is(0), True),),
    elementwise.XorOp: (Identity(WHOLE, _is(0), True),),
    elementwise.ShiftLeftOp: (Identity(INTEGER, _is(0)),),
    elementwise.ShiftRightArithmeticOp: (Identity(INTEGER, _is(0)),),
    elementwise.ShiftRightLogicalOp: (Identity(INTEGER, _is(0)),),
    elementwise.MaximumOp: (
        Identity(INTEGER, _is_limit("min"), True),
        Identity(FLOAT, _is_infinity(negative=True), True),
    ),
    elementwise.MinimumOp: (
        Identity(INTEGER, _is_limit("max"), True),
        Identity(FLOAT, _is_infinity(negative=False), True),
    ),
}

ANNIHILATORS: Mapping[type[XlaOp], tuple[ElementClass, IsNumber]] = {
    elementwise.MultiplyOp: (WHOLE, _is(0)),
    elementwise.AndOp: (WHOLE, _is(0)),
    elementwise.OrOp: (WHOLE, _is_all_ones),
    elementwise.MaximumOp: (INTEGER, _is_limit("max")),
    elementwise.MinimumOp: (INTEGER, _is_limit("min")),
}
"""`x op c = c` and `c op x = c` for elements of these classes, and the constants c accepted."""

IDEMPOTENT = (elementwise.AndOp, elementwise.OrOp, elementwise.MaximumOp, elementwise.MinimumOp)
"""`x op x = x`."""

SELF_CANCELLING = (elementwise.SubtractOp, elementwise.XorOp)
"""`x op x = 0` for integers."""

INVOLUTIONS = (elementwise.NotOp, elementwise.NegateOp)
"""`f(f(x)) = x`."""

_ROUNDINGS = (
    elementwise.FloorOp,
    elementwise.CeilOp,
    elementwise.RoundNearestAfzOp,
    elementwise.RoundNearestEvenOp,
)
_ABSORBED: Mapping[type[elementwise.ElementwiseUnaryOp], tuple[type[XlaOp], ...]] = {
    **dict.fromkeys(_ROUNDINGS, _ROUNDINGS),
    elementwise.AbsOp: (elementwise.AbsOp,),
    elementwise.SignOp: (elementwise.SignOp,),
}
"""`f(g(x)) = g(x)` for an f and these g."""

_F6E2M3FN = BY_NAME["f6e2m3fn"].type

_PARTS = {elementwise.RealOp: 0, elementwise.ImagOp: 1}
"""Which operand of `complex` each takes."""


def class_of(value: SSAValue) -> ElementClass:
    """The class of an array's elements."""
    return element_class(cast(ArrayType, value.type).element_type)


def simplify_binary(op: elementwise.ElementwiseBinaryOp, inserter: Inserter) -> Replacement:
    """`x + 0`, `x * 0`, `x & x` and their like, by the tables."""
    lhs, rhs, op_class = op.lhs, op.rhs, type(op)
    elements = class_of(lhs)
    if lhs is rhs:
        if op_class in IDEMPOTENT:
            return lhs
        if op_class in SELF_CANCELLING and elements & WHOLE:
            type_ = cast(ArrayType, lhs.type)
            return constant(inserter, number_of(type_.element_type, 0), type_)
    for constant_side, other in ((rhs, lhs), (lhs, rhs)):
        number = splat_of(constant_side)
        if number is None:
            continue
        for identity in IDENTITIES.get(op_class, ()):
            applies = constant_side is rhs or identity.either_side
            if applies and elements & identity.classes and identity.holds(number):
                return other
        classes, holds = ANNIHILATORS.get(op_class, (ElementClass(0), bool))
        if elements & classes and holds(number):
            return constant_side
    return None


def merge_constants(op: elementwise.AddOp, inserter: Inserter) -> Replacement:
    """`(x + c) + d = x + (c + d)` for integers, which wrap."""
    inner = op.lhs.owner
    if not isinstance(inner, elementwise.AddOp) or not class_of(op.lhs) & INTEGER:
        return None
    first, second = splat_of(inner.rhs), splat_of(op.rhs)
    if first is None or second is None:
        return None
    type_ = cast(ArrayType, op.result.type)
    with np.errstate(over="ignore"):
        total = np.add(first, second, dtype=first.dtype)
    return inserter.insert(elementwise.AddOp(inner.lhs, constant(inserter, total, type_)))


def multiply_by_reciprocal(op: elementwise.DivideOp, inserter: Inserter) -> Replacement:
    """`x / c = x * (1 / c)` for a float c that is a power of two whose reciprocal is normal."""
    divisor = splat_of(op.rhs)
    if divisor is None or class_of(op.rhs) != FLOAT:
        return None
    value = float(divisor)
    if value == 0 or not np.isfinite(value) or abs(np.frexp(value)[0]) != 0.5:
        return None
    limits = cast(Any, ml_dtypes).finfo(divisor.dtype)
    if not float(limits.tiny) <= abs(1 / value) <= float(limits.max):
        return None
    type_ = cast(ArrayType, op.rhs.type)
    factor = constant(inserter, number_of(type_.element_type, 1 / value), type_)
    return inserter.insert(elementwise.MultiplyOp(op.lhs, factor))


def simplify_unary(op: elementwise.ElementwiseUnaryOp, inserter: Inserter) -> Replacement:
    """`f(f(x))` for involutions and roundings; `|-x|`; the absolute value of what has no sign."""
    inner, op_class = op.operand.owner, type(op)
    if op_class in INVOLUTIONS and isinstance(inner, op_class):
        return inner.operand
    if isinstance(inner, _ABSORBED.get(op_class, ())) and not _exceeds_limit(op):
        return op.operand
    if op_class is elementwise.AbsOp:
        if class_of(op.operand) & ElementClass.UNSIGNED:
            return op.operand
        if isinstance(inner, elementwise.NegateOp):
            return inserter.insert(elementwise.AbsOp(inner.operand))
    return None


def _exceeds_limit(op: elementwise.ElementwiseUnaryOp) -> bool:
    """Whether rounding may leave a fraction: f6e2m3fn has its largest number, 7.5, for 8."""
    element_type = cast(ArrayType, op.operand.type).element_type
    return type(op) in _ROUNDINGS and element_type == _F6E2M3FN


def take_part(op: elementwise.RealOp | elementwise.ImagOp, inserter: Inserter) -> Replacement:
    """`real(complex(a, b)) = a` and `imag(complex(a, b)) = b`."""
    inner = op.operand.owner
    return inner.operands[_PARTS[type(op)]] if isinstance(inner, elementwise.ComplexOp) else None


def join_parts(op: elementwise.ComplexOp, inserter: Inserter) -> Replacement:
    """`complex(real(z), imag(z)) = z`."""
    real, imag = op.lhs.owner, op.rhs.owner
    if not isinstance(real, elementwise.RealOp) or not isinstance(imag, elementwise.ImagOp):
        return None
    return real.operand if real.operand is imag.operand else None


_REFLEXIVE = {
    ComparisonDirection.EQ: True,
    ComparisonDirection.LE: True,
    ComparisonDirection.GE: True,
    ComparisonDirection.NE: False,
    ComparisonDirection.LT: False,
    ComparisonDirection.GT: False,
}
"""`x <direction> x` where no NaN can be."""


def compare_with_itself(op: elementwise.CompareOp, inserter: Inserter) -> Replacement:
    """`x = x` is true and `x < x` false for integers."""
    if op.lhs is not op.rhs or not class_of(op.lhs) & WHOLE:
        return None
    type_ = cast(ArrayType, op.result.type)
    outcome = _REFLEXIVE[op.direction.data]
    return constant(inserter, np.array(outcome), type_)


def simplify_select(op: elementwise.SelectOp, inserter: Inserter) -> Replacement:
    """A choice that is known, between equals, by a negated predicate, or of the predicate."""
    if op.on_true is op.on_false:
        return op.on_true
    choice = splat_of(op.pred)
    if choice is not None:
        return op.on_true if choice else op.on_false
    inner = op.pred.owner
    if isinstance(inner, elementwise.NotOp):
        return inserter.insert(elementwise.SelectOp(inner.operand, op.on_false, op.on_true))
    if op.pred.type == op.result.type:
        branches = splat_of(op.on_true), splat_of(op.on_false)
        if branches[0] is not None and branches[1] is not None:
            return op.pred if branches[0] else inserter.insert(elementwise.NotOp(op.pred))
    return None


def simplify_convert(op: conversion.ConvertOp, inserter: Inserter) -> Replacement:
    """A conversion of what was converted without loss."""
    inner = op.operand.owner
    if not isinstance(inner, conversion.ConvertOp):
        return None
    source, middle, target = (
        cast(ArrayType, value.type).element_type for value in (inner.operand, op.operand, op.result)
    )
    if not is_exact(source, middle) or not _is_direct(source, middle, target):
        return None
    if inner.operand.type == op.result.type:
        return inner.operand
    return inserter.insert(conversion.ConvertOp(inner.operand, result_types=[op.result.type]))


_PRECISION = {"f32": 24, "f64": 53}
"""Significant bits of the floats that hold every number of a narrower type."""


def is_exact(source: Attribute, target: Attribute) -> bool:
    """Whether every number of an element type, NaN and -0.0 too, stays what it is in another."""
    old, new = BY_TYPE[source], BY_TYPE[target]
    match old.element_class, new.element_class:
        case ElementClass.PRED, ElementClass.PRED:
            return True
        case ElementClass.PRED, ElementClass.FLOAT:
            # f8e8m0fnu has no zero.
            return new.bits >= 16
        case ElementClass.PRED, _:
            return new.name != "s1"
        case (ElementClass.SIGNED, ElementClass.SIGNED) | (
            ElementClass.UNSIGNED,
            ElementClass.UNSIGNED,
        ):
            return old.bits <= new.bits
        case ElementClass.UNSIGNED, ElementClass.SIGNED:
            return old.bits < new.bits
        case ((ElementClass.SIGNED | ElementClass.UNSIGNED), ElementClass.FLOAT):
            return old.bits <= _PRECISION.get(new.name, 0)
        case ElementClass.FLOAT, ElementClass.FLOAT:
            return old.bits < new.bits and new.name in _PRECISION
        case ElementClass.COMPLEX, ElementClass.COMPLEX:
            return old.bits <= new.bits
        case _:
            return False


def _is_direct(source: Attribute, middle: Attribute, target: Attribute) -> bool:
    """
    Whether leaving out the exact step in the middle gives the same numbers.

    Integers wrap where floats saturate: from integers by floats to integers it may not.
    """
    by_float = element_class(middle) == FLOAT and bool(element_class(source) & WHOLE)
    return not (by_float and element_class(target) & INTEGER) or is_exact(source, target)


def simplify_bitcast_convert(op: conversion.BitcastConvertOp, inserter: Inserter) -> Replacement:
    """Bits read as the type that they had."""
    inner = op.operand.owner
    if isinstance(inner, conversion.BitcastConvertOp) and inner.operand.type == op.result.type:
        return inner.operand
    return None


def fill_iota(op: creation.IotaOp, inserter: Inserter) -> Replacement:
    """An iota along a dimension of one element is all zeros."""
    type_ = cast(ArrayType, op.result.type)
    if type_.get_shape()[op.iota_dimension.value.data] != 1:
        return None
    return constant(inserter, number_of(type_.element_type, 0), type_)


_BINARY = (*IDENTITIES, *SELF_CANCELLING)
_UNARY = (*INVOLUTIONS, *_ABSORBED)

RULES = (
    OperationTable[Rule]()
    .add(dict.fromkeys(_BINARY), simplify_binary)
    .add(dict.fromkeys(_UNARY), simplify_unary)
    .add(_PARTS, take_part)
    .add(elementwise.ComplexOp, join_parts)
    .add(elementwise.CompareOp, compare_with_itself)
    .add(elementwise.SelectOp, simplify_select)
    .add(conversion.ConvertOp, simplify_convert)
    .add(conversion.BitcastConvertOp, simplify_bitcast_convert)
    .add(creation.IotaOp, fill_iota)
)
"""The rule of each operation."""

CONSTANT_RULES = (
    OperationTable[Rule]()
    .add(elementwise.AddOp, merge_constants)
    .add(elementwise.DivideOp, multiply_by_reciprocal)
)
"""Rules of operations that have one in `RULES`, which goes first."""
