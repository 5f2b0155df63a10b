"""`complex`: numbers taken apart and put together; their arithmetic is expanded before."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import complex

from lowerings.interpreter.elements import Number, constant_value
from lowerings.interpreter.machine import Dialect, Function, ValueMaker
from xla_dialect.reference.rounding import as_complex
from xla_dialect.xdsl.operation_table import OperationTable


def constant(op: complex.ConstantOp) -> Function:
    """A complex number."""
    value = constant_value(op.value, op.complex.type)
    return lambda: value


def create(real: Number, imaginary: Number) -> Number:
    """The number with two parts."""
    return as_complex(np.asarray(real), np.asarray(imaginary))[()]


VALUES = (
    OperationTable[ValueMaker]()
    .add(complex.ConstantOp, constant)
    .add(complex.CreateOp, lambda _op: create)
    .add(complex.ReOp, lambda _op: np.real)
    .add(complex.ImOp, lambda _op: np.imag)
)

COMPLEX = Dialect(VALUES, {})
