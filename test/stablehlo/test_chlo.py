"""Operations of CHLO that the reader writes out, against numpy and scipy."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from peers import has_jax

from xla_dialect.diagnostics import LocatedError
from xla_dialect.reference import run
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    from scipy import special  # A dependency of JAX.

Array = np.ndarray[Any, Any]

TYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
    "i32": np.dtype(np.int32),
    "i1": np.dtype(np.bool_),
}
NAMES = {dtype: name for name, dtype in TYPES.items()}
RANDOM = np.random.default_rng(7)


def type_of(value: Array) -> str:
    return f"tensor<{''.join(f'{size}x' for size in value.shape)}{NAMES[value.dtype]}>"


def compute(operation: str, *operands: Array, result: str = "", attributes: str = "") -> Array:
    """One operation of CHLO on the reference; the result has the type of the first operand."""
    types = [type_of(operand) for operand in operands]
    names = [f"%x{i}" for i in range(len(operands))]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    result = result or types[0]
    text = (
        f"func.func @main({arguments}) -> {result} {{\n"
        f'%r = "chlo.{operation}"({", ".join(names)}) {{{attributes}}} : '
        f"({', '.join(types)}) -> {result}\nreturn %r : {result}\n}}"
    )
    return np.asarray(run(read_stablehlo(text), operands)[0])


def errors(found: Array, expected: Array, *, at_least_one: bool = False) -> float:
    """The largest error in ULP of the expected value, or of 1 where that is larger."""
    expected = expected.astype(found.dtype).astype(np.float64)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    magnitude = np.maximum(np.abs(expected), 1.0 if at_least_one else 0.0)
    with np.errstate(invalid="ignore"):
        unit = np.spacing(magnitude.astype(found.dtype)).astype(np.float64)
        difference = np.abs(found.astype(np.float64) - expected) / unit
    return float(np.max(np.where(same, 0.0, difference), initial=0.0))


INFINITE = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])
POLES = np.array([-1.0, -2.0, -3.0, -1e37])
POSITIVE = np.concatenate([RANDOM.uniform(0.01, 30, 300), 10 ** RANDOM.uniform(-5, 20, 100)])
REFLECTED = RANDOM.uniform(-20, 0.4, 200)
INSIDE = np.concatenate([RANDOM.uniform(-1, 1, 300), 1 - 2.0 ** -np.arange(1, 50), [1, -1, 2]])
REAL = np.concatenate([RANDOM.uniform(-60, 60, 300), 10 ** RANDOM.uniform(-8, 8, 50)])

# Rounded from 60 digits (mpmath), some at arguments where other libraries are inaccurate.
EXACT = {
    "erf_inv": [
        (0.1, 0.08885599049425769),
        (-0.4999, -0.4768250236254278),
        (0.51, 0.4881220505159588),
        (0.993, 1.9069568646709454),
        (-0.9999, -2.75106390571208),
        (0.9999999925494194, 4.08738784457644),
        (0.9999999999999999, 5.8635847487551676),
        (3e-12, 2.6586807763582744e-12),
    ],
    "erfc": [
        (0.25, 0.7236736098317631),
        (0.5, 0.4795001221869535),
        (-0.75, 1.7111556336535152),
        (1.9, 0.0072095707647425325),
        (4.5, 1.9661604415428876e-10),
        (12.25, 3.09412674054021e-67),
        (26.5, 2.2109076642637343e-307),
        (-3.1, 1.9999883513426329),
    ],
    "lgamma": [
        (1e-08, 18.42068073818021),
        (0.62, 0.3681357399215827),
        (1.0033011056797343, -0.0018965016227643033),
        (1.9357178849814476, -0.025826725854576613),
        (2.5121296, 0.2932478816887156),
        (3.9, 1.6675803472417396),
        (4.6079859, 2.605152484077581),
        (7.99, 8.50501160608848),
        (33.3, 82.60372358165495),
        (1000000000000000.0, 3.3538776394910668e16),
    ],
    "digamma": [
        (1e-08, -100000000.57721564),
        (0.3, -3.502524222200133),
        (0.818021815657507, -0.9242726133874373),
        (1.4, -0.06138454458511624),
        (9.99, 2.250700372831201),
        (3000.5, 8.006367572279876),
        (-0.5, 0.03648997397857652),
        (-7.637871233945882, 0.6444170872022692),
    ],
    "bessel_i1e": [
        (0.0002341486944692556, 0.00011704693844029905),
        (-0.5, -0.1564208031848717),
        (3.3, 0.19109017276102952),
        (7.999, 0.13414997242586205),
        (8.001, 0.13413501537956068),
        (-45.25, -0.058811341707277004),
        (1000000000.0, 1.2615662605369927e-05),
    ],
}

# In ULP, where the result is f64; of `digamma` in ULP of 1 where it is less.
BOUNDS = {"erf_inv": 4, "erfc": 4, "lgamma": 16, "digamma": 8, "bessel_i1e": 8}


@pytest.mark.parametrize("name", EXACT)
def test_exact_values(name: str):
    x, expected = np.array(EXACT[name]).T
    at_least_one = name == "digamma"
    assert errors(compute(name, x), expected, at_least_one=at_least_one) <= BOUNDS[name]


# In ULP of f32, of what is computed in f32.
IN_SINGLE = {"erf_inv": 3, "erfc": 6, "lgamma": 32}

FUNCTIONS = [
    ("erf_inv", INSIDE),
    ("erfc", np.concatenate([RANDOM.uniform(-6, 26, 300), INFINITE])),
    ("lgamma", np.concatenate([POSITIVE, REFLECTED, RANDOM.uniform(0.5, 3, 200), POLES, INFINITE])),
    ("digamma", np.concatenate([POSITIVE, REFLECTED, POLES])),
    ("bessel_i1e", REAL),
]
SCIPY_ULP = 128
"""How far scipy's own f64 functions are from exact, here (in ULP of 1 where the result is less)."""


def scipy_function(name: str) -> Callable[[Array], Array]:
    return {
        "erf_inv": special.erfinv,
        "erfc": np.vectorize(math.erfc),  # scipy's loses 9 bits where the result is small.
        "lgamma": special.gammaln,
        "digamma": special.digamma,
        "bessel_i1e": special.i1e,
    }[name]


@pytest.mark.jax
@pytest.mark.parametrize(("name", "arguments"), FUNCTIONS)
@pytest.mark.parametrize("type_name", ["f64", "f32", "f16", "bf16"])
def test_special_functions(name: str, arguments: Array, type_name: str):
    with np.errstate(all="ignore"):
        x = arguments.astype(TYPES[type_name])
        expected = np.asarray(scipy_function(name)(x.astype(np.float64)))
    if name == "lgamma":
        expected = np.where(np.isinf(x.astype(np.float64)), np.inf, expected)
    found = compute(name, x)
    if type_name == "f64":
        assert errors(found, expected, at_least_one=True) <= SCIPY_ULP
        return
    tiny = float(ml_dtypes.finfo(x.dtype).tiny)
    with np.errstate(over="ignore"):
        normal, wanted = (
            np.where(np.abs(value.astype(np.float64)) < tiny, 0, value).astype(x.dtype)
            for value in (found, expected)
        )
    assert errors(normal, wanted) <= IN_SINGLE.get(name, 1)


def test_values_at_the_border():
    assert np.array_equal(
        compute("digamma", np.array([0.0, -0.0, -3.0, np.inf])),
        [np.nan, np.nan, np.nan, np.inf],
        equal_nan=True,
    )
    found = compute("bessel_i1e", np.array([np.inf, -np.inf, 0.0, -0.0]))
    assert np.array_equal(found, [0, 0, 0, 0])
    assert np.array_equal(np.signbit(found), [False, True, False, True])
    zeros = compute("erf_inv", np.array([0.0, -0.0]))
    assert np.array_equal(np.signbit(zeros), [False, True])
    assert np.array_equal(
        compute(
            "zeta",
            np.array([1.0, 0.5, 2.0, 3.0, 2.5, 2.0, np.inf, np.inf]),
            np.array([2.0, 2.0, -1.0, -1.0, -0.5, np.inf, 1.0, 2.0]),
        ),
        [np.inf, np.nan, np.inf, np.nan, np.nan, 0, 1, 0],
        equal_nan=True,
    )
    assert np.array_equal(
        compute("polygamma", np.array([2.5, -1.0, 1.0, 2.0]), np.array([1.0, 1.0, -1.0, -1.0])),
        [np.nan, np.nan, np.inf, np.nan],
        equal_nan=True,
    )


@pytest.mark.jax
@pytest.mark.parametrize(("type_name", "bound"), [("f64", 1e-13), ("f32", 2e-7)])
def test_zeta_and_polygamma(type_name: str, bound: float):
    x = RANDOM.uniform(1.05, 20, 300).astype(TYPES[type_name])
    q = RANDOM.uniform(0.05, 40, 300).astype(TYPES[type_name])
    expected = special.zeta(x.astype(np.float64), q.astype(np.float64))
    normal = np.abs(expected) > np.finfo(x.dtype).tiny
    np.testing.assert_allclose(compute("zeta", x, q)[normal], expected[normal], rtol=bound)
    n = RANDOM.integers(0, 12, 300).astype(x.dtype)
    orders = n.astype(np.int64)
    expected = special.polygamma(orders, q.astype(np.float64))
    np.testing.assert_allclose(compute("polygamma", n, q), expected, rtol=10 * bound, atol=bound)
    below = np.array([-0.5, -2.25, -5.5], x.dtype)
    orders = np.full(3, 3, x.dtype)
    np.testing.assert_allclose(
        compute("zeta", orders, below), special.zeta(3.0, below.astype(np.float64)), rtol=1e-6
    )


@pytest.mark.parametrize("type_name", ["f64", "f32", "f16", "bf16", "f8E5M2", "f8E4M3FNUZ"])
def test_next_after(type_name: str):
    dtype = TYPES[type_name]
    least = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    numbers = np.array([0, 1, -1, 1.5, least, -least, np.inf, -np.inf, np.nan]).astype(dtype)
    x, y = (side.reshape(-1) for side in np.meshgrid(numbers, numbers))
    found, expected = compute("next_after", x, y), np.nextafter(x, y)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.itemsize]
    number = ~np.isnan(expected)
    assert np.array_equal(found[number].view(width), expected[number].view(width))


def test_tests_for_infinity():
    x = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    for name, expected in (("is_inf", [1, 1, 0, 0]), ("is_pos_inf", [1, 0, 0, 0])):
        assert np.array_equal(compute(name, x, result="tensor<4xi1>"), np.array(expected, bool))
    found = compute("is_neg_inf", x, result="tensor<4xi1>")
    assert np.array_equal(found, [False, True, False, False])


def test_complex_functions():
    z = np.array([1 + 2j, -3.5 + 0.25j, 0.5 - 1j], np.complex128)
    assert np.array_equal(compute("conj", z), np.conj(z))
    assert np.array_equal(compute("square", z), z * z)
    np.testing.assert_allclose(compute("atan", z), np.arctan(z), rtol=1e-14)
    np.testing.assert_allclose(compute("tan", z), np.tan(z), rtol=1e-14)
    w = compute("_asin_acos_kernel", z)
    arcsine = np.arctan2(z.real, w.real) + 1j * np.copysign(w.imag, z.imag)
    np.testing.assert_allclose(arcsine, np.arcsin(z), rtol=1e-14)
    x = np.array([1.0, -0.0], np.float32)
    assert np.array_equal(compute("conj", x), x)
    np.testing.assert_allclose(compute("atan", x), np.arctan(x), rtol=1e-7)


BROADCAST_SHAPES: list[tuple[Sequence[int], Sequence[int], str]] = [
    ((2, 3), (3,), ""),
    ((), (2, 3), ""),
    ((2, 3), (1, 1), ""),
    ((2, 1), (3,), ""),
    ((1, 3), (2, 3), ""),
    ((0, 3), (1, 3), ""),
    ((2, 3), (2,), "broadcast_dimensions = array<i64: 0>"),
    ((3,), (3, 2), "broadcast_dimensions = array<i64: 0>"),
    ((2, 3), (2, 3), "broadcast_dimensions = array<i64: 0, 1>"),
]


@pytest.mark.parametrize(("left", "right", "attributes"), BROADCAST_SHAPES)
def test_broadcast(left: Sequence[int], right: Sequence[int], attributes: str):
    a = RANDOM.integers(1, 9, left).astype(np.float32)
    b = RANDOM.integers(1, 9, right).astype(np.float32)
    x, y = a, b
    if "array<i64: 0>" in attributes:
        x = a[:, None] if a.ndim < b.ndim else a
        y = b[:, None] if b.ndim < a.ndim else b
    expected = np.asarray(x - y)
    result = type_of(expected)
    found = compute("broadcast_subtract", a, b, result=result, attributes=attributes)
    assert np.array_equal(found, expected)
    flags = compute(
        "broadcast_compare",
        a,
        b,
        result=result.replace("f32", "i1"),
        attributes=", ".join(
            filter(None, ("comparison_direction = #chlo<comparison_direction GT>", attributes))
        ),
    )
    assert np.array_equal(flags, x > y)


def test_broadcast_select_and_others():
    p = np.array([True, False, True])
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = compute("broadcast_select", p, a, np.array(-1, np.float32), result="tensor<2x3xf32>")
    assert np.array_equal(found, np.where(p, a, -1))
    i = np.array([[1], [2]], np.int32)
    found = compute(
        "broadcast_shift_left", i, np.arange(3, dtype=np.int32), result="tensor<2x3xi32>"
    )
    assert np.array_equal(found, i << np.arange(3))
    found = compute("broadcast_complex", a, a[0], result="tensor<2x3xcomplex<f32>>")
    assert np.array_equal(found, a + 1j * a[0])
    found = compute("broadcast_next_after", a, a[1], result="tensor<2x3xf32>")
    assert np.array_equal(found, np.nextafter(a, np.broadcast_to(a[1], a.shape)))
    high = compute("mulhi", np.array([2**30, -5], np.int32), np.array([12, 7], np.int32))
    assert np.array_equal(high, [3, -1])


def test_constants():
    a = np.zeros((2, 3), np.float32)
    assert np.array_equal(compute("constant_like", a, attributes="value = 1.5 : f32"), a + 1.5)
    found = compute("constant_like", a, result="tensor<2x3xi32>", attributes="value = -2 : i32")
    assert np.array_equal(found, np.full((2, 3), -2))
    text = "func.func @main() -> tensor<2xf32> {\n%0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\nreturn %0 : tensor<2xf32>\n}"
    assert list(np.asarray(run(read_stablehlo(text), [])[0])) == [1, 2]


def test_scan():
    text = """
func.func @main(%x: tensor<3xi32>, %c: tensor<i32>) -> (tensor<3xi32>, tensor<i32>) {
  %0:2 = chlo.scan(%x) inits (%c) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s, %s : tensor<i32>, tensor<i32>
  } : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<3xi32>, tensor<i32>
}"""
    outputs, last = run(read_stablehlo(text), [np.array([1, 2, 3], np.int32), np.int32(10)])
    assert list(np.asarray(outputs)) == [16, 15, 13]
    assert last == 16


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            "%0 = chlo.lgamma %i : tensor<2xi32> -> tensor<2xi32>",
            "chlo.lgamma: an operand is s32[2]",
        ),
        ("%0 = chlo.zeta %x, %y : tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>", "one type"),
        (
            "%0 = chlo.broadcast_add %x, %z : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>",
            "(B8)",
        ),
        (
            "%0 = chlo.broadcast_add %x, %z {broadcast_dimensions = array<i64: 1>} : "
            "(tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>",
            "broadcast_dimensions [1] for operands of one rank 1",
        ),
        ("%0 = chlo.is_inf %x : tensor<2xf32> -> tensor<2xf32>", "expected pred[2]"),
    ],
)
def test_errors(operation: str, message: str):
    arguments = "%x: tensor<2xf32>, %y: tensor<2xf64>, %z: tensor<3xf32>, %i: tensor<2xi32>"
    text = f"func.func @main({arguments}) {{\n{operation}\nreturn\n}}"
    with pytest.raises(LocatedError, match=r"^f.mlir:2:6: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert message in str(caught.value)
