"""`complex`: numbers taken apart and put together; their arithmetic is expanded before."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import complex

from lowerings.interpreter.elements import Number, constant_value
from lowerings.interpreter.machine import Dialect, Function, ValueMaker
from xla_dialect.reference.rounding import as_complex


def constant(op: complex.ConstantOp) -> Function:
    """A complex number."""
    value = constant_value(op.value, op.complex.type)
    return lambda: value


def create(real: Number, imaginary: Number) -> Number:
    """The number with two parts."""
    return as_complex(np.asarray(real), np.asarray(imaginary))[()]


VALUES: dict[str, ValueMaker] = {
    "complex.constant": constant,
    "complex.create": lambda _op: create,
    "complex.re": lambda _op: np.real,
    "complex.im": lambda _op: np.imag,
}

COMPLEX = Dialect(VALUES, {})
