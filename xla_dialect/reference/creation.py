"""What the operations without operands compute: constants and iota."""

from __future__ import annotations

import sys
from typing import cast

import numpy as np
from xdsl.ir import Attribute

from xla_dialect import types
from xla_dialect.literals.arrays import Array, Value, numpy_dtype, to_numpy
from xla_dialect.ops import creation as ops
from xla_dialect.reference.conversion import convert
from xla_dialect.reference.registration import registration


def constant(*, value: Attribute) -> Value:
    """The literal, whose size has been checked."""
    return to_numpy(value, sys.maxsize)


def iota(*, iota_dimension: int, op: ops.IotaOp) -> Array:
    """`result[i0, ..] = i_{iota_dimension}`."""
    type_ = cast("types.Array", op.result.type)
    sizes = types.sizes_of(type_)
    along = convert(np.arange(sizes[iota_dimension]), numpy_dtype(type_.element_type))
    column = along.reshape((-1, *(1 for _ in sizes[iota_dimension + 1 :])))
    return np.broadcast_to(column, sizes)


CreationFunctions = registration("CreationFunctions", {ops.ConstantOp: constant, ops.IotaOp: iota})
"""Constants and iota."""
