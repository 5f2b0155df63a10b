"""
Machine code for element types that processors lack, small floats and complex numbers, against
the reference: every elementwise operation, and what moves, folds and multiplies arrays.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from element_values import float_values, pairs
from elementwise_operations import operations_taking
from small_programs import Built, numbers, same
from sweeps import each_or_full
from tensors_level import module_of, within

import lowerings
from lowerings.compilation import compile_module
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.literals.arrays import flatten_results, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.elementwise import ClampOp, CompareOp, SelectOp
from xla_dialect.reference import run
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

AnyArray = np.ndarray[Any, np.dtype[Any]]

SMALL = [e.name for e in ELEMENT_TYPES if e.element_class == ElementClass.FLOAT and e.bits <= 8]
COMPLEX = ("c64", "c128")
OF_EACH_KIND = ("f6e2m3fn", "f8e5m2", "f8e4m3b11fnuz", "f8e8m0fnu")
"""Small floats that differ by more than widths and rows of a table."""
small_floats = pytest.mark.parametrize("name", each_or_full(SMALL, OF_EACH_KIND))
ROUNDED_FROM_F32 = 1.0
"""ULP that a function of a small float may be off, where its value in f32 is inexact."""


def natively(
    build: Callable[..., Built], *arguments: AnyArray
) -> tuple[Sequence[AnyArray], Sequence[AnyArray]]:
    """The results of machine code and of the reference."""
    module = module_of(build, arguments)
    module.verify()
    expected = flatten_results(run(module, arguments))
    return compile_module(module)(*arguments), expected


def all_codes(name: str) -> AnyArray:
    """Every value of a format of at most 8 bits."""
    return np.arange(1 << BY_NAME[name].bits, dtype=np.uint8).view(numpy_dtype(BY_NAME[name].type))


def compare_small(operations: Sequence[type[XlaOp]], *operands: AnyArray) -> None:
    found, expected = natively(lambda *x: [operation(*x) for operation in operations], *operands)
    for operation, mine, theirs in zip(operations, found, expected, strict=True):
        if operation in EXACT or theirs.dtype == np.bool_:
            same(mine, theirs)
        else:
            within(mine, theirs, ROUNDED_FROM_F32)


EXACT = {
    elementwise.AbsOp,
    elementwise.CeilOp,
    elementwise.FloorOp,
    elementwise.ImagOp,
    elementwise.NegateOp,
    elementwise.RealOp,
    elementwise.RoundNearestAfzOp,
    elementwise.RoundNearestEvenOp,
    elementwise.SignOp,
    elementwise.SqrtOp,
    elementwise.AddOp,
    elementwise.SubtractOp,
    elementwise.MultiplyOp,
    elementwise.DivideOp,
    elementwise.RemainderOp,
    elementwise.MaximumOp,
    elementwise.MinimumOp,
}


@small_floats
def test_small_floats_of_one_operand(name: str) -> None:
    unary, _ = operations_taking(ElementClass.FLOAT)
    compare_small(unary, all_codes(name))


@small_floats
def test_small_floats_of_more_operands(name: str) -> None:
    _, binary = operations_taking(ElementClass.FLOAT)
    some = all_codes(name)[:: 1 if BY_NAME[name].bits == 4 else 7]
    first, second = pairs(some)
    compare_small(binary, first, second)

    def build(x: Any, y: Any) -> list[XlaOp]:
        orders = (ComparisonType.FLOAT, ComparisonType.TOTALORDER)
        directions = [(d, order) for d in ComparisonDirection for order in orders]
        found: list[XlaOp] = [
            CompareOp(x, y, direction=d, comparison_type=order) for d, order in directions
        ]
        return [*found, SelectOp(found[0].results[0], x, y), ClampOp(x, y, x), ClampOp(y, y, x)]

    for mine, theirs in zip(*natively(build, first, second), strict=True):
        same(mine, theirs)


@pytest.mark.parametrize("name", each_or_full([*SMALL, *COMPLEX], [*OF_EACH_KIND[::2], COMPLEX[0]]))
def test_conversions(name: str) -> None:
    if name in SMALL:
        values = all_codes(name)
    else:
        values = numbers(name, [0, -0.0, 1 + 2j, -3.5, 1e10, -1e39j, 300.7, -129.5 + 1j])

    def build(x: Any) -> list[XlaOp]:
        to = [ConvertOp(x, result_types=[array(e.type, values.shape)]) for e in ELEMENT_TYPES]
        back = [ConvertOp(y, result_types=[x.type]) for y in to]
        return [*to, *back]

    for mine, theirs in zip(*natively(build, values), strict=True):
        same(mine, theirs)


@pytest.mark.parametrize("name", ["s1", "u1", "s2", "u2"])
def test_integers_of_one_and_two_bits(name: str) -> None:
    """Every operation on every value, in vectors and in what is left over; s1 has 0 and -1."""
    unary, binary = operations_taking(BY_NAME[name].element_class)
    values = np.resize(all_codes(name), 36)
    first, second = pairs(values)

    def build(x: Any, y: Any) -> list[XlaOp]:
        compared = [CompareOp(x, y, direction=direction) for direction in ComparisonDirection]
        clamped = [ClampOp(x, y, x), ClampOp(y, y, x), SelectOp(compared[0].results[0], x, y)]
        as_others = [ConvertOp(x, result_types=[array(e.type, x.type.get_shape())]) for e in OTHERS]
        computed = [f(x) for f in unary] + [f(x, y) for f in binary]
        return [*computed, *compared, *clamped, *as_others]

    for mine, theirs in zip(*natively(build, first, second), strict=True):
        same(mine, theirs)


OTHERS = [e for e in ELEMENT_TYPES if e.element_class != ElementClass.COMPLEX]


@pytest.mark.parametrize("target", ["s1", "u1"])
@pytest.mark.parametrize("source", [e.name for e in OTHERS])
def test_conversions_to_one_bit(source: str, target: str) -> None:
    row = BY_NAME[source]
    if row.element_class == ElementClass.FLOAT:
        values = all_codes(source) if row.bits <= 8 else float_values(source)
    elif row.bits < 8 or source == "pred":
        values = np.arange(2, dtype=np.uint8).view(numpy_dtype(row.type))
    else:
        values = np.array([-2, -1, 0, 1, 2, 3]).astype(numpy_dtype(row.type))
    result = array(BY_NAME[target].type, values.shape)
    for mine, theirs in zip(
        *natively(lambda x: ConvertOp(x, result_types=[result]), values), strict=True
    ):
        same(mine, theirs)


@pytest.mark.parametrize("name", [name for name in SMALL if 32 % BY_NAME[name].bits == 0])
def test_bits(name: str) -> None:
    width = BY_NAME[name].bits
    unsigned, wide = BY_NAME[f"u{width}"].type, BY_NAME["u32"].type

    def build(x: Any) -> list[XlaOp]:
        bits = BitcastConvertOp(x, result_types=[array(unsigned, (2, 32 // width))])
        joined = BitcastConvertOp(x, result_types=[array(wide, (2,))])
        return [bits, joined, BitcastConvertOp(joined, result_types=[x.type])]

    values = all_codes(name)[-64 // width :].reshape(2, -1)
    for mine, theirs in zip(*natively(build, values), strict=True):
        same(mine, theirs)


@pytest.mark.parametrize("name", [*SMALL, "bf16", "f16", "f32", "f64"])
def test_reduced_precision(name: str) -> None:
    values = all_codes(name) if name in SMALL else float_values(name)
    formats = [(e, m) for e in (1, 2, 4, 5, 8, 11) for m in (0, 1, 3, 10, 23)]
    found, expected = natively(
        lambda x: [ReducePrecisionOp(x, exponent_bits=e, mantissa_bits=m) for e, m in formats],
        values,
    )
    for mine, theirs in zip(found, expected, strict=True):
        same(mine, theirs)


INFINITY, NAN = float("inf"), float("nan")
CORNERS = [0.0, -0.0, 1.0, -1.0, 0.5, -3.0, INFINITY, -INFINITY, NAN]


def complex_of(name: str, real: AnyArray, imaginary: AnyArray) -> AnyArray:
    """The complex array of parts; arithmetic would turn infinities into NaN."""
    result = np.empty(real.shape, numpy_dtype(BY_NAME[name].type))
    result.real, result.imag = real, imaginary
    return result


def corners(name: str) -> AnyArray:
    return complex_of(name, *pairs(np.array(CORNERS)))


def spread(name: str) -> AnyArray:
    """Numbers near 0 and far from it, near the unit circle, and with parts of all sizes."""
    source = np.random.default_rng(0)
    limit = 35 if name == "c64" else 290
    parts = [source.normal(size=(2, 200)) * scale for scale in (1, 4, 30)]
    for low, high in ((-limit, limit), (-8, 3)):
        sign = source.choice([-1.0, 1.0], (2, 200))
        parts.append(sign * 10.0 ** source.uniform(low, high, (2, 200)))
    angle = source.uniform(0, 2 * np.pi, 200)
    parts.append(np.stack([np.cos(angle), np.sin(angle)]) * (1 + 1e-6 * source.normal(size=200)))
    return complex_of(name, *np.concatenate(parts, axis=1))


BOUNDS: dict[type[XlaOp], float] = {
    elementwise.ExponentialMinusOneOp: 1e-12,
    elementwise.LogPlusOneOp: 1e-9,
    elementwise.LogisticOp: 1e-12,
}
"""Relative errors of parts of c128 where terms cancel, in the reference or in machine code."""
COMPLEX_ULPS = {"c64": 2.0, "c128": 10.0}


def compare_parts(
    operation: type[XlaOp], found: AnyArray, expected: AnyArray, tolerance: float
) -> None:
    """
    Both parts agree up to a relative error; infinities and NaN are where they should be.

    Beside a NaN the sign of an infinity is free, and so is that of any zero in the corners.
    """
    mine, theirs = (np.stack([np.real(x), np.imag(x)]) for x in (found, expected))
    finite = np.isfinite(theirs)
    beside_nan = np.isnan(theirs[::-1])
    agree = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    agree |= beside_nan & (np.abs(mine) == np.abs(theirs))
    with np.errstate(all="ignore"):
        tiny = np.finfo(theirs.dtype).tiny
        close = np.abs(mine - theirs) <= tolerance * np.maximum(np.abs(theirs), tiny)
    wrong = ~np.where(finite, close, agree).all(axis=0)
    assert not wrong.any(), f"{operation.name}: {found[wrong][:3]}, expected {expected[wrong][:3]}"


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions(name: str) -> None:
    unary, _ = operations_taking(ElementClass.COMPLEX)
    operands = np.concatenate([corners(name), spread(name)])
    found, expected = natively(lambda z: [operation(z) for operation in unary], operands)
    eps = np.finfo(numpy_dtype(BY_NAME[name].type)).eps
    for operation, mine, theirs in zip(unary, found, expected, strict=True):
        tolerance = COMPLEX_ULPS[name] * float(eps)
        if name == "c128":
            tolerance = BOUNDS.get(operation, tolerance)
        compare_parts(operation, mine, theirs, tolerance)


@pytest.mark.parametrize("name", COMPLEX)
def test_quotients_of_corners(name: str) -> None:
    found, expected = natively(elementwise.DivideOp, *pairs(corners(name)))
    for mine, theirs in zip(found, expected, strict=True):
        compare_parts(elementwise.DivideOp, mine, theirs, 4 * np.finfo(theirs.dtype).eps)


@pytest.mark.parametrize("name", COMPLEX)
def test_powers(name: str) -> None:
    bases = numbers(name, [0, -0.0, 1, 2, -1.5, 1j, 1 + 1j, 0.3 - 2j, -0.5 + 0.1j, 1e3 - 1e3j])
    exponents = [0, 1, 2, -1, 3, -7, 12, 0.5, -0.5, 1j, 1 + 1j, 2.5 - 0.25j, -1 + 3j, 99, -99]
    z, w = np.meshgrid(bases, numbers(name, exponents))
    found, expected = natively(elementwise.PowerOp, z.ravel(), w.ravel())
    for mine, theirs in zip(found, expected, strict=True):
        assert np.array_equal(np.isfinite(mine), np.isfinite(theirs))
        mine, theirs = (x[np.isfinite(theirs)] for x in (mine, theirs))
        # The error of `w ln z` is one of the angle, and relative to the modulus.
        error = np.abs(mine - theirs) / np.maximum(np.abs(theirs), np.finfo(theirs.dtype).tiny)
        assert error.max() <= 300 * np.finfo(theirs.dtype).eps
    (exact,), _ = natively(elementwise.PowerOp, *(numbers(name, [x]) for x in (1 + 1j, 2)))
    assert exact[0] == 2j


@pytest.mark.parametrize("name", [name for name in SMALL if name.endswith("fnuz")])
@pytest.mark.parametrize(
    ("backend", "level"),
    [("llvm", None), ("reference", None), ("interpreter", "tensors"), ("interpreter", "loops")],
)
def test_the_nan_without_a_sign_is_above_all_in_total_order(
    name: str, backend: str, level: str | None
) -> None:
    text = f"""
    less {{
      a = {name}[] parameter(0)
      b = {name}[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER
    }}
    ENTRY main {{
      x = {name}[256] parameter(0)
      nan = {name}[] constant(nan)
      nans = {name}[256] broadcast(nan), dimensions={{}}
      below = pred[256] compare(x, nans), direction=LT, type=TOTALORDER
      sorted = {name}[256] sort(x), dimensions={{0}}, to_apply=less
      ROOT t = (pred[256], {name}[256]) tuple(below, sorted)
    }}"""
    x = all_codes(name)
    below, ordered = lowerings.compile(text, backend=backend, level=level)(x)
    numbers_of = x.astype(np.float32)
    np.testing.assert_array_equal(below, ~np.isnan(numbers_of))
    np.testing.assert_array_equal(ordered.astype(np.float32), np.sort(numbers_of))
