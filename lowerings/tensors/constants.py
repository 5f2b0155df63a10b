"""Tensors all of whose elements are one known number."""

from __future__ import annotations

from math import frexp
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xla_dialect.xdsl.dense_literals import is_splat
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
    if type(owner) is not arith.ConstantOp:
        return None
    dense = cast(Attribute, owner.value)
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[Any]", dense)
    return _splat(dense) if is_splat(dense) else None


def filled_from(owner: Operation | Block) -> SSAValue | None:
    """The tensor of rank 0 whose element fills a tensor."""
    if type(owner) is FillOp:
        scalar = ins_of(owner)[0].owner
        if isinstance(scalar, tensor.ExtractOp) and len(scalar.operands) == 1:
            return scalar.tensor
    return None


def _splat(dense: DenseIntOrFPElementsAttr[Any]) -> Attribute | None:
    element_type = cast(Attribute, dense.get_element_type())
    if isinstance(element_type, ComplexType):
        part = cast("ComplexType[Any]", element_type).element_type
        real, imaginary = cast("tuple[float, float]", next(iter(dense.iter_values())))
        parts = [FloatAttr(real, part), FloatAttr(imaginary, part)]
        return ArrayAttr(parts) if all(map(_survives, parts)) else None
    value = cast("IntegerAttr[Any] | FloatAttr[Any]", next(iter(dense.iter_attrs())))
    return value if isinstance(value, IntegerAttr) or _survives(value) else None


def _survives(value: FloatAttr[Any]) -> bool:
    """Whether an attribute tells the float: xDSL's FloatAttr has no sign and payload of NaN."""
    return value.value.data == value.value.data


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
