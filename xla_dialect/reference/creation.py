"""What the operations without operands compute: constants and iota."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from xdsl.interpreter import register_impls

from xla_dialect import types
from xla_dialect.literals.arrays import MEMORY_LIMIT, Array, Value, numpy_dtype, to_numpy
from xla_dialect.ops import creation as ops
from xla_dialect.reference.conversion import convert
from xla_dialect.reference.registration import ArrayFunctions, computes


@register_impls
@dataclass
class CreationFunctions(ArrayFunctions):
    """Constants and iota."""

    memory_limit: int = MEMORY_LIMIT
    """Bytes of the largest array of a constant."""
    constants: dict[ops.ConstantOp, Value] = field(default_factory=dict[ops.ConstantOp, Value])
    """Literals as arrays, cached because loops evaluate their constants in every iteration."""

    @computes(ops.ConstantOp)
    def constant(self, *, op: ops.ConstantOp) -> Value:
        """The literal."""
        if op not in self.constants:
            self.constants[op] = to_numpy(op.value, self.memory_limit)
        return self.constants[op]

    @computes(ops.IotaOp)
    def iota(self, *, iota_dimension: int, op: ops.IotaOp) -> Array:
        """`result[i0, ..] = i_{iota_dimension}`."""
        type_ = cast("types.Array", op.result.type)
        sizes = types.sizes_of(type_)
        along = convert(np.arange(sizes[iota_dimension]), numpy_dtype(type_.element_type))
        column = along.reshape((-1, *(1 for _ in sizes[iota_dimension + 1 :])))
        return np.broadcast_to(column, sizes)
