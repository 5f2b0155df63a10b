"""Numbers as attributes of scalar types, and as constants."""

from __future__ import annotations

from functools import lru_cache
from math import copysign
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue

from xla_dialect.xdsl.dense_literals import is_splat

Scalar: TypeAlias = IntegerAttr[Any] | FloatAttr[Any]


def scalar_attribute(value: float, type_: Attribute) -> Scalar:
    """
    A number as an attribute of a float, integer or index type.

    Integers wrap to the width of their type, which loses its sign.
    """
    if isinstance(type_, IndexType | IntegerType):
        return _integer_attribute(int(value), cast("IndexType | IntegerType", type_))
    return _float_attribute(float(value), copysign(1.0, value), cast(AnyFloat, type_))


@lru_cache(4096)
def _float_attribute(value: float, _sign: float, type_: AnyFloat) -> Scalar:
    """Remembered as integers are; the sign tells zeros apart."""
    return FloatAttr(value, type_)


@lru_cache(4096)
def _integer_attribute(value: int, type_: IndexType | IntegerType) -> Scalar:
    """Remembered: programs have few numbers, and making an attribute takes as long as using it."""
    if isinstance(type_, IndexType):
        return IntegerAttr(value, type_)
    return IntegerAttr(value, IntegerType(type_.width.data), truncate_bits=True)


def constant_integer(value: SSAValue) -> int | None:
    """The number that an integer constant is; None for other values."""
    if isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr):
        return value.owner.value.value.data
    return None


def number_of_iterations(lower: int | None, upper: int | None, step: int | None) -> int | None:
    """How often a loop between two numbers runs; None if one is not known, or the step is 0."""
    if lower is None or upper is None or not step:
        return None
    return max(0, -((lower - upper) // step))


def scalar_of(literal: DenseIntOrFPElementsAttr[Any]) -> Scalar | ArrayAttr[Scalar]:
    """The first element of a literal: a number attribute, for complex a pair of floats."""
    element_type = cast(Attribute, literal.get_element_type())
    value = cast(Any, next(iter(literal.iter_values())))
    if isinstance(element_type, ComplexType):
        part = cast("ComplexType[Any]", element_type).element_type
        return ArrayAttr([scalar_attribute(each, part) for each in value])
    return scalar_attribute(value, element_type)


def splat_of(literal: Attribute) -> Scalar | ArrayAttr[Scalar] | None:
    """
    The element that all of a literal are equal to, as bits; None for other attributes and for NaN,
    whose sign and payload a scalar attribute does not keep.
    """
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[Any]", literal)
    if not is_splat(dense):
        return None
    value = cast(Any, next(iter(dense.iter_values())))
    parts = cast("tuple[float, ...]", value if isinstance(value, tuple) else (value,))
    return scalar_of(dense) if all(part == part for part in parts) else None
