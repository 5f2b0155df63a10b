"""Simplified programs give the same bits, for every value of every element type."""

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from built_programs import build
from hypothesis import given
from hypothesis import strategies as st
from small_programs import same
from sweeps import each_or_full, few_examples, row
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.program import parse_program
from lowerings.simplify.data_movement_rules import LEAST_WINDOW
from lowerings.simplify.elementwise_rules import is_exact
from lowerings.simplify.xla_simplify import RULES, XlaSimplifyPass
from xla_dialect.builder import XlaBuilder
from xla_dialect.literals.arrays import flatten_results, numpy_dtype
from xla_dialect.mlir_text import print_mlir
from xla_dialect.reference import run
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass
from xla_dialect.verification import verify

INTEGERS = [e.name for e in ELEMENT_TYPES if e.element_class & ElementClass.INTEGER]
SIGNED = [name for name in INTEGERS if name.startswith("s")]
FLOATS = [e.name for e in ELEMENT_TYPES if e.element_class == ElementClass.FLOAT]
COMPLEX = ["c64", "c128"]
# These two have no zero, or no sign.
SIGNED_FLOATS = [name for name in FLOATS if name not in ("f8e8m0fnu",)]
ANY = ["pred", *INTEGERS, *FLOATS, *COMPLEX]
_HALF_PRECISION_BITS = 16


def every_value(name: str) -> np.ndarray:
    """All values of a type of up to 16 bits, else the corners and some between."""
    element, dtype = BY_NAME[name], numpy_dtype(BY_NAME[name].type)
    if name == "pred":
        return np.array([False, True])
    if element.element_class == ElementClass.COMPLEX:
        parts = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan]
        return np.array([complex(a, b) for a, b in itertools.product(parts, parts)], dtype)
    if element.bits <= _HALF_PRECISION_BITS:
        codes = np.arange(1 << element.bits, dtype=f"u{dtype.itemsize}")
        if element.element_class == ElementClass.SIGNED and element.bits < 8:
            return codes.view(np.int8).astype(dtype)
        return codes.view(dtype)
    if element.element_class & ElementClass.INTEGER:
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.min + 1, 0, 1, 2, limits.max - 1, limits.max], dtype)
    limits = ml_dtypes.finfo(dtype)
    numbers = [0.0, 1.0, 1.5, 3.0, np.inf, np.nan, limits.max, limits.tiny]
    numbers += [limits.smallest_subnormal, 3 * limits.smallest_subnormal, np.pi]
    return np.array([*numbers, *(-np.array(numbers))], dtype)


def simplified(module: ModuleOp) -> ModuleOp:
    """A simplified copy, which verifies, prints and reads as it is."""
    copy = module.clone()
    XlaSimplifyPass().apply(make_context(), copy)
    verify(copy)
    assert print_mlir(parse_program(print_mlir(copy), input_format="mlir")) == print_mlir(copy)
    return copy


def operations(module: ModuleOp) -> list[str]:
    return [op.name.removeprefix("xla.") for op in module.walk() if op.name.startswith("xla.")]


@dataclass(frozen=True)
class Case:
    """A program of one array `x`, and what is left of it."""

    build: Callable[[XlaBuilder, Any, str], Any]
    types: list[str]
    left: tuple[str, ...] = ()


def splat(b: XlaBuilder, x: Any, name: str, value: Any) -> Any:
    """An array like x of one number."""
    with np.errstate(all="ignore"):
        number = np.array(value).astype(numpy_dtype(BY_NAME[name].type))
    return b.broadcast(b.constant(number), x.shape)


def limit(name: str, which: str) -> int:
    return int(getattr(ml_dtypes.iinfo(numpy_dtype(BY_NAME[name].type)), which))


CASES: dict[str, Case] = {
    "add zero": Case(lambda b, x, t: b.add(x, splat(b, x, t, 0)), INTEGERS),
    "zero add": Case(lambda b, x, t: b.add(splat(b, x, t, 0), x), INTEGERS),
    "add negative zero": Case(
        lambda b, x, t: b.add(x, splat(b, x, t, -0.0)), ["bf16", "f16", "f32"]
    ),
    "add positive zero": Case(
        lambda b, x, t: b.add(x, splat(b, x, t, 0.0)),
        ["f16", "f32"],
        ("add", "broadcast", "constant"),
    ),
    "subtract zero": Case(lambda b, x, t: b.sub(x, splat(b, x, t, 0)), INTEGERS),
    "subtract positive zero": Case(lambda b, x, t: b.sub(x, splat(b, x, t, 0.0)), SIGNED_FLOATS),
    "subtract itself": Case(lambda b, x, t: b.sub(x, x), INTEGERS, ("constant",)),
    "subtract float itself": Case(lambda b, x, t: b.sub(x, x), ["f32"], ("subtract",)),
    "multiply by one": Case(
        lambda b, x, t: b.mul(splat(b, x, t, 1), x), [*(t for t in INTEGERS if t != "s1"), *FLOATS]
    ),
    "multiply by zero": Case(
        lambda b, x, t: b.mul(x, splat(b, x, t, 0)), INTEGERS, ("broadcast", "constant")
    ),
    "multiply float by zero": Case(
        lambda b, x, t: b.mul(x, splat(b, x, t, 0)), ["f16"], ("broadcast", "constant", "multiply")
    ),
    "multiply complex by one": Case(
        lambda b, x, t: b.mul(x, splat(b, x, t, 1)), COMPLEX, ("broadcast", "constant", "multiply")
    ),
    "divide by one": Case(
        lambda b, x, t: b.div(x, splat(b, x, t, 1)), [*(t for t in INTEGERS if t != "s1"), *FLOATS]
    ),
    "divide by a power of two": Case(
        lambda b, x, t: b.div(x, splat(b, x, t, -4)),
        [t for t in SIGNED_FLOATS if t not in ("f4e2m1fn", "f6e2m3fn")],
        ("constant", "multiply"),
    ),
    "divide by three": Case(
        lambda b, x, t: b.div(x, splat(b, x, t, 3)), ["f32"], ("broadcast", "constant", "divide")
    ),
    "power one": Case(
        lambda b, x, t: b.pow(x, splat(b, x, t, 1)), ["s8", "u16", "bf16", "f32", "f64"]
    ),
    "and ones": Case(lambda b, x, t: b.and_(x, splat(b, x, t, -1)), SIGNED),
    "and true": Case(lambda b, x, t: b.and_(splat(b, x, t, True), x), ["pred"]),
    "and zero": Case(
        lambda b, x, t: b.and_(splat(b, x, t, 0), x), ["pred", *INTEGERS], ("broadcast", "constant")
    ),
    "or zero": Case(lambda b, x, t: b.or_(x, splat(b, x, t, 0)), ["pred", *INTEGERS]),
    "or true": Case(
        lambda b, x, t: b.or_(x, splat(b, x, t, True)), ["pred"], ("broadcast", "constant")
    ),
    "xor itself": Case(lambda b, x, t: b.xor(x, x), ["pred", *INTEGERS], ("constant",)),
    "xor zero": Case(lambda b, x, t: b.xor(splat(b, x, t, 0), x), ["pred", *INTEGERS]),
    "shift by zero": Case(lambda b, x, t: b.shift_left(x, splat(b, x, t, 0)), INTEGERS),
    "maximum with the least": Case(
        lambda b, x, t: b.max(x, splat(b, x, t, limit(t, "min"))), INTEGERS
    ),
    "minimum with the least": Case(
        lambda b, x, t: b.min(x, splat(b, x, t, limit(t, "min"))),
        INTEGERS,
        ("broadcast", "constant"),
    ),
    "maximum with -inf": Case(
        lambda b, x, t: b.max(splat(b, x, t, -np.inf), x), ["f8e5m2", "f16", "f64"]
    ),
    "minimum with inf": Case(
        lambda b, x, t: b.min(x, splat(b, x, t, np.inf)), ["f8e4m3", "bf16", "f32"]
    ),
    "maximum with itself": Case(lambda b, x, t: b.max(x, x), [*INTEGERS, *FLOATS]),
    "negate twice": Case(lambda b, x, t: b.neg(b.neg(x)), [*INTEGERS, *SIGNED_FLOATS, *COMPLEX]),
    "not twice": Case(lambda b, x, t: b.not_(b.not_(x)), ["pred", *INTEGERS]),
    "absolute of negated": Case(
        lambda b, x, t: b.abs(b.neg(x)), [*SIGNED, *SIGNED_FLOATS], ("abs",)
    ),
    "absolute twice": Case(lambda b, x, t: b.abs(b.abs(x)), [*SIGNED, *SIGNED_FLOATS], ("abs",)),
    "sign twice": Case(lambda b, x, t: b.sign(b.sign(x)), [*SIGNED, *SIGNED_FLOATS], ("sign",)),
    "floor of rounded": Case(
        lambda b, x, t: b.floor(b.round_nearest_even(x)),
        [t for t in SIGNED_FLOATS if t != "f6e2m3fn"],
        ("round_nearest_even",),
    ),
    # 7.5 rounds to 8, which is 7.5 there.
    "floor of rounded f6": Case(
        lambda b, x, t: b.floor(b.round_nearest_even(x)),
        ["f6e2m3fn"],
        ("floor", "round_nearest_even"),
    ),
    "complex of its parts": Case(lambda b, x, t: b.complex(b.real(x), b.imag(x)), COMPLEX),
    "part of a complex": Case(
        lambda b, x, t: b.imag(b.complex(x, b.neg(x))), ["f32", "f64"], ("negate",)
    ),
    "compare with itself": Case(lambda b, x, t: b.ge(x, x), ["pred", *INTEGERS], ("constant",)),
    "compare floats": Case(lambda b, x, t: b.eq(x, x), ["f32"], ("compare",)),
    "select of equals": Case(lambda b, x, t: b.select(b.eq(x, x), x, x), ANY),
    "select by a negation": Case(
        lambda b, x, t: b.select(b.not_(x), x, splat(b, x, t, True)),
        ["pred"],
        ("broadcast", "constant", "select"),
    ),
    "select of true and false": Case(
        lambda b, x, t: b.select(x, splat(b, x, t, True), splat(b, x, t, False)), ["pred"]
    ),
    "select of false and true": Case(
        lambda b, x, t: b.select(x, splat(b, x, t, False), splat(b, x, t, True)), ["pred"], ("not",)
    ),
    "convert to itself": Case(lambda b, x, t: b.convert_element_type(x, t), ANY),
    "bits and back": Case(
        lambda b, x, t: b.bitcast_convert_type(b.bitcast_convert_type(x, "u32"), t), ["f32", "s32"]
    ),
    "transpose twice": Case(
        lambda b, x, t: b.transpose(
            b.transpose(b.reshape(x, (1, x.shape[0], 1)), (1, 2, 0)), (2, 0, 1)
        ),
        ["f32", "pred"],
        ("reshape",),
    ),
    "reshape twice": Case(
        lambda b, x, t: b.reshape(b.reshape(x, (x.shape[0], 1)), x.shape), ["f32", "pred", "s4"]
    ),
    "reverse twice": Case(lambda b, x, t: b.rev(b.rev(x, (0,)), (0,)), ["f32"]),
    "slice of a slice": Case(
        lambda b, x, t: b.slice(b.slice(x, (2,), (13,), (3,)), (1,), (4,), (2,)),
        ["f32"],
        ("slice",),
    ),
    "slice of two parts": Case(
        lambda b, x, t: b.slice(
            b.concat_in_dim([x, b.rev(x, (0,)), x, x], 0),
            (x.shape[0] - 2,),
            (2 * x.shape[0] + 3,),
            (1,),
        ),
        ["f32", "s4"],
        ("slice", "reverse", "slice", "concatenate"),
    ),
    "slice of a part": Case(
        lambda b, x, t: b.slice(b.concat_in_dim([b.neg(x), x], 0), (24,), (30,), (1,)),
        ["f32"],
        ("slice",),
    ),
    "pad by less than nothing": Case(
        lambda b, x, t: b.pad(x, b.constant(np.float32(0)), [(-1, -2, 0)]), ["f32"], ("slice",)
    ),
    "dynamic slice at a constant": Case(
        lambda b, x, t: b.dynamic_slice(x, [b.constant(np.int32(99))], (3,)), ["f32"], ("slice",)
    ),
    "dynamic update of everything": Case(
        lambda b, x, t: b.dynamic_update_slice(x, b.neg(x), [b.constant(np.int32(5))]),
        ["f32"],
        ("negate",),
    ),
    "broadcast of a broadcast": Case(
        lambda b, x, t: b.broadcast(b.broadcast(x, (2,)), (3,)), ["f32"], ("broadcast",)
    ),
    "broadcast into one more": Case(lambda b, x, t: b.broadcast(x, (1,)), ["f32"], ("reshape",)),
    "equal operations": Case(
        lambda b, x, t: b.tuple([b.tanh(x), b.tanh(x)]), ["f32"], ("tanh", "tuple")
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits(name: str) -> None:
    case = CASES[name]
    for type_ in case.types:
        x = every_value(type_)
        module = build(lambda b, x, type_=type_: case.build(b, x, type_), x)
        simple = simplified(module)
        with row(type_):
            assert sorted(operations(simple)) == sorted(case.left)
            for found, expected in zip(
                flatten_results(run(simple, [x])), flatten_results(run(module, [x])), strict=True
            ):
                same(found, expected)


@pytest.mark.parametrize(
    "names",
    each_or_full(
        [(a, b) for a in ANY for b in ANY],
        [("s8", "s32"), ("bf16", "f32"), ("pred", "u8"), ("s32", "f32")],
    ),
)
def test_exact_conversions_lose_nothing(names: tuple[str, str]) -> None:
    """What is called exact comes back, whatever is made of it afterwards."""
    source, middle = names
    if not is_exact(BY_NAME[source].type, BY_NAME[middle].type):
        return
    x = every_value(source)
    for target in ANY:
        if target in COMPLEX and middle not in COMPLEX:
            continue
        module = build(
            lambda b, x, to=target: b.convert_element_type(b.convert_element_type(x, middle), to), x
        )
        simple = simplified(module)
        same(run(simple, [x])[0], run(module, [x])[0])
    back = build(lambda b, x: b.convert_element_type(b.convert_element_type(x, middle), source), x)
    assert operations(simplified(back)) == []


def test_conversions_that_saturate_stay() -> None:
    """-1 as s8, f32, u8 is 0; as s8, u8 it is 255."""
    x = np.array([-1, 1], np.int8)
    module = build(lambda b, x: b.convert_element_type(b.convert_element_type(x, "f32"), "u8"), x)
    simple = simplified(module)
    assert operations(simple) == ["convert", "convert"]
    same(run(simple, [x])[0], np.array([0, 1], np.uint8))


def test_branches_that_are_known() -> None:
    x = np.float32(3)
    for index, expected in ((0, -3), (1, 3), (7, 3), (-1, 3)):
        text = f"""
        func.func @main(%x: tensor<f32>) -> tensor<f32> {{
          %i = xla.constant dense<{index}> : tensor<i32>
          %r = xla.conditional %i, %x, %x : (tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<f32>
            branch (%a: tensor<f32>) {{
              %n = xla.negate %a : tensor<f32>
              xla.return %n : tensor<f32>
            }} branch (%b: tensor<f32>) {{
              %n = xla.abs %b : tensor<f32>
              xla.return %n : tensor<f32>
            }}
          func.return %r : tensor<f32>
        }}"""
        simple = simplified(parse_program(text, input_format="mlir"))
        assert len(operations(simple)) == 1
        assert run(simple, [x]) == (expected,)


def test_rules_have_cases() -> None:
    """Every operation with a rule is in some program that it is applied to."""
    built = {
        op
        for case in CASES.values()
        for op in operations(
            build(lambda b, x, c=case: c.build(b, x, c.types[0]), every_value(case.types[0]))
        )
    }
    elsewhere = {"conditional", "get_tuple_element", "after_all", "sort", "iota", "copy", "scatter"}
    known = {"shift_right_arithmetic", "shift_right_logical", "ceil", "round_nearest_afz"}
    missing = {op_class.name.removeprefix("xla.") for op_class in RULES} - built
    assert missing <= elsewhere | known


def simplified_scatter(
    scattered: list[int], windows: list[int], window_dims: list[int], indexed: int, seed: int = 0
) -> list[str]:
    """The operations left of a scatter whose results are numpy's, which adds one after the other."""
    random = np.random.default_rng(seed)
    indices = random.integers(-1, 6, (*scattered, 1)).astype(np.int32)
    updates = random.standard_normal((*scattered, *windows)).astype(np.float32)
    whole = random.standard_normal((5, *windows)).astype(np.float32)
    expected = whole.copy()
    for place in np.ndindex(*scattered):
        if 0 <= indices[place][0] < 5:
            expected[indices[place][0]] += updates[place]
    order = list(range(len(scattered)))
    for number, dimension in enumerate(window_dims):
        order.insert(dimension, len(scattered) + number)
    x, u = np.moveaxis(whole, 0, indexed), updates.transpose(order)

    def scattering(b: XlaBuilder, x: Any, i: Any, u: Any) -> Any:
        return b.scatter(x, i, u, b.add, len(scattered), window_dims, [indexed], [indexed])

    simple = simplified(build(scattering, x, indices, u))
    (found,) = flatten_results(run(simple, [x, indices, u]))
    np.testing.assert_array_equal(found, np.moveaxis(expected, 0, indexed))
    return operations(simple)


@given(st.data())
def test_windows_anywhere(data: st.DataObject) -> None:
    """Windows lie anywhere among the updates, and among what is scattered into."""
    scattered = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=2))
    windows = data.draw(st.lists(st.integers(1, 20), max_size=2))
    rank = len(scattered) + len(windows)
    window_dims = sorted(data.draw(st.permutations(range(rank)))[: len(windows)])
    indexed = data.draw(st.integers(0, len(windows)))
    simplified_scatter(scattered, windows, window_dims, indexed, data.draw(st.integers(0, 99)))


def test_large_windows_become_the_last_dimensions() -> None:
    """So that a window is combined at once, where moving it there is worth it."""
    cases = {
        ((9,), (16,), (0,), 1): 3,
        ((9,), (16,), (0,), 0): 1,
        ((9,), (16,), (1,), 1): 0,
        ((9,), (LEAST_WINDOW - 1,), (0,), 1): 0,
        ((2,), (16,), (0,), 1): 0,
    }
    for (scattered, windows, window_dims, indexed), transposes in cases.items():
        left = simplified_scatter(list(scattered), list(windows), list(window_dims), indexed)
        assert left.count("transpose") == transposes


def in_pieces(seed: int, count: int) -> Callable[[XlaBuilder, Any], Any]:
    """An array that is cut in two and joined the other way round so often, each time elsewhere."""
    random = np.random.default_rng(seed)

    def body(b: XlaBuilder, x: Any) -> Any:
        for cut in random.integers(1, 40, count):
            size = x.shape[0]
            x = b.concat_in_dim([b.slice(x, (cut,), (size,)), b.slice(x, (0,), (cut,))], 0)
        return x

    return body


@few_examples(10)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_pieces_keep_their_places(seed: int, count: int) -> None:
    x = np.arange(40, dtype=np.float32)
    shift = int(np.sum(np.random.default_rng(seed).integers(1, 40, count)))
    (found,) = flatten_results(run(simplified(build(in_pieces(seed, count), x)), [x]))
    same(found, np.roll(x, -shift))


def test_pieces_are_looked_through_in_time() -> None:
    """Also by more levels than Python has for calls; the cost grows with the program."""

    def calls(count: int) -> int:
        module = build(in_pieces(1, count), np.zeros(40, np.float32))
        made = itertools.count()
        sys.setprofile(lambda frame, event, argument: next(made) if event == "call" else None)
        try:
            XlaSimplifyPass().apply(make_context(), module)
        finally:
            sys.setprofile(None)
        return next(made)

    assert calls(500) < 3 * calls(200)


@given(st.integers(0, 10_000))
def test_random_programs_keep_their_results(seed: int) -> None:
    """Random chains over few operations with many zeros and ones, so that rules apply."""
    random = np.random.default_rng(seed)
    name = str(random.choice(["s8", "u32", "f32", "f16", "pred"]))
    x = np.resize(every_value(name), 16)

    def body(b: XlaBuilder, x: Any) -> Any:
        values = [x]
        for _ in range(12):
            values.append(_random_step(b, values, name, random))
        return b.tuple([values[-1], values[len(values) // 2]])

    module = build(body, x)
    simple = simplified(module)
    assert len(operations(simple)) <= len(operations(module))
    for found, expected in zip(
        flatten_results(run(simple, [x])), flatten_results(run(module, [x])), strict=True
    ):
        same(found, expected)


def _random_step(b: XlaBuilder, values: list[Any], name: str, random: np.random.Generator) -> Any:
    x = values[int(random.integers(len(values)))]
    y = values[int(random.integers(len(values)))]
    if random.random() < 0.5:
        y = splat(b, x, name, int(random.integers(0, 2)))
    elif x.shape != y.shape:
        y = x
    if name == "pred":
        steps = [b.and_, b.or_, b.xor, b.eq, b.ne]
    else:
        steps = [b.add, b.sub, b.mul, b.div, b.max, b.min]
    choice = int(random.integers(len(steps) + 4))
    if choice < len(steps):
        return steps[choice](x, y)
    count = int(np.prod(x.shape))
    return (
        b.not_(x) if name == "pred" else b.neg(x),
        b.reshape(x, (count // 2, 2)),
        b.rev(x, (0,)),
        b.transpose(x, tuple(reversed(range(len(x.shape))))),
    )[choice - len(steps)]
