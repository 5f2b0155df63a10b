"""The mathematical functions that LLVM compiles to instructions, against numpy."""

import numpy as np
import pytest
from element_values import (
    FLOATS,
    dtype,
    exact,
    float_values,
    integer_values,
    pairs,
    rounded,
    same,
    unsigned,
)
from loops_level import LANES, elementwise, parse

from lowerings.targets.llvm.machine import host
from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError
from xla_dialect.types import BY_NAME

SHAPES = pytest.mark.parametrize("lanes", [None, LANES], ids=["scalar", "vector"])


def half_away(x):
    return np.copysign(np.trunc(np.abs(x) + np.where(np.abs(x) < 2**22, 0.5, 0)), x)


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("sqrt", np.sqrt),
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("trunc", np.trunc),
        ("roundeven", np.rint),
        ("round", half_away),
        ("absf", np.abs),
    ],
)
def test_float_unary(op: str, function, name: str, lanes: int | None):
    a = float_values(name)
    same(elementwise(f"%r = math.{op} %a0 : {{0}}", [a], name, lanes), rounded(function, a))


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
def test_copysign(name: str, lanes: int | None):
    a, b = pairs(float_values(name))
    found = elementwise("%r = math.copysign %a0, %a1 : {0}", [a, b], name, lanes)
    same(found, rounded(np.copysign, a, b))


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
def test_fma(name: str, lanes: int | None):
    """One rounding: 1 + 2e + e * e, minus 1 + 2e, leaves e * e."""
    epsilon = 2.0 ** -{"bf16": 5, "f16": 7, "f32": 20, "f64": 40}[name]
    a = np.full(LANES, 1 + epsilon).astype(dtype(name))
    c = np.full(LANES, -(1 + 2 * epsilon)).astype(dtype(name))
    found = elementwise("%r = math.fma %a0, %a0, %a1 : {0}", [a, c], name, lanes)
    same(found, np.full(LANES, epsilon**2).astype(dtype(name)))


@SHAPES
@pytest.mark.parametrize("name", ["s4", "s8", "s16", "s32", "s64"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("absi", lambda bits: abs),
        ("ctlz", lambda bits: unsigned(bits, lambda x: bits - x.bit_length())),
        ("cttz", lambda bits: unsigned(bits, lambda x: (x & -x).bit_length() - 1 if x else bits)),
        ("ctpop", lambda bits: unsigned(bits, int.bit_count)),
    ],
)
def test_integer_unary(op: str, function, name: str, lanes: int | None):
    a = integer_values(name)
    found = elementwise(f"%r = math.{op} %a0 : {{0}}", [a], name, lanes)
    np.testing.assert_array_equal(found, exact(name, function(BY_NAME[name].bits), a))


@pytest.mark.parametrize("lanes", [None, 1, 2, 4, 8, 16])
def test_reciprocal_roots(lanes: int | None):
    """Of zeros, infinities and subnormal numbers too; the same bits in vectors of all widths."""
    some = np.random.default_rng(0).integers(0, 0x7F80_0000, 4096 - 8, np.uint32).view(np.float32)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1e-45, 4.0], np.float32)
    a = np.concatenate([ends, some])
    found = elementwise("%r = math.rsqrt %a0 : {0}", [a], "f32", lanes)
    with np.errstate(all="ignore"):
        right = 1 / np.sqrt(a.astype(np.float64))
    is_number = np.isfinite(right)
    same(found[~is_number], right[~is_number].astype(np.float32))
    ulp = np.spacing(np.maximum(right[is_number], np.finfo(np.float32).tiny).astype(np.float32))
    assert np.all(np.abs(found[is_number] - right[is_number]) <= 1.1 * ulp)
    same(found, elementwise("%r = math.rsqrt %a0 : {0}", [a], "f32", LANES))


@pytest.mark.skipif(not host().scales_by_powers, reason="this processor has no AVX-512")
@pytest.mark.parametrize("lanes", [None, 1, 2, 4, 8, 16])
def test_exponentials(lanes: int | None):
    """Subnormal results, zero and infinity too; the same bits in vectors of all widths."""
    some = np.random.default_rng(0).uniform(-110, 95, 4096 - 8).astype(np.float32)
    ends = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-45], np.float32)
    a = np.concatenate([ends, some])
    found = elementwise("%r = math.exp %a0 : {0}", [a], "f32", lanes)
    with np.errstate(all="ignore"):
        right = np.exp(a.astype(np.float64))
        nearest = right.astype(np.float32)
    is_number = np.isfinite(nearest)
    same(found[~is_number], nearest[~is_number])
    error = np.abs(found[is_number] - right[is_number])
    assert np.all(error <= np.spacing(nearest[is_number]))
    same(found, elementwise("%r = math.exp %a0 : {0}", [a], "f32", LANES))


def test_other_functions_must_be_expanded():
    module = parse(
        "func.func @f(%x: f32) -> f32 {\n %r = math.exp %x : f32\n func.return %r : f32\n}"
    )
    with pytest.raises(EmissionError, match=r"math.exp in @f: must be expanded by expand-math"):
        emit_module(module)
