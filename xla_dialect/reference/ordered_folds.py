"""Sums and products over axis 0 strictly in order, rounded to the element type after every step.

numpy reassociates `add.reduce` along the fast axis in memory (pairwise summation), and nothing
else: along other axes, and in `subtract.reduce` and `multiply.reduce`, it goes from the first
element to the last.
"""

from __future__ import annotations

import math

import numpy as np

from xla_dialect.literals.arrays import Array
from xla_dialect.reference.rounding import Function, in_compute_type

_FEW = 512
"""Up to so many folds at once, running totals along the positions are quicker than a loop."""

_FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_COMPLEX = frozenset((np.dtype(np.complex64), np.dtype(np.complex128)))

_add, _multiply = in_compute_type(np.add), in_compute_type(np.multiply)


def sum_in_order(start: Array, x: Array) -> Array:
    """`((start + x[0]) + x[1]) + ...`, elementwise; x has at least one position."""
    if x.dtype in _FLOATS | _COMPLEX:
        if start.ndim == 0 and x.flags.c_contiguous and math.prod(x.shape[1:]) > 1:
            # numpy reassociates sums along the contiguous axis only, which axis 0 is not here.
            return np.add.reduce(x, axis=0, initial=start)
        # a - (-b) is a + b, signed zeros and infinities included.
        terms = np.negative(x)
        terms[0] = start + x[0]
        total = np.subtract.reduce(terms, axis=0)
        if not np.any(np.isnan(total)):
            return total
        # The subtraction may give NaNs another sign than the sum has.
    return _running_total(np.add, _add, start, x)


def product_in_order(start: Array, x: Array) -> Array:
    """`((start * x[0]) * x[1]) * ...`, elementwise; x has at least one position."""
    if x.dtype in _FLOATS:
        terms = np.array(x)
        terms[0] *= start
        return np.multiply.reduce(terms, axis=0)
    if x.dtype in _COMPLEX:
        # `multiply.reduce` and elementwise products of complex numbers differ in the last bit.
        return _step_by_step(_multiply, start, x)
    return _running_total(np.multiply, _multiply, start, x)


def _running_total(ufunc: np.ufunc, function: Function, start: Array, x: Array) -> Array:
    if math.prod(x.shape[1:]) > _FEW:
        return _step_by_step(function, start, x)
    terms = np.array(x)
    terms[0] = function(start, x[0])
    return ufunc.accumulate(terms, axis=0, dtype=x.dtype)[-1]


def _step_by_step(function: Function, start: Array, x: Array) -> Array:
    total = start
    for value in x:
        total = function(total, value)
    return total
