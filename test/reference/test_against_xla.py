"""Elementwise operations beside XLA CPU, on random values of every element type that JAX has."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from peers import has_jax
from small_programs import evaluate, shape
from sweeps import each_or_full

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise, operations_of
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, ElementType

if has_jax():
    import jax
    from jax import lax

pytestmark = pytest.mark.jax

COUNT = 256
QUICK = ("pred", "s4", "s8", "u32", "f8e4m3fn", "bf16", "f32", "c64")
"""The types that are compared in every run; XLA takes a second or two for each."""

RTOL = {"f32": 1e-6, "f64": 3e-14, "c64": 4e-6, "c128": 2e-14}
"""What XLA CPU's own functions are good for; narrower floats: one unit in the last place."""

DIFFERENT: dict[tuple[str, str], str] = {
    ("xla.mulhi", "s4"): "XLA CPU takes the high half of 8 bits",
    ("xla.mulhi", "u4"): "XLA CPU takes the high half of 8 bits",
    ("xla.popcnt", "s4"): "XLA CPU counts the sign of 8 bits",
    ("xla.popcnt", "s2"): "XLA CPU counts the sign of 8 bits",
    **{
        (f"xla.{op}", row.name): "XLA CPU rounds between the steps of its formula"
        for op in ("acos", "acosh", "asin", "atanh", "logistic")
        for row in ELEMENT_TYPES
        if row.element_class == ElementClass.FLOAT and row.bits <= 8
    },
}
"""What is not compared, and why."""

SPECIAL_NAMES: dict[type[XlaOp], str] = {
    elementwise.SubtractOp: "sub",
    elementwise.MultiplyOp: "mul",
    elementwise.DivideOp: "div",
    elementwise.RemainderOp: "rem",
    elementwise.PowerOp: "pow",
    elementwise.MaximumOp: "max",
    elementwise.MinimumOp: "min",
    elementwise.AndOp: "bitwise_and",
    elementwise.OrOp: "bitwise_or",
    elementwise.XorOp: "bitwise_xor",
    elementwise.CountLeadingZerosOp: "clz",
    elementwise.CosineOp: "cos",
    elementwise.ExponentialOp: "exp",
    elementwise.ExponentialMinusOneOp: "expm1",
    elementwise.LogPlusOneOp: "log1p",
    elementwise.NegateOp: "neg",
    elementwise.NotOp: "bitwise_not",
    elementwise.PopcntOp: "population_count",
    elementwise.SineOp: "sin",
}


def lax_function(op: type[XlaOp]) -> Callable[..., Any]:
    if op is elementwise.RoundNearestAfzOp:
        return lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)
    if op is elementwise.RoundNearestEvenOp:
        return lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    return getattr(lax, SPECIAL_NAMES.get(op, op.name.removeprefix("xla.")))


def operations(base: type[XlaOp]) -> list[Any]:
    return [each for each in operations_of(elementwise) if issubclass(each, base)]


def random_values(row: ElementType, seed: int) -> np.ndarray:
    """Any integers; floats about 3 in size, which are normal numbers of every type."""
    random = np.random.default_rng(seed)
    dtype = numpy_dtype(row.type)
    if row.element_class == ElementClass.PRED:
        return random.integers(0, 2, COUNT).astype(bool)
    if row.element_class in ElementClass.INTEGER:
        bits = random.integers(0, 256, COUNT * dtype.itemsize, dtype=np.uint8).view(dtype)
        # Through int8, so that the unused bits of narrow types are what JAX makes them.
        return bits.astype(np.int8).astype(dtype) if row.bits < 8 else bits
    parts = random.standard_normal((2, COUNT)) * 3
    if row.element_class == ElementClass.COMPLEX:
        return (parts[0] + 1j * parts[1]).astype(dtype)
    return parts[0].astype(dtype)


def is_comparable(op: Any, row: ElementType, operands: list[np.ndarray]) -> bool:
    """Whether the operation has the element type, here and in JAX."""
    if not op.contract().elements & row.element_class or (op.name, row.name) in DIFFERENT:
        return False
    if op is elementwise.ComplexOp and row.name not in ("f32", "f64"):
        return False
    try:
        jax.eval_shape(lax_function(op), *operands)
    except TypeError:
        return False
    return True


def assert_close(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    """Integers equal; floats within what XLA's functions are good for; NaNs where XLA has them."""
    assert found.dtype == expected.dtype, what
    row = next(r for r in ELEMENT_TYPES if numpy_dtype(r.type) == found.dtype)
    if row.element_class & (ElementClass.INTEGER | ElementClass.PRED):
        np.testing.assert_array_equal(found, expected, what)
        return
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        mine, theirs = found.astype(wide), expected.astype(wide)
    rtol = RTOL.get(row.name) or float(ml_dtypes.finfo(found.dtype).eps) * 1.5
    np.testing.assert_allclose(mine, theirs, rtol=rtol, err_msg=what)


@pytest.mark.parametrize("name", each_or_full(BY_NAME, QUICK))
def test_elementwise(name: str):
    """All operations in one program of XLA: compiling takes the time."""
    row = BY_NAME[name]
    values = [random_values(row, seed) for seed in (1, 2)]
    cases = [
        (op, values[:arity])
        for arity, base in enumerate(
            (elementwise.ElementwiseUnaryOp, elementwise.ElementwiseBinaryOp), 1
        )
        for op in operations(base)
        if is_comparable(op, row, values[:arity])
    ]
    assert len(cases) >= 5
    with jax.enable_x64(True):
        expected = jax.jit(
            lambda x, y: [lax_function(op)(*(x, y)[: len(given)]) for op, given in cases]
        )(*values)
    for (op, given), theirs in zip(cases, expected, strict=True):
        assert_close(evaluate(op, *given), np.asarray(theirs), f"{op.name} of {row.name}")


def edges(name: str) -> np.ndarray:
    """Numbers at which conversions saturate, wrap, round or overflow."""
    row = BY_NAME[name]
    dtype = numpy_dtype(row.type)
    if row.element_class == ElementClass.PRED:
        return np.array([False, True])
    if row.element_class in ElementClass.INTEGER:
        info = ml_dtypes.iinfo(dtype)
        corners = [info.min, info.min + 1, 0, 1, info.max - 1, info.max]
        exact = np.array(corners, np.uint64 if name == "u64" else np.int64)
        return np.concatenate([exact.astype(dtype), random_values(row, 3)])
    floats = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 127.5, 255.5, 1e4, -1e4, 3e9, -3e9, 1e19]
    with np.errstate(all="ignore"):
        special = np.array([*floats, np.inf, -np.inf, np.nan]).astype(dtype)
    return np.concatenate([special, random_values(row, 3)])


CONVERTED = (
    *("pred", "s4", "u4", "s8", "u8", "s32", "u32", "s64", "u64"),
    *("bf16", "f16", "f32", "f64"),
)
NARROW_FLOATS = ("f8e5m2", "f8e4m3fn", "f8e4m3fnuz", "f4e2m1fn")


@pytest.mark.parametrize("source", each_or_full((*CONVERTED, *NARROW_FLOATS), QUICK))
def test_convert(source: str):
    """To all of these types at once, exactly; f64 to types below f32 XLA CPU rounds twice."""
    operand = edges(source)
    targets = [*CONVERTED, *NARROW_FLOATS]
    if source == "f64":
        targets = [*CONVERTED[:-4], "f32", "f64"]
    if source == "f4e2m1fn":
        # XLA CPU makes the largest integer of any type of the largest float.
        targets = ["pred", *CONVERTED[-4:], *NARROW_FLOATS]
    dtypes = [numpy_dtype(BY_NAME[name].type) for name in targets]
    with jax.enable_x64(True):
        expected = jax.jit(lambda x: [lax.convert_element_type(x, d) for d in dtypes])(operand)
    for name, theirs in zip(targets, expected, strict=True):
        type_ = shape(f"{name}[{operand.size}]")
        found = evaluate(lambda x, t=type_: ConvertOp(x, result_types=[t]), operand)
        exact = np.asarray(theirs)
        if exact.dtype.kind not in "biu":
            with np.errstate(invalid="ignore"):
                found, exact = found.astype(np.float64), exact.astype(np.float64)
        np.testing.assert_array_equal(found, exact, f"{source} to {name}")
