"""Tensors all of whose elements are one known number."""

from __future__ import annotations

from math import frexp
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
)
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.scalar_attributes import splat_of
from xla_dialect.xdsl.traversal import ins_of


def constant_of(value: SSAValue) -> Attribute | None:
    """The scalar that all elements of a tensor are, if that is known; complex as a pair."""
    owner = value.owner
    if type(owner) is FillOp:
        scalar = ins_of(owner)[0].owner
        if isinstance(scalar, arith.ConstantOp):
            return cast(Attribute, scalar.value)
        filled = filled_from(owner)
        return None if filled is None else constant_of(filled)
    return splat_of(owner.value) if type(owner) is arith.ConstantOp else None


def filled_from(owner: Operation | Block) -> SSAValue | None:
    """The tensor of rank 0 whose element fills a tensor."""
    if type(owner) is FillOp:
        scalar = ins_of(owner)[0].owner
        if isinstance(scalar, tensor.ExtractOp) and len(scalar.operands) == 1:
            return scalar.tensor
    return None


_LARGEST_EXPONENT: dict[type[Attribute], int] = {Float32Type: 126, Float64Type: 1022}


def exact_reciprocal(divisor: Attribute | None) -> FloatAttr[Any] | None:
    """The reciprocal of a power of two: multiplying by it is dividing, bit for bit."""
    if not isinstance(divisor, FloatAttr):
        return None
    number = cast("FloatAttr[Any]", divisor)
    value, type_ = number.value.data, cast(Attribute, number.type)
    mantissa, exponent = frexp(value)
    if abs(mantissa) != 0.5 or abs(exponent - 1) > _LARGEST_EXPONENT.get(type(type_), -1):
        return None
    return FloatAttr(1 / value, number.type)
