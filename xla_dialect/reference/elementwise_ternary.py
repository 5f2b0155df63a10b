"""What the elementwise operations of three operands compute."""

from __future__ import annotations

import numpy as np

from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_ternary as ops
from xla_dialect.reference.elementwise_binary import maximum, minimum
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import Function, in_compute_type


def clamp(low: Array, operand: Array, high: Array) -> Array:
    """`min(max(low, operand), high)`."""
    return minimum(maximum(low, operand), high)


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """`pred ? on_true : on_false`, element by element or as a whole."""
    if pred.ndim == 0:
        return on_true if pred else on_false
    return np.where(pred, on_true, on_false)


TERNARY: dict[type[XlaOp], Function] = {
    ops.ClampOp: in_compute_type(clamp),
    ops.SelectOp: select,
}
"""From the operation to the function of three arrays that broadcast."""

ElementwiseTernaryFunctions = registration("ElementwiseTernaryFunctions", TERNARY)
