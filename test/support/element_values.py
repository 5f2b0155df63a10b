"""Values of every element type for numeric tests, and what numpy makes of them."""

import itertools
from typing import Any

import ml_dtypes
import numpy as np

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME

AnyArray = np.ndarray[Any, np.dtype[Any]]

FLOATS = ("bf16", "f16", "f32", "f64")
INTEGERS = ("s2", "s4", "s8", "s16", "s32", "s64")


def dtype(name: str) -> np.dtype:
    return numpy_dtype(BY_NAME[name].type)


def float_values(name: str) -> AnyArray:
    """Numbers of every sort that the type has: a multiple of 8."""
    info = ml_dtypes.finfo(dtype(name))
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, np.inf, -np.inf, np.nan]
    limits = [info.max, info.min, info.tiny, -info.tiny, info.smallest_subnormal, info.eps]
    random = np.random.default_rng(0).normal(size=16) * 100
    return np.array([*special, *map(float, limits), *random]).astype(dtype(name))


def integer_values(name: str) -> AnyArray:
    """The corners of a type and some numbers between: a multiple of 8."""
    info = ml_dtypes.iinfo(dtype(name))
    corners = [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max, info.max]
    random = np.random.default_rng(0).integers(info.min, int(info.max) + 1, 8)
    return np.array([*corners, *random]).astype(dtype(name))


def pairs(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Every value with every value."""
    first, second = zip(*itertools.product(values, values), strict=True)
    return np.array(first, values.dtype), np.array(second, values.dtype)


def same(found: AnyArray, expected: AnyArray) -> None:
    """Equal, the sign of zeros included; NaNs only have to be NaNs."""
    assert found.dtype == expected.dtype
    with np.errstate(invalid="ignore"):
        a, b = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(a, b)
    number = ~np.isnan(b)
    np.testing.assert_array_equal(np.signbit(a)[number], np.signbit(b)[number])


def rounded(function, *operands: AnyArray) -> AnyArray:
    """A numpy function in the operands' type; for 16-bit floats rounded from f32."""
    type_ = operands[0].dtype
    wide = [x.astype(np.float32) if type_.itemsize == 2 else x for x in operands]
    with np.errstate(all="ignore"):
        return function(*wide).astype(type_)


def exact(name: str, function, *operands: AnyArray) -> AnyArray:
    """A function of Python integers, its result wrapped into the type."""
    bits = BY_NAME[name].bits
    results = [function(*map(int, row)) for row in zip(*operands, strict=True)]
    half = 1 << (bits - 1)
    return np.array([(x + half) % (1 << bits) - half for x in results]).astype(dtype(name))


def unsigned(bits: int, function):
    return lambda *operands: function(*(x % (1 << bits) for x in operands))
