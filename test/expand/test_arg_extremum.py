"""Reductions that find the first place of an extremum, in every way to write them."""

from collections.abc import Sequence

import numpy as np
import pytest
from small_programs import numbers, same
from sweeps import each_or_full

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.program import parse_program
from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.reference import run
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass

# Computations over the values %a and %b and their places %i and %j, by what they find.
JAX = """
  %0 = stablehlo.compare {better}, %a, %b : ({x}, {x}) -> tensor<i1>
  %1 = stablehlo.compare NE, %a, %a : ({x}, {x}) -> tensor<i1>
  %2 = stablehlo.or %0, %1 : tensor<i1>
  %3 = stablehlo.compare EQ, %a, %b : ({x}, {x}) -> tensor<i1>
  %4 = stablehlo.compare LT, %i, %j : ({p}, {p}) -> tensor<i1>
  %5 = stablehlo.and %3, %4 : tensor<i1>
  %6 = stablehlo.or %2, %5 : tensor<i1>
  %7 = stablehlo.select %2, %a, %b : tensor<i1>, {x}
  %8 = stablehlo.select %6, %i, %j : tensor<i1>, {p}
  stablehlo.return %7, %8 : {x}, {p}
"""
PLAIN = """
  %0 = stablehlo.compare {better}, %a, %b : ({x}, {x}) -> tensor<i1>
  %1 = stablehlo.select %0, %a, %b : tensor<i1>, {x}
  %2 = stablehlo.select %0, %i, %j : tensor<i1>, {p}
  stablehlo.return %1, %2 : {x}, {p}
"""
BY_ELEMENT = """
  %0 = stablehlo.compare {better}, %b, %a : ({x}, {x}) -> tensor<i1>
  %1 = stablehlo.select %0, %b, %a : tensor<i1>, {x}
  %2 = stablehlo.select %0, %j, %i : tensor<i1>, {p}
  stablehlo.return %1, %2 : {x}, {p}
"""
SWAPPED = """
  %0 = stablehlo.compare GT, %a, %b : ({x}, {x}) -> tensor<i1>
  %1 = stablehlo.select %0, %a, %b : tensor<i1>, {x}
  %2 = stablehlo.select %0, %j, %i : tensor<i1>, {p}
  stablehlo.return %1, %2 : {x}, {p}
"""
ARITHMETIC = """
  %0 = stablehlo.add %a, %b : {x}
  stablehlo.return %0, %i : {x}, {p}
"""
MIXED = """
  %0 = stablehlo.compare GE, %a, %b : ({x}, {x}) -> tensor<i1>
  %1 = stablehlo.compare LT, %a, %i : ({x}, {x}) -> tensor<i1>
  %2 = stablehlo.select %0, %a, %b : tensor<i1>, {x}
  %3 = stablehlo.and %0, %1 : tensor<i1>
  %4 = stablehlo.select %3, %i, %j : tensor<i1>, {p}
  stablehlo.return %2, %4 : {x}, {p}
"""


def program(
    element: str,
    sizes: Sequence[int] = (3, 20),
    computation: str = JAX,
    better: str = "GT",
    *,
    place: str = "i32",
    start: str = "0",
    first: int = 0,
    dimension: int = -1,
    results: str = "%r#1",
) -> str:
    x, p = f"tensor<{element}>", f"tensor<{place}>"
    dimension %= len(sizes)
    whole = "".join(f"{size}x" for size in sizes)
    kept = "".join(f"{size}x" for d, size in enumerate(sizes) if d != dimension)
    types = [
        f"tensor<{kept}{element if name == '%r#0' else place}>" for name in results.split(", ")
    ]
    return f"""
    func.func @main(%x: tensor<{whole}{element}>) -> ({", ".join(types)}) {{
      %places = stablehlo.iota dim = {dimension} : tensor<{whole}{place}>
      %start = stablehlo.constant dense<{start}> : {x}
      %first = stablehlo.constant dense<{first}> : {p}
      %r:2 = stablehlo.reduce(%x init: %start), (%places init: %first)
        across dimensions = [{dimension}] :
        (tensor<{whole}{element}>, tensor<{whole}{place}>, {x}, {p})
        -> (tensor<{kept}{element}>, tensor<{kept}{place}>)
       reducer(%a: {x}, %b: {x}) (%i: {p}, %j: {p}) {{
        {computation.format(x=x, p=p, better=better)}
      }}
      return {results} : {", ".join(types)}
    }}"""


def is_expanded(text: str) -> bool:
    """Whether the pass leaves reductions of one operand only."""
    module = parse_program(text)
    XlaExpandCompoundPass().apply(make_context(), module)
    return all(len(op.inputs) == 1 for op in module.walk() if isinstance(op, ReduceOp))


def check(text: str, x: np.ndarray) -> None:
    assert is_expanded(text)
    module = parse_program(text)
    expected = flatten_results(run(module, [x]))
    XlaExpandCompoundPass().apply(make_context(), module)
    same(tuple(flatten_results(run(module, [x]))), tuple(expected))
    same(lowerings.compile(text)(x), tuple(expected))


COMPARED = [
    each.name
    for each in ELEMENT_TYPES
    if each.element_class & (ElementClass.REAL | ElementClass.PRED)
]
EDGES = [0.0, -0.0, 1.0, 1.0, -2.0, np.inf, -np.inf, np.nan]


def rows(name: str, sizes: Sequence[int] = (3, 20)) -> np.ndarray:
    """Rows with few values, so with many that are equal, and NaN in some."""
    random = np.random.default_rng(1)
    is_float = BY_NAME[name].element_class == ElementClass.FLOAT
    values = EDGES if is_float else [0, 1, 1, 3, 3]
    found = random.choice(np.array(values, np.float64), sizes)
    if is_float:
        found[:1] = np.where(np.isnan(found[:1]), 1, found[:1])
    return numbers(name, found.tolist()).reshape(sizes)


@pytest.mark.parametrize("name", each_or_full(COMPARED, ("pred", "s32", "u8", "bf16", "f32")))
@pytest.mark.parametrize("better", ["GT", "LT"])
def test_element_types(name: str, better: str) -> None:
    check(program(str(BY_NAME[name].type), better=better), rows(name))


@pytest.mark.parametrize(
    ("computation", "better"),
    [(PLAIN, "GE"), (PLAIN, "LE"), (BY_ELEMENT, "GT"), (BY_ELEMENT, "LT")],
)
def test_integers_need_not_be_compared_with_themselves(computation: str, better: str) -> None:
    check(program("i32", computation=computation, better=better), rows("s32"))


@pytest.mark.parametrize("place", ["i8", "ui8", "i64", "ui32"])
@pytest.mark.parametrize("sizes", [(16,), (100,), (0, 17), (2, 3, 16)], ids=str)
def test_places(place: str, sizes: tuple[int, ...]) -> None:
    check(program("f32", sizes, place=place), rows("f32", sizes))


@pytest.mark.parametrize(
    ("start", "first"),
    [("0xFF800000", 0), ("0xFF800000", -1), ("0x7FC00000", 0), ("1.0", -1), ("5.0", 0)],
)
def test_init_values(start: str, first: int) -> None:
    check(program("f32", (30, 20), start=start, first=first), rows("f32", (30, 20)))


def test_rows_of_one_value() -> None:
    x = np.array([[-np.inf] * 16, [np.nan] * 16, [0.0] * 15 + [-0.0], [np.inf] * 16], np.float32)
    check(program("f32", x.shape, start="0xFF800000"), x)


@pytest.mark.parametrize(
    "text",
    [
        # NaN is not found.
        program("f32", computation=PLAIN, better="GE"),
        program("f32", computation=BY_ELEMENT),
        # The last place, the place of the other, no place.
        program("i32", computation=PLAIN, better="GT"),
        program("i32", computation=BY_ELEMENT, better="GE"),
        program("i32", computation=SWAPPED),
        program("i32", computation=ARITHMETIC),
        program("i32", computation=MIXED),
        program("i32", better="NE"),
        # Which of two equal elements it is can be seen; places are after a row, or start again.
        program("f32", results="%r#0, %r#1"),
        program("f32", first=3),
        program("f32", (300,), place="i8"),
        # Not in vectors.
        program("f32", (20, 3), dimension=0),
        program("f32", (3, 15)),
        program("complex<f32>", computation=ARITHMETIC, start="(0.0, 0.0)"),
    ],
)
def test_others_stay(text: str) -> None:
    assert not is_expanded(text)


@pytest.mark.parametrize(
    ("name", "better", "start"),
    [("s8", "GT", "-128"), ("s8", "LT", "127"), ("u8", "GT", "0"), ("pred", "LT", "true")],
)
def test_rows_of_the_init_value(name: str, better: str, start: str) -> None:
    x = np.full((2, 20), {"true": 1}.get(start) or int(start))
    check(program(str(BY_NAME[name].type), (2, 20), better=better, start=start), numbers(name, x))
