"""`llvm.call_intrinsic`: instructions of some processors."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.llvm import CallIntrinsicOp

from lowerings.interpreter.elements import Number
from lowerings.interpreter.machine import Dialect, Function, ValueMaker
from lowerings.interpreter.multiply_add import multiply_add
from lowerings.ir.dot_products import BY_NAME, QUADS
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.operation_table import OperationTable

_LEAST_NORMAL = np.finfo(np.float32).tiny


def call_intrinsic(op: CallIntrinsicOp) -> Function:
    """Raises XlaError for intrinsics that are not known."""
    known = BY_NAME.get(op.intrin.data)
    if known is None:
        raise XlaError(f"an intrinsic that is not known here: {op.intrin.data}")
    return quads if known[0] is QUADS else bfloat_pairs


def quads(totals: Number, unsigned: Number, signed: Number) -> Number:
    """The sums with four products each added."""
    lhs = unsigned.view(np.uint8).astype(np.int32)
    products = lhs * signed.astype(np.int32)
    return totals + products.reshape(*products.shape[:-1], -1, 4).sum(-1, dtype=np.int32)


def bfloat_pairs(totals: Number, lhs: Number, rhs: Number) -> Number:
    """The sums with two products each added, the second ones first."""
    for term in (1, 0):
        x, y = (_flushed(each[..., term::2].astype(np.float32)) for each in (lhs, rhs))
        totals = _flushed(multiply_add(x, y, _flushed(totals)))
    return totals


def _flushed(values: Number) -> Number:
    """The numbers, those that are subnormal as zero of their sign."""
    is_small = np.abs(values) < _LEAST_NORMAL
    return cast(Number, np.where(is_small, np.copysign(np.float32(0), values), values))


VALUES = OperationTable[ValueMaker]().add(CallIntrinsicOp, call_intrinsic)

LLVM = Dialect(VALUES, {})
