"""chlo's sinh, cosh, acosh, erf_inv and complex atan within 3 ULP of the right result, everywhere."""

from typing import Any

import numpy as np
import pytest

import lowerings

Array = np.ndarray[Any, Any]

BOUND = 3
"""In ULP of each part of a result."""

# Rounded from 60 digits (mpmath), at arguments where libraries are inaccurate.
REAL = {
    "sinh": [
        (1e-09, 1e-09),
        (0.02, 0.020001333360000255),
        (-0.7498355, -0.8221037676605883),
        (21.5, 1087179776.7882442),
        (-621.72, -5.111346150391886e269),
        (710.2, 1.3643036845527107e308),
    ],
    "cosh": [
        (1e-05, 1.00000000005),
        (0.7, 1.255169005630943),
        (-2.22, 4.657969987353606),
        (88.5, 1.3615439125340558e38),
        (-710.3, 1.507788755590971e308),
    ],
    "acosh": [
        (1.0000000000000002, 2.1073424255447014e-08),
        (1.00002961154709, 0.007695635249990435),
        (1.25, 0.6931471805599453),
        (6.08e17, 41.642098457436795),
        (1.7e308, 710.4199840737882),
    ],
    "erf_inv": [
        (0.13833825, 0.12321987305906232),
        (0.5142422, 0.49290426591658576),
        (0.79, 0.8864046222035435),
        (0.98, 1.6449763571331868),
        (-0.9999, -2.75106390571208),
        (-0.9999999505538469, -3.8560587924979336),
    ],
}
COMPLEX = {
    "acosh": [
        (
            (4.00078274416091 + 2.119232687824545j),
            (2.196532889561431 + 0.4974265531079607j),
        ),
        (
            (-0.99999999998643 - 4.193046247485799e-12j),
            (7.956413953463117e-07 - 3.1415873835695654j),
        ),
        (
            (-0.9999995854354004 - 0.003755711563514755j),
            (0.06129964563839592 - 3.0803246040126115j),
        ),
        (
            (1.0000017772427185 - 5.06577974658e-11j),
            (0.0018853340247698028 - 2.6869385896542143e-08j),
        ),
        ((0.3 - 1e-18j), (1.0482848367219183e-18 - 1.2661036727794992j)),
        ((-0.47438318 - 1.8309583e-08j), (2.079881740888177e-08 - 2.0650595478747804j)),
        ((2.0282155407190956 + 2.800799873221721j), (1.9408785340405088 + 0.9634996734077468j)),
        ((1e200 + 3e150j), (461.2101657793691 + 3.0000000000000004e-50j)),
        ((-2.5 + 0j), (1.566799236972411 + 3.141592653589793j)),
    ],
    "atan": [
        ((7.25e222 + 1.5e-83j), (1.5707963267948966 + 0j)),
        ((-2.75e130 - 6.5e219j), (-1.5707963267948966 - 1.5384615384615384e-220j)),
        ((1.5e308 + 1.5e308j), (1.5707963267948966 + 3.33333333333333e-309j)),
        ((1.5e-09 + 1.0000001j), (1.5632968895983492 + 8.40556519679444j)),
        ((0.3 - 0.9j), (0.7028238246901349 - 0.9027294781610562j)),
        ((-1e-12 - 0.25j), (-1.0666666666666667e-12 - 0.25541281188299536j)),
        ((3.5 + 2e-09j), (1.2924966677897853 + 1.509433962264151e-10j)),
    ],
    "sinh": [
        ((-0.74983550354595 + 6.408785594775706j), (-0.815627771268177 + 0.16216843979419526j)),
        (
            (-9.996107667791599e-06 - 0.7822423359907132j),
            (-7.090586666768241e-06 - 0.7048717568437382j),
        ),
        ((12.5 + 26.06j), (80505.0979072506 + 107331.98053437022j)),
    ],
    "cosh": [
        ((-2.222133732145135 + 8.262435590026055j), (-1.8539632857231878 - 4.184242989091648j)),
        ((0.9999719985970918 - 0.40280610897450686j), (1.4195493150114051 - 0.46066357942872777j)),
        ((-2.495391718840942 + 20.420352248333657j), (-5.984437648867498e-15 - 6.022009308905321j)),
    ],
}
NAMES = {
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}


def compute(name: str, x: Array, backend: str) -> Array:
    type_ = f"tensor<{x.size}x{NAMES[x.dtype.name]}>"
    text = (
        f"func.func @main(%x: {type_}) -> {type_} {{\n"
        f"  %r = chlo.{name} %x : {type_} -> {type_}\n  return %r : {type_}\n}}"
    )
    return lowerings.compile(text, backend=backend)(x)[0]


def errors(found: Array, expected: Array) -> float:
    """The largest error in ULP of the expected values, which have the type of the found ones."""
    with np.errstate(invalid="ignore"):
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        unit = np.spacing(np.abs(expected))
        return float(np.max(np.where(same, 0, np.abs(found - expected) / unit)))


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("name", REAL)
def test_exact_values(name: str, backend: str):
    x, expected = np.array(REAL[name]).T
    assert errors(compute(name, x, backend), expected) <= BOUND


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("name", COMPLEX)
def test_exact_complex_values(name: str, backend: str):
    z, expected = np.array(COMPLEX[name]).T
    found = compute(name, z, backend)
    assert errors(found.real, expected.real) <= BOUND
    assert errors(found.imag, expected.imag) <= BOUND


RANDOM = np.random.default_rng(11)
RANGES = {
    "sinh": np.concatenate([RANDOM.uniform(-89, 89, 4000), 10.0 ** RANDOM.uniform(-30, 1, 1000)]),
    "cosh": np.concatenate([RANDOM.uniform(-89, 89, 4000), 10.0 ** RANDOM.uniform(-30, 1, 1000)]),
    "acosh": np.concatenate(
        [1 + 10.0 ** RANDOM.uniform(-7, 1, 3000), 10.0 ** RANDOM.uniform(0, 38, 2000)]
    ),
    "erf_inv": np.concatenate(
        [RANDOM.uniform(-1, 1, 20000), 1 - 2.0 ** RANDOM.uniform(-24, -1, 2000), [1, -1, 0.5, -0.7]]
    ),
}


@pytest.mark.parametrize("name", RANGES)
def test_single_precision(name: str):
    """Beside double precision on the reference, which the tests above hold to exact values."""
    x = RANGES[name].astype(np.float32)
    expected = compute(name, x.astype(np.float64), "reference").astype(np.float32)
    assert errors(compute(name, x, "llvm"), expected) <= BOUND
    assert errors(compute(name, x, "reference"), expected) <= BOUND


INFINITE = [np.inf, -np.inf, np.nan]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1000.0, *INFINITE]
PAIRS = [complex(a, b) for a in SPECIAL for b in (0.0, -0.0, 1.0, -1.0, *INFINITE)]
FUNCTIONS = {"sinh": np.sinh, "cosh": np.cosh, "acosh": np.arccosh}


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("values", [SPECIAL, PAIRS], ids=["real", "complex"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str, values: list[complex], backend: str):
    """As in annex G of C99; where it leaves the sign of a zero or infinity open, it is any."""
    x = np.array(values)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](x)
    found = compute(name, x, backend)
    for part in (np.real, np.imag):
        mine, theirs = part(found), part(expected)
        is_open = np.isnan(np.real(expected)) | np.isnan(np.imag(expected))
        assert errors(np.abs(mine), np.abs(theirs)) <= BOUND
        signs = np.signbit(mine) == np.signbit(theirs)
        assert np.all(signs | np.isnan(theirs) | is_open)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_of_erf_inv(dtype: Any, backend: str):
    x = np.array([0.0, -0.0, 1, -1, 1.5, -2, *INFINITE, np.finfo(dtype).smallest_subnormal], dtype)
    found = compute("erf_inv", x, backend)
    nan = np.nan
    expected = np.array([0.0, -0.0, np.inf, -np.inf, nan, nan, nan, nan, nan, x[-1]], dtype)
    np.testing.assert_array_equal(found, expected)
    assert list(np.signbit(found[:2])) == [False, True]
