"""Values of the xla dialect that are constants or splats."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, SSAValue

from xla_dialect.literals.arrays import Array, bytes_of, elements_of, numpy_dtype
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count, extents, is_array
from xla_dialect.xdsl.dense_literals import is_splat

Dense: TypeAlias = DenseIntOrFPElementsAttr[Any]


def array_type(value: SSAValue) -> ArrayType | None:
    """The type of an array whose sizes are known, None for anything else."""
    type_ = value.type
    if not is_array(type_):
        return None
    return None if is_dynamic(extents(type_)) or min(type_.get_shape(), default=0) < 0 else type_


def dense_of(value: SSAValue) -> Dense | None:
    """The literal of a constant array, None for any other value."""
    owner = value.owner
    if not isinstance(owner, ConstantOp):
        return None
    literal: Attribute = owner.value
    return cast(Dense, literal) if isinstance(literal, DenseIntOrFPElementsAttr) else None


def splat_of(value: SSAValue) -> Array | None:
    """The number, of rank 0, that all elements of an array are, None if there is none known."""
    owner = value.owner
    while type(owner) is BroadcastOp:
        owner = owner.operand.owner
    if type(owner) is not ConstantOp:
        return None
    dense = dense_of(owner.result)
    return None if dense is None else splat_of_literal(dense)


def splat_of_literal(dense: Dense) -> Array | None:
    """The number, of rank 0, that all elements of a literal are, None if there is none."""
    if not is_splat(dense):
        return None
    dtype = numpy_dtype(cast(ArrayType, dense.type).element_type)
    return elements_of(dense.data.data[: dtype.itemsize], dtype).reshape(())


def splat_literal(number: Array, type_: ArrayType) -> Dense:
    """The literal of an array all of whose elements are one number."""
    data = bytes_of(np.asarray(number)) if element_count(type_.get_shape()) else b""
    return DenseIntOrFPElementsAttr(cast(Any, type_), BytesAttr(data))


def number_of(element_type: Attribute, value: float) -> Array:
    """A number as an array of rank 0 of an element type."""
    return np.array(value).astype(numpy_dtype(element_type))
