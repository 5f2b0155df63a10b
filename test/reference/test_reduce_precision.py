"""Worked examples of reduce-precision, its definition on every value of small types, and XLA."""

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hlo_examples import on_reference, on_xla, program, spelled
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, ElementClass

NAN, INF = np.nan, np.inf

Example = tuple[str, str, tuple[int, int], list[float], list[float]]
WORKED: list[Example] = [
    (
        "example 1",
        "f32",
        (8, 7),
        [1, 1.00390625, 1.01171875, 3.14159274, 3.4028235e38],
        [1, 1, 1.015625, 3.140625, INF],
    ),
    (
        "(5,10)",
        "f32",
        (5, 10),
        [65504, 65519, 65520, 1e-5, 6.1035156e-5, 0.333333343, 6.1e-5, 6.103e-5, -1e-9],
        [65504, 65504, INF, 0, 6.1035156e-5, 0.333251953125, 0, 6.1035156e-5, -0.0],
    ),
    (
        "(5,2)",
        "f32",
        (5, 2),
        [57344, 61439, 61440, 1.125, 1.375],
        [57344, 57344, INF, 1, 1.5],
    ),
    (
        "(4,3)",
        "f32",
        (4, 3),
        [240, 247, 248, 448, 0.015625, 0.0146],
        [240, 240, INF, INF, 0.015625, 0],
    ),
    ("(8,0)", "f32", (8, 0), [1, 1.25, 1.5, 1.75, 3], [1, 1, 2, 2, 2]),
    (
        "(2,1)",
        "f32",
        (2, 1),
        [0.5, 1, 1.5, 2, 3, 3.5, 4, 0.75, 0.9, 0.99],
        [0, 1, 1.5, 2, 3, INF, INF, 0, 1, 1],
    ),
    ("(1,0)", "f32", (1, 0), [0.5, 1, 1.5, 2, NAN], [0, 0, INF, INF, NAN]),
    ("f64", "f64", (8, 23), [1e39, 3.40282357e38, 1e-40], [INF, INF, 0]),
    ("bf16", "bf16", (5, 10), [1e-5, 70000], [0, INF]),
    ("f16", "f16", (8, 7), [65504, 1.001], [INF, 1]),
]
EXAMPLES: list[Example] = [
    *WORKED,
    ("specials", "f32", (5, 2), [-0.0, 0, INF, -INF, -NAN], [-0.0, 0, INF, -INF, NAN]),
    ("a subnormal is kept", "f32", (8, 7), [9.1835e-41, -1e-45], [9.1835e-41, -0.0]),
    ("more bits than the type has", "f16", (99, 99), [65504, 6e-8, -1.5], [65504, 6e-8, -1.5]),
]


def reduced(x: np.ndarray, exponent_bits: int, mantissa_bits: int) -> Any:
    text = program(
        f"{spelled(x)} reduce-precision(x), exponent_bits={exponent_bits}, "
        f"mantissa_bits={mantissa_bits}",
        {"x": x},
    )
    return text, {"x": x}


@pytest.mark.parametrize(
    ("name", "bits", "values", "expected"), [c[1:] for c in EXAMPLES], ids=[c[0] for c in EXAMPLES]
)
def test_examples(name: str, bits: tuple[int, int], values: list[float], expected: list[float]):
    """Worked examples: docs/generated/worked_examples.md#reduce_precision."""
    same(on_reference(*reduced(numbers(name, values), *bits)), (numbers(name, expected),))


@pytest.mark.jax
@pytest.mark.parametrize(
    ("name", "bits", "values", "expected"),
    [c[1:] for c in WORKED],
    ids=[c[0] for c in WORKED],
)
def test_examples_on_xla(
    name: str, bits: tuple[int, int], values: list[float], expected: list[float]
):
    same(on_xla(*reduced(numbers(name, values), *bits)), (numbers(name, expected),))


def nearest(value: Fraction, exponent_bits: int, mantissa_bits: int) -> float:
    """By the rule: the significand rounded to nearest even, then the range of the exponent."""
    sign, size = (-1.0 if value < 0 else 1.0), abs(value)
    exponent = 0
    while size >= 2 ** (exponent + 1):
        exponent += 1
    while size < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - mantissa_bits)
    size = round(size / unit) * unit
    exponent += size >= 2 ** (exponent + 1)
    bias = 2 ** (exponent_bits - 1) - 1
    if exponent > bias:
        return sign * INF
    return sign * (0.0 if exponent < 1 - bias else float(size))


@pytest.mark.parametrize("name", each_or_full(("f16", "bf16", "f8e5m2", "f8e4m3"), ("f8e5m2",)))
@pytest.mark.parametrize("bits", [(2, 1), (3, 1), (4, 1), (4, 2), (3, 3)])
def test_every_normal_number(name: str, bits: tuple[int, int]):
    """Where fewer exponent bits than the type has decide, and mantissa bits are at least one."""
    row, dtype = BY_NAME[name], numpy_dtype(BY_NAME[name].type)
    info: Any = ml_dtypes.finfo(dtype)
    if bits[0] >= info.nexp:
        pytest.skip("the type has no more exponent bits")
    every = (
        np.arange(1 << row.bits).astype(f"u{dtype.itemsize}").view(dtype)[:: max(1, row.bits - 7)]
    )
    with np.errstate(invalid="ignore"):
        wide = every.astype(np.float64)
    x = every[np.isfinite(wide) & (np.abs(wide) >= float(info.smallest_normal))]
    mantissa_bits = min(bits[1], int(info.nmant))
    expected = [nearest(Fraction(float(v)), bits[0], mantissa_bits) for v in x]
    same(on_reference(*reduced(x, *bits)), (numbers(name, expected),))


FLOATS = [row.name for row in BY_NAME.values() if row.element_class == ElementClass.FLOAT]


@pytest.mark.parametrize("name", FLOATS)
def test_every_type(name: str):
    """With all its bits a type keeps its values; with few of them nothing fails."""
    row, dtype = BY_NAME[name], numpy_dtype(BY_NAME[name].type)
    bits = min(row.bits, 16)
    x = np.arange(1 << bits).astype(f"u{min(dtype.itemsize, 2)}")
    x = x.astype(f"u{dtype.itemsize}") << (8 * dtype.itemsize - bits if row.bits > 16 else 0)
    x = x.view(dtype)
    same(on_reference(*reduced(x, 11, 52)), (x,))
    (found,) = on_reference(*reduced(x, 2, 0))
    assert found.dtype == dtype


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(("f16", "bf16", "f32", "f64"), ("f32",)))
@pytest.mark.parametrize("bits", [(8, 7), (5, 10), (4, 3), (5, 2), (3, 0), (8, 2)])
def test_random_on_xla(name: str, bits: tuple[int, int]):
    random = np.random.default_rng(9)
    x = numbers(name, random.standard_normal(500) * 10.0 ** random.integers(-4, 5, 500))
    same(on_reference(*reduced(x, *bits)), on_xla(*reduced(x, *bits)))
