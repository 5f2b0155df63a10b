"""Arithmetic of scalars and vectors in machine code, against numpy."""

import ml_dtypes
import numpy as np
import pytest
from element_values import (
    FLOATS,
    INTEGERS,
    dtype,
    exact,
    float_values,
    integer_values,
    pairs,
    rounded,
    same,
    unsigned,
)
from loops_level import LANES, AnyArray, elementwise, elementwise_each, parse

from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError
from xla_dialect.types import BY_NAME

SHAPES = pytest.mark.parametrize("lanes", [None, LANES], ids=["scalar", "vector"])


FLOAT_BINARY = [
    ("addf", np.add),
    ("subf", np.subtract),
    ("mulf", np.multiply),
    ("divf", np.divide),
    ("remf", np.fmod),
    ("maximumf", np.maximum),
    ("minimumf", np.minimum),
    ("maxnumf", np.fmax),
    ("minnumf", np.fmin),
]


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
def test_float_binary(name: str, lanes: int | None):
    a, b = pairs(float_values(name))
    bodies = [f"%r = arith.{op} %a0, %a1 : {{0}}" for op, _ in FLOAT_BINARY]
    results = elementwise_each(bodies, [a, b], name, lanes)
    for (op, function), found in zip(FLOAT_BINARY, results, strict=True):
        expected = rounded(function, a, b)
        if "max" in op or "min" in op:
            # numpy leaves the sign of a zero open, and so do maxnumf and minnumf.
            zero = (found == 0) & (expected == 0)
            if op in ("maximumf", "minimumf"):
                pick = np.logical_and if op == "maximumf" else np.logical_or
                negative = pick(np.signbit(a), np.signbit(b))
                np.testing.assert_array_equal(np.signbit(found)[zero], negative[zero])
            found, expected = found[~zero], expected[~zero]
        same(found, expected)


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
def test_negf(name: str, lanes: int | None):
    a = float_values(name)
    same(elementwise("%r = arith.negf %a0 : {0}", [a], name, lanes), -a)


FLOAT_COMPARISONS = [
    ("false", lambda a, b: np.zeros(a.shape, np.bool_)),
    ("true", lambda a, b: np.ones(a.shape, np.bool_)),
    ("oeq", np.equal),
    ("ogt", np.greater),
    ("oge", np.greater_equal),
    ("olt", np.less),
    ("ole", np.less_equal),
    ("one", lambda a, b: (a < b) | (a > b)),
    ("ord", lambda a, b: (a == a) & (b == b)),
    ("ueq", lambda a, b: ~((a < b) | (a > b))),
    ("ugt", lambda a, b: ~(a <= b)),
    ("uge", lambda a, b: ~(a < b)),
    ("ult", lambda a, b: ~(a >= b)),
    ("ule", lambda a, b: ~(a > b)),
    ("une", np.not_equal),
    ("uno", lambda a, b: (a != a) | (b != b)),
]


@SHAPES
@pytest.mark.parametrize("name", FLOATS)
def test_cmpf(name: str, lanes: int | None):
    a, b = pairs(float_values(name))
    bodies = [
        f"%r = arith.cmpf {predicate}, %a0, %a1 : {{0}}" for predicate, _ in FLOAT_COMPARISONS
    ]
    results = elementwise_each(bodies, [a, b], "pred", lanes)
    for (predicate, function), found in zip(FLOAT_COMPARISONS, results, strict=True):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(found, function(a, b), predicate)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER_BINARY = [
    ("addi", lambda a, b: a + b),
    ("subi", lambda a, b: a - b),
    ("muli", lambda a, b: a * b),
    ("andi", lambda a, b: a & b),
    ("ori", lambda a, b: a | b),
    ("xori", lambda a, b: a ^ b),
    ("minsi", min),
    ("maxsi", max),
]


@SHAPES
@pytest.mark.parametrize("name", INTEGERS)
def test_integer_binary(name: str, lanes: int | None):
    a, b = pairs(integer_values(name))
    bodies = [f"%r = arith.{op} %a0, %a1 : {{0}}" for op, _ in INTEGER_BINARY]
    results = elementwise_each(bodies, [a, b], name, lanes)
    for (op, function), found in zip(INTEGER_BINARY, results, strict=True):
        np.testing.assert_array_equal(found, exact(name, function, a, b), op)


SIGNED_DIVISIONS = [
    ("divsi", truncated),
    ("remsi", lambda a, b: a - b * truncated(a, b)),
    ("floordivsi", lambda a, b: a // b),
    ("ceildivsi", lambda a, b: -(-a // b)),
]


@SHAPES
@pytest.mark.parametrize("name", INTEGERS)
def test_signed_division(name: str, lanes: int | None):
    a, b = pairs(integer_values(name))
    overflows = (a == ml_dtypes.iinfo(a.dtype).min) & (b == np.array(-1).astype(b.dtype))
    defined = (b != np.array(0).astype(b.dtype)) & ~overflows
    b = np.where(defined, b, np.array(1).astype(b.dtype))
    bodies = [f"%r = arith.{op} %a0, %a1 : {{0}}" for op, _ in SIGNED_DIVISIONS]
    results = elementwise_each(bodies, [a, b], name, lanes)
    for (op, function), found in zip(SIGNED_DIVISIONS, results, strict=True):
        np.testing.assert_array_equal(found, exact(name, function, a, b), op)


UNSIGNED_BINARY = [
    ("divui", lambda a, b: a // b),
    ("remui", lambda a, b: a % b),
    ("ceildivui", lambda a, b: -(-a // b)),
    ("minui", min),
    ("maxui", max),
]


@SHAPES
@pytest.mark.parametrize("name", INTEGERS)
def test_unsigned(name: str, lanes: int | None):
    a, b = pairs(integer_values(name))
    b = np.where(b == np.array(0).astype(b.dtype), np.array(1).astype(b.dtype), b)
    bodies = [f"%r = arith.{op} %a0, %a1 : {{0}}" for op, _ in UNSIGNED_BINARY]
    results = elementwise_each(bodies, [a, b], name, lanes)
    bits = BY_NAME[name].bits
    for (op, function), found in zip(UNSIGNED_BINARY, results, strict=True):
        np.testing.assert_array_equal(found, exact(name, unsigned(bits, function), a, b), op)


@SHAPES
@pytest.mark.parametrize("name", INTEGERS)
def test_shifts(name: str, lanes: int | None):
    bits = BY_NAME[name].bits
    a = np.repeat(integer_values(name), bits)
    b = np.tile(np.arange(bits), a.size // bits).astype(a.dtype)
    functions = {
        "shli": lambda a, b: a << b % (1 << bits),
        "shrsi": lambda a, b: a >> b % (1 << bits),
        "shrui": unsigned(bits, lambda a, b: a >> b),
    }
    bodies = [f"%r = arith.{op} %a0, %a1 : {{0}}" for op in functions]
    results = elementwise_each(bodies, [a, b], name, lanes)
    for (op, function), found in zip(functions.items(), results, strict=True):
        np.testing.assert_array_equal(found, exact(name, function, a, b), op)


INTEGER_COMPARISONS = [
    ("eq", True, np.equal),
    ("ne", True, np.not_equal),
    ("slt", True, np.less),
    ("sle", True, np.less_equal),
    ("sgt", True, np.greater),
    ("sge", True, np.greater_equal),
    ("ult", False, np.less),
    ("ule", False, np.less_equal),
    ("ugt", False, np.greater),
    ("uge", False, np.greater_equal),
]


@SHAPES
@pytest.mark.parametrize("name", ["s8", "s32", "s64"])
def test_cmpi(name: str, lanes: int | None):
    a, b = pairs(integer_values(name))
    bodies = [f"%r = arith.cmpi {row[0]}, %a0, %a1 : {{0}}" for row in INTEGER_COMPARISONS]
    results = elementwise_each(bodies, [a, b], "pred", lanes)
    for (predicate, signed, function), found in zip(INTEGER_COMPARISONS, results, strict=True):
        as_read = dtype(name if signed else name.replace("s", "u"))
        expected = function(a.view(as_read), b.view(as_read))
        np.testing.assert_array_equal(found, expected, predicate)


@SHAPES
@pytest.mark.parametrize("name", ["pred", "s4", "s8", "s64", "bf16", "f16", "f64", "f8e4m3fn"])
def test_select(name: str, lanes: int | None):
    rng = np.random.default_rng(1)
    condition = rng.integers(0, 2, 64).astype(np.bool_)
    a, b = (rng.integers(-3, 4, 64).astype(dtype(name)) for _ in range(2))
    types = "{0}, {1}" if lanes else "{1}"
    found = elementwise(
        f"%r = arith.select %a0, %a1, %a2 : {types}", [condition, a, b], name, lanes
    )
    np.testing.assert_array_equal(found, np.where(condition, a, b))


def test_select_of_vectors_by_one_condition():
    a, b = np.arange(64, dtype=np.float32), -np.arange(64, dtype=np.float32)
    body = """
      %c = arith.cmpi slt, %i, %bound : index
      %r = arith.select %c, %a0, %a1 : {0}
    """
    bound = "%bound = arith.constant 24 : index"
    found = elementwise(bound + body, [a, b], "f32", LANES)
    np.testing.assert_array_equal(found, np.where(np.arange(64) < 24, a, b))


@SHAPES
@pytest.mark.parametrize("source", ["s2", "s4", "s8", "s16", "s32", "s64"])
@pytest.mark.parametrize("target", ["s4", "s8", "s16", "s32", "s64"])
def test_integer_casts(source: str, target: str, lanes: int | None):
    a = integer_values(source)
    if BY_NAME[source].bits < BY_NAME[target].bits:
        found = elementwise("%r = arith.extsi %a0 : {0} to {r}", [a], target, lanes)
        np.testing.assert_array_equal(found, exact(target, lambda x: x, a))
        found = elementwise("%r = arith.extui %a0 : {0} to {r}", [a], target, lanes)
        bits = BY_NAME[source].bits
        np.testing.assert_array_equal(found, exact(target, unsigned(bits, lambda x: x), a))
    elif BY_NAME[source].bits > BY_NAME[target].bits:
        found = elementwise("%r = arith.trunci %a0 : {0} to {r}", [a], target, lanes)
        np.testing.assert_array_equal(found, exact(target, lambda x: x, a))


@SHAPES
def test_pred_casts(lanes: int | None):
    a = np.arange(16) % 3 == 0
    found = elementwise("%r = arith.extui %a0 : {0} to {r}", [a], "s32", lanes)
    np.testing.assert_array_equal(found, a.astype(np.int32))
    found = elementwise("%r = arith.uitofp %a0 : {0} to {r}", [a], "f32", lanes)
    np.testing.assert_array_equal(found, a.astype(np.float32))
    b = np.arange(16, dtype=np.int8)
    found = elementwise("%r = arith.trunci %a0 : {0} to {r}", [b], "pred", lanes)
    np.testing.assert_array_equal(found, b % 2 == 1)


@SHAPES
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"])
def test_float_to_integer(source: str, target: str, lanes: int | None):
    """Saturating, as XLA converts: NaN is 0."""
    a = float_values(source)
    op = "fptoui" if target.startswith("u") else "fptosi"
    body = f"%r = arith.{op} %a0 {{{{xla.saturating}}}} : {{0}} to {{r}}"
    found = elementwise(body, [a], target, lanes)
    info = np.iinfo(dtype(target))
    expected = [
        0 if np.isnan(x) else min(max(int(np.clip(x, -1e30, 1e30)), info.min), info.max)
        for x in a.astype(np.float64)
    ]
    np.testing.assert_array_equal(found, np.array(expected, dtype(target)))


@SHAPES
def test_float_to_integer_in_range(lanes: int | None):
    a = np.linspace(-1000, 1000, 64, dtype=np.float32)
    found = elementwise("%r = arith.fptosi %a0 : {0} to {r}", [a], "s32", lanes)
    np.testing.assert_array_equal(found, a.astype(np.int32))


@SHAPES
@pytest.mark.parametrize("source", ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"])
@pytest.mark.parametrize("target", FLOATS)
def test_integer_to_float(source: str, target: str, lanes: int | None):
    signed = integer_values("s" + source[1:])
    op = "uitofp" if source.startswith("u") else "sitofp"
    a = signed.view(dtype(source))
    found = elementwise(f"%r = arith.{op} %a0 : {{0}} to {{r}}", [a], target, lanes)
    # f64 holds all but 64-bit integers exactly, and ml_dtypes rounds from f32.
    with np.errstate(over="ignore"):
        expected = correctly_rounded(a.astype(np.float64), target)
        if target in ("f32", "f64"):
            expected = a.astype(dtype(target))
    same(found, expected)


def correctly_rounded(a: AnyArray, target: str) -> AnyArray:
    """f64 rounded once: the nearer of the neighbours of what ml_dtypes says, ties to even."""
    guess = a.astype(dtype(target))
    if dtype(target).itemsize != 2:
        return guess
    bits = guess.view(np.uint16)
    best = guess.copy()
    with np.errstate(invalid="ignore"):
        for step in (-1, 1):
            other = (bits + np.uint16(step % 65536)).view(dtype(target))
            usable = np.isfinite(other.astype(np.float64)) & np.isfinite(guess.astype(np.float64))
            distance = np.abs(other.astype(np.float64) - a)
            best_distance = np.abs(best.astype(np.float64) - a)
            tie_to_even = (distance == best_distance) & (other.view(np.uint16) % 2 == 0)
            closer = usable & ((distance < best_distance) | tie_to_even)
            best = np.where(closer, other, best)
    return best


@SHAPES
@pytest.mark.parametrize(
    ("source", "target"),
    [("f32", "bf16"), ("f32", "f16"), ("f64", "bf16"), ("f64", "f16"), ("f64", "f32")],
)
def test_truncf(source: str, target: str, lanes: int | None):
    rng = np.random.default_rng(2)
    scale = 2.0 ** rng.integers(-30, 15, 2048)
    a = np.concatenate([float_values(source).astype(np.float64), rng.normal(size=2048) * scale])
    if source == "f64":
        # Just beside the middle between two bf16 or f16 numbers: wrong if rounded twice.
        for bits in (8, 11):
            middle = 1 + (2 * rng.integers(0, 1 << (bits - 1), 64) + 1) / (1 << bits)
            a = np.concatenate([a, middle, middle * (1 + 1e-13), middle * (1 - 1e-13)])
    with np.errstate(over="ignore"):
        a = a.astype(dtype(source))
        expected = correctly_rounded(a.astype(np.float64), target)
    same(elementwise("%r = arith.truncf %a0 : {0} to {r}", [a], target, lanes), expected)


@SHAPES
@pytest.mark.parametrize(
    ("source", "target"),
    [("bf16", "f32"), ("bf16", "f64"), ("f16", "f32"), ("f16", "f64"), ("f32", "f64")],
)
def test_extf(source: str, target: str, lanes: int | None):
    a = float_values(source)
    found = elementwise("%r = arith.extf %a0 : {0} to {r}", [a], target, lanes)
    same(found, a.astype(dtype(target)))


def test_every_bf16_survives_widening_and_rounding():
    a = np.arange(65536, dtype=np.uint16).view(ml_dtypes.bfloat16)
    body = """
      %wide = arith.extf %a0 : {0} to {v:f32}
      %r = arith.truncf %wide : {v:f32} to {r}
    """
    same(elementwise(body, [a], "bf16", LANES), a)


@SHAPES
@pytest.mark.parametrize(("source", "target"), [("f32", "s32"), ("s64", "f64"), ("bf16", "s16")])
def test_bitcast(source: str, target: str, lanes: int | None):
    values = float_values(source) if source in FLOATS else integer_values(source)
    found = elementwise("%r = arith.bitcast %a0 : {0} to {r}", [values], target, lanes)
    assert found.tobytes() == values.tobytes()


@SHAPES
def test_index_casts(lanes: int | None):
    a = integer_values("s32")
    body = """
      %wide = arith.index_cast %a0 : {0} to {v:index}
      %two = arith.addi %wide, %wide : {v:index}
      %r = arith.index_cast %two : {v:index} to {r}
    """
    np.testing.assert_array_equal(elementwise(body, [a], "s64", lanes), a.astype(np.int64) * 2)
    body = "%wide = arith.index_castui %a0 : {0} to {v:index}\n" + (
        "%r = arith.index_cast %wide : {v:index} to {r}"
    )
    np.testing.assert_array_equal(elementwise(body, [a], "s64", lanes), a.view(np.uint32))


@SHAPES
@pytest.mark.parametrize("name", ["s8", "s32", "s64"])
@pytest.mark.parametrize("signedness", ["u", "s"])
def test_extended_multiplication(signedness: str, name: str, lanes: int | None):
    a, b = pairs(integer_values(name))
    bits = BY_NAME[name].bits
    product = (lambda a, b: a * b) if signedness == "s" else unsigned(bits, lambda a, b: a * b)
    for part, function in (("l", product), ("h", lambda a, b: product(a, b) >> bits)):
        results = "%r, %other" if part == "l" else "%other, %r"
        body = f"{results} = arith.mul{signedness}i_extended %a0, %a1 : {{0}}"
        found = elementwise(body, [a, b], name, lanes)
        np.testing.assert_array_equal(found, exact(name, function, a, b))


def test_addui_extended():
    a, b = pairs(integer_values("s32"))
    body = "%sum, %r = arith.addui_extended %a0, %a1 : {0}, {r}"
    found = elementwise(body, [a, b], "pred", LANES)
    total = a.view(np.uint32).astype(np.uint64) + b.view(np.uint32)
    np.testing.assert_array_equal(found, total >= 1 << 32)


@pytest.mark.parametrize("name", [*FLOATS, "s4", "s32", "pred"])
def test_constants(name: str):
    """Scalars, splats and lists mean the same as in numpy."""
    element = {"s4": "i4", "s32": "i32", "pred": "i1"}.get(name, name)
    integers = name not in FLOATS
    values = [1, 0, 1, 1, 0, 0, 1, 0] if integers else [1.5, -0.0, 2.0, 0.25, -3.0, 1.0, 0.0, 8.0]
    zero = np.zeros(8, dtype(name))
    listed = f"%r = arith.constant dense<{values}> : {{r}}"
    same(elementwise(listed, [zero], name, LANES), np.array(values).astype(dtype(name)))
    one = "true" if name == "pred" else f"1 : {element}" if integers else f"1.5 : {element}"
    number = 1 if integers else 1.5
    found = elementwise(f"%r = arith.constant {one}", [zero], name, None)
    same(found, np.full(8, number).astype(dtype(name)))
    splat = "true" if name == "pred" else str(number)
    found = elementwise(f"%r = arith.constant dense<{splat}> : {{r}}", [zero], name, LANES)
    same(found, np.full(8, number).astype(dtype(name)))


@pytest.mark.parametrize(
    ("name", "bits"),
    [("f32", "7FC00001"), ("f32", "FF800000"), ("f32", "7F800001"), ("f64", "7FF8000000000001")],
)
def test_constants_keep_every_bit(name: str, bits: str):
    body = f"%r = arith.constant dense<0x{bits}> : {{r}}"
    found = elementwise(body, [np.zeros(8, dtype(name))], name, LANES)
    assert set(found.view(f"u{found.itemsize}").tolist()) == {int(bits, 16)}


@pytest.mark.parametrize("type_", ["bf16", "f8E4M3FN"])
def test_arithmetic_of_small_floats_is_an_error(type_: str):
    text = f"""
      func.func @main(%a: {type_}) {{
        %0 = arith.addf %a, %a : {type_}
        func.return
      }}
    """
    with pytest.raises(EmissionError, match=f"arith.addf in @main: arithmetic of {type_} must be"):
        emit_module(parse(text))
