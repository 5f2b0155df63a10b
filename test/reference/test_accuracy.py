"""Elementwise functions are within 2 ULP of the exact value, complex ones within 4."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_programs import evaluate, numbers

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 60,
    reason="long double is no wider than double here, so that there is nothing to compare with",
)

Exact = Callable[..., Any]
COUNT = 4000


def magnitudes(low: float, high: float) -> np.ndarray:
    """Numbers of both signs, their logarithms uniform."""
    random = np.random.default_rng(3)
    sizes = np.exp(random.uniform(math.log(low), math.log(high), COUNT))
    return sizes * random.choice([-1.0, 1.0], COUNT)


def exact_erf(x: Any) -> Any:
    return np.array([math.erf(float(v)) for v in x])


def exact_logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def exact_rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


TINY, HUGE = (1e-300, 1e-3), (10.0, 1e300)
NEAR = (1e-3, 10.0)
ALL = (TINY, NEAR, HUGE)
UNIT = ((1e-300, 1e-3), (1e-3, 1.0))

REAL: dict[type[XlaOp], tuple[Exact, tuple[tuple[float, float], ...]]] = {
    elementwise.AcosOp: (np.arccos, UNIT),
    elementwise.AcoshOp: (np.arccosh, ((1.0, 10.0), HUGE)),
    elementwise.AsinOp: (np.arcsin, UNIT),
    elementwise.AsinhOp: (np.arcsinh, ALL),
    elementwise.AtanhOp: (np.arctanh, UNIT),
    elementwise.CbrtOp: (np.cbrt, ALL),
    elementwise.CosineOp: (np.cos, ALL),
    elementwise.CoshOp: (np.cosh, (TINY, NEAR, (10.0, 700.0))),
    elementwise.ErfOp: (exact_erf, (TINY, NEAR)),
    elementwise.ExponentialOp: (np.exp, (TINY, NEAR, (10.0, 740.0))),
    elementwise.ExponentialMinusOneOp: (np.expm1, (TINY, NEAR, (10.0, 700.0))),
    elementwise.LogOp: (np.log, ALL),
    elementwise.LogPlusOneOp: (np.log1p, ALL),
    elementwise.LogisticOp: (exact_logistic, (TINY, NEAR, (10.0, 740.0))),
    elementwise.RsqrtOp: (exact_rsqrt, ALL),
    elementwise.SineOp: (np.sin, ALL),
    elementwise.SinhOp: (np.sinh, (TINY, NEAR, (10.0, 700.0))),
    elementwise.SqrtOp: (np.sqrt, ALL),
    elementwise.TanOp: (np.tan, ALL),
    elementwise.TanhOp: (np.tanh, (TINY, NEAR, (10.0, 700.0))),
}


def ulps(found: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """
    The distances in units of the last place of the exact value.

    Where either is no number or infinite, the other must be the same: else the distance is infinite.
    """
    spacing_of = np.float64 if found.dtype == np.float64 else np.float32
    with np.errstate(all="ignore"):
        nearest = exact.astype(found.dtype)
        bits = 52 if spacing_of is np.float64 else 23
        unit = np.spacing(np.abs(exact.astype(spacing_of))).astype(np.longdouble)
        if found.dtype.itemsize < 4:
            bits = {"float16": 10, "bfloat16": 7}[found.dtype.name]
            lowest = {"float16": 2.0**-24, "bfloat16": 2.0**-133}[found.dtype.name]
            unit = np.maximum(unit * 2.0 ** (23 - bits), lowest)
        wide, near = found.astype(np.longdouble), nearest.astype(np.longdouble)
        distance = np.abs(wide - exact) / unit
    alike = (wide == near) | (np.isnan(wide) & np.isnan(near))
    return np.where(np.isfinite(wide) & np.isfinite(near), distance, np.where(alike, 0, np.inf))


@pytest.mark.parametrize("name", ["f64", "f32", "bf16", "f16"])
@pytest.mark.parametrize("op", REAL, ids=lambda op: op.name)
def test_real(op: type[XlaOp], name: str):
    exact, ranges = REAL[op]
    for low, high in ranges:
        operand = numbers(name, magnitudes(low, high))
        with np.errstate(all="ignore"):
            expected = exact(operand.astype(np.longdouble))
        assert ulps(evaluate(op, operand), expected).max() <= 2


BINARY: dict[type[XlaOp], Exact] = {
    elementwise.PowerOp: np.power,
    elementwise.Atan2Op: np.arctan2,
    elementwise.RemainderOp: np.fmod,
    elementwise.DivideOp: np.divide,
}


@pytest.mark.parametrize("name", ["f64", "f32", "bf16", "f16"])
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_real_of_two(op: type[XlaOp], name: str):
    left = numbers(name, magnitudes(1e-3, 1e3))
    right = numbers(name, magnitudes(1e-2, 1e2)[::-1])
    with np.errstate(all="ignore"):
        expected = BINARY[op](left.astype(np.longdouble), right.astype(np.longdouble))
    assert ulps(evaluate(op, left, right), expected).max() <= 2


def exact_complex_expm1(z: Any) -> Any:
    x, y = z.real, z.imag
    return np.expm1(x) * np.cos(y) - 2 * np.sin(y / 2) ** 2 + 1j * np.exp(x) * np.sin(y)


def exact_complex_log1p(z: Any) -> Any:
    x, y = z.real, z.imag
    return np.log1p(x * (2 + x) + y * y) / 2 + 1j * np.arctan2(y, 1 + x)


def exact_sign(z: Any) -> Any:
    return z / np.abs(z)


COMPLEX: dict[type[XlaOp], tuple[Exact, tuple[tuple[float, float], ...]]] = {
    elementwise.AbsOp: (np.abs, (TINY, NEAR, HUGE)),
    elementwise.CosineOp: (np.cos, (NEAR,)),
    elementwise.ExponentialOp: (np.exp, (TINY, NEAR)),
    elementwise.ExponentialMinusOneOp: (exact_complex_expm1, (TINY, NEAR)),
    elementwise.LogOp: (np.log, (TINY, NEAR, HUGE)),
    elementwise.LogPlusOneOp: (exact_complex_log1p, (TINY, NEAR)),
    # Not further: near the pole at πi a rounding of the argument is worth many of the value.
    elementwise.LogisticOp: (exact_logistic, (TINY, (1e-3, 1.0))),
    elementwise.RsqrtOp: (exact_rsqrt, (TINY, NEAR)),
    elementwise.SignOp: (exact_sign, (TINY, NEAR, HUGE)),
    elementwise.SineOp: (np.sin, (TINY, NEAR)),
    elementwise.SqrtOp: (np.sqrt, (TINY, NEAR, HUGE)),
    elementwise.TanOp: (np.tan, (TINY, NEAR)),
    elementwise.TanhOp: (np.tanh, (TINY, NEAR)),
}


@pytest.mark.parametrize("name", ["c64", "c128"])
@pytest.mark.parametrize("op", COMPLEX, ids=lambda op: op.name)
def test_complex(op: type[XlaOp], name: str):
    """Within 4 ULP of the modulus of the exact value."""
    exact, ranges = COMPLEX[op]
    limit = np.finfo(np.float32 if name == "c64" else np.float64)
    for low, high in ranges:
        low, high = max(low, float(limit.tiny) * 1e3), min(high, float(limit.max) / 1e3)
        parts = magnitudes(low, high)
        operand = numbers(name, parts + 1j * parts[::-1])
        with np.errstate(all="ignore"):
            expected = exact(operand.astype(np.clongdouble))
            error = np.abs(evaluate(op, operand).astype(np.clongdouble) - expected)
        assert (error / np.abs(expected)).max() <= 4 * limit.eps
