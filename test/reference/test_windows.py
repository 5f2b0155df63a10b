"""Worked examples of reduce-window, select-and-scatter and map, and random windows beside XLA."""

import itertools
from typing import Any

import numpy as np
import pytest
from hlo_examples import (
    Operands,
    binary,
    last_of_two,
    on_reference,
    on_xla,
    program,
    relation,
    spelled,
)
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.reference.reduction import overlaps
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import BY_NAME

FIVE = numbers("f32", [1, 2, 3, 4, 5])
LARGE = numbers("f32", [10000, 1000, 100, 10, 1])
MAX = numbers("f32", np.finfo(np.float32).max)
LOWEST = numbers("f32", np.finfo(np.float32).min)

GREATER = """greater {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  keep = pred[] compare(v, w), direction=GE
  value = f32[] select(keep, v, w)
  index = s32[] select(keep, i, j)
  ROOT both = (f32[], s32[]) tuple(value, index)
}
"""


def reduce_window(label: str, x: Any, init: Any, window: str, reducer: str, expected: Any) -> Any:
    """`expected` of type f32, or several arrays."""
    values = expected if isinstance(expected, tuple) else (numbers("f32", expected),)
    operands = {"x": x, "z": numbers("f32", init)}
    text = f"{spelled(values[0])} reduce-window(x, z), window={{{window}}}, to_apply={reducer}"
    return pytest.param(program(text, operands, binary(reducer)), operands, values, id=label)


VARIADIC: Operands = {
    "v": numbers("f32", [3, 1, 4, 4]),
    "i": numbers("s32", range(4)),
    "low": numbers("f32", -np.inf),
    "none": numbers("s32", -1),
}

REDUCE_WINDOW = [
    reduce_window(
        "example 1",
        numbers("f32", np.arange(24).reshape(4, 6)),
        LOWEST,
        "size=2x3 stride=2x3",
        "maximum",
        [[8, 11], [20, 23]],
    ),
    reduce_window("valid", LARGE, MAX, "size=3 stride=2", "minimum", [100, 1]),
    reduce_window("same", LARGE, MAX, "size=3 stride=2 pad=1_1", "minimum", [1000, 10, 1]),
    reduce_window("base", FIVE, 0, "size=2 lhs_dilate=2", "add", [1, 2, 2, 3, 3, 4, 4, 5]),
    reduce_window("window", FIVE, 0, "size=2 rhs_dilate=2", "add", [4, 6, 8]),
    reduce_window(
        "all",
        FIVE,
        0,
        "size=2 stride=2 pad=1_1 lhs_dilate=2 rhs_dilate=3",
        "add",
        [2, 3, 4, 5],
    ),
    reduce_window("negative", FIVE, 0, "size=2 pad=-1_-1", "add", [5, 7]),
    reduce_window(
        "negative, dilated",
        FIVE,
        0,
        "size=2 pad=-1_0 lhs_dilate=2",
        "add",
        [2, 2, 3, 3, 4, 4, 5],
    ),
    reduce_window("too large", FIVE, 0, "size=9", "add", []),
    reduce_window("example 4", FIVE, 100, "size=2 pad=1_1", "add", [101, 103, 105, 107, 109, 105]),
    reduce_window(
        "dilated",
        FIVE,
        100,
        "size=2 lhs_dilate=2",
        "add",
        [101, 102, 102, 103, 103, 104, 104, 105],
    ),
    reduce_window("example 5", FIVE, 0, "size=3", "subtract", [-6, -9, -12]),
    pytest.param(
        program(
            "(f32[3], s32[3]) reduce-window(v, i, low, none), window={size=2}, to_apply=greater",
            VARIADIC,
            GREATER,
        ),
        VARIADIC,
        (numbers("f32", [3, 4, 4]), numbers("s32", [0, 2, 2])),
        id="example 6",
    ),
]
EDGES = [
    reduce_window("reduce a scalar", numbers("f32", 3), 4, "", "add", 7),
    reduce_window("empty base", numbers("f32", []), 4, "size=1 pad=1_1", "add", [4, 4]),
    reduce_window(
        "far apart",
        numbers("f32", [3]),
        4,
        f"size={2**40} stride={2**39} pad={2**40}_{2**40}",
        "add",
        [4, 7, 7],
    ),
]


@pytest.mark.parametrize(("text", "operands", "expected"), REDUCE_WINDOW)
def test_reduce_window(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    """Worked examples: docs/generated/worked_examples.md#reduce_window."""
    same(on_reference(text, operands), expected)


PAGE = numbers("f32", [[7, 2, 5, 3, 8], [3, 8, 9, 3, 4], [1, 5, 7, 5, 6], [0, 6, 2, 10, 2]])
APART = numbers(
    "f32", [[7, 2, 5, 3, 10, 2], [3, 8, 9, 3, 4, 2], [1, 5, 7, 5, 6, 1], [0, 6, 2, 7, 2, 8]]
)
SOURCE = [[2, 6], [3, 1]]
NAN = np.nan


def select_and_scatter(
    label: str,
    operand: Any,
    source: Any,
    window: str,
    expected: Any,
    select: str = "GE",
    init: float = 0,
) -> Any:
    operands = {
        "x": numbers("f32", operand),
        "s": numbers("f32", source),
        "z": numbers("f32", init),
    }
    text = program(
        f"{spelled(operands['x'])} select-and-scatter(x, s, z), window={{{window}}}, "
        f"select={select.lower()}, scatter=add",
        operands,
        relation(select) + binary("add"),
    )
    return pytest.param(text, operands, (numbers("f32", expected),), id=label)


SELECT_AND_SCATTER = [
    select_and_scatter(
        "example 1",
        PAGE,
        SOURCE,
        "size=2x3 stride=2x2",
        [[0, 0, 0, 0, 0], [0, 0, 8, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 1, 0]],
    ),
    select_and_scatter(
        "example 2",
        APART,
        SOURCE,
        "size=2x3 stride=2x3",
        [[0, 0, 0, 0, 6, 0], [0, 0, 2, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 0, 0, 0, 1]],
    ),
    select_and_scatter("ge", [1, 1, 1, 1], [5, 7], "size=2 stride=2", [5, 0, 7, 0]),
    select_and_scatter("gt", [1, 1, 1, 1], [5, 7], "size=2 stride=2", [0, 5, 0, 7], "GT"),
    select_and_scatter("first", [[1, 1], [1, 1]], [[5]], "size=2x2", [[5, 0], [0, 0]]),
    select_and_scatter("example 4", [NAN, 1, 2, NAN], [5, 7], "size=2 stride=2", [0, 5, 0, 7]),
    select_and_scatter("example 5", [-5, -1, -2], [1, 2, 4, 8], "size=2 pad=1_1", [1, 6, 8]),
    select_and_scatter("padding", [-5], [1, 2, 4], "size=1 pad=1_1", [2]),
    select_and_scatter("example 6", [1, 2, 3], [1, 2], "size=2", [10, 11, 12], init=10),
]
EDGES += [
    select_and_scatter("no window fits", [1, 2], [], "size=3", [7, 7], init=7),
    select_and_scatter("select a scalar", 5, 2, "", 3, init=1),
    select_and_scatter("only padding", [], [1, 2], "size=1 pad=1_1", []),
]


@pytest.mark.parametrize(("text", "operands", "expected"), SELECT_AND_SCATTER)
def test_select_and_scatter(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    """Worked examples: docs/generated/worked_examples.md#select_and_scatter."""
    same(on_reference(text, operands), expected)


@pytest.mark.parametrize(("text", "operands", "expected"), EDGES)
def test_edges(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    """What XLA CPU does not run."""
    same(on_reference(text, operands), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), [*REDUCE_WINDOW, *SELECT_AND_SCATTER])
def test_examples_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    same(on_xla(text, operands), expected)


@given(
    st.builds(
        WindowDimension,
        size=st.integers(1, 6),
        stride=st.integers(1, 5),
        padding_low=st.integers(-4, 8),
        padding_high=st.integers(-4, 8),
        base_dilation=st.integers(1, 5),
        window_dilation=st.integers(1, 4),
    ),
    st.integers(0, 6),
)
def test_overlaps(dimension: WindowDimension, size: int):
    """Every element of a window meets what it does by the definition, place by place."""
    expected = [
        (element, place, position // dimension.base_dilation)
        for element in range(dimension.size)
        for place in range(dimension.placements(size))
        for position in [
            place * dimension.stride + element * dimension.window_dilation - dimension.padding_low
        ]
        if position % dimension.base_dilation == 0
        and 0 <= position // dimension.base_dilation < size
    ]
    found = [
        (overlap.element, place, index)
        for overlap in overlaps(dimension, size)
        for place, index in zip(
            range(10**6)[overlap.placements], range(10**6)[overlap.base], strict=False
        )
    ]
    assert found == expected


TYPES = ("s4", "u8", "s32", "u64", "bf16", "f16", "f32", "f64", "c64", "pred")
REDUCERS = {"pred": ("and", "or"), "c64": ("add", "multiply")}


def random_window(random: np.random.Generator, sizes: tuple[int, ...]) -> Window:
    """A window that fits at least once."""
    while True:
        rank = len(sizes)
        window = Window.of(
            random.integers(1, 4, rank).tolist(),
            stride=random.integers(1, 4, rank).tolist(),
            padding=[tuple(pads) for pads in random.integers(-1, 4, (rank, 2)).tolist()],
            base_dilation=random.integers(1, 4, rank).tolist(),
            window_dilation=random.integers(1, 4, rank).tolist(),
        )
        if all(window.placements(sizes)):
            return window


def small_numbers(random: np.random.Generator, name: str, sizes: tuple[int, ...]) -> np.ndarray:
    """Numbers whose sums and products are exact."""
    return numbers(name, random.integers(0 if name[0] in "up" else -2, 3, sizes))


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(TYPES, ("s4", "f32")))
def test_random_windows_on_xla(name: str):
    random = np.random.default_rng(7)
    sizes = (5, 4)
    operands = {
        "x": small_numbers(random, name, sizes),
        "z": numbers(name, 1 if name != "pred" else True),
    }
    reducers = REDUCERS.get(name, ("add", "multiply", "maximum", "minimum"))
    instructions: list[str] = []
    for reducer in reducers * 2:
        window = random_window(random, sizes)
        placements = ",".join(map(str, window.placements(sizes)))
        instructions.append(
            f"{name}[{placements}] reduce-window(x, z), window={{{window}}}, to_apply={reducer}"
        )
    before = "".join(binary(reducer, name) for reducer in reducers)
    text = program(instructions, operands, before)
    same(on_reference(text, operands), on_xla(text, operands))


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(("s8", "bf16", "f32", "f64"), ("f32",)))
def test_random_select_and_scatter_on_xla(name: str):
    random = np.random.default_rng(8)
    sizes = (6, 5)
    operands = {"x": small_numbers(random, name, sizes), "z": numbers(name, 1)}
    instructions: list[str] = []
    for i, select in enumerate(("ge", "gt", "le", "ge")):
        plain = [
            (d.size, d.stride, (d.padding_low, d.padding_high))
            for d in random_window(random, sizes).dimensions
        ]
        size, stride, padding = zip(*plain, strict=True)
        window = Window.of(size, stride=stride, padding=[(abs(a), abs(b)) for a, b in padding])
        source = small_numbers(random, name, window.placements(sizes))
        operands[f"source{i}"] = source
        instructions.append(
            f"{spelled(operands['x'])} select-and-scatter(x, source{i}, z), window={{{window}}}, "
            f"select={select}, scatter=add"
        )
    before = "".join(relation(direction, name) for direction in ("GE", "GT", "LE"))
    text = program(instructions, operands, before + binary("add", name))
    same(on_reference(text, operands), on_xla(text, operands))


def test_variadic_window_swaps():
    """Both accumulators of a step are read before either is written."""
    swap = (
        "swap {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] parameter(2)\n"
        "  d = s32[] parameter(3)\n  ROOT t = (s32[], s32[]) tuple(b, a)\n}\n"
    )
    operands = {
        "x": numbers("s32", range(4)),
        "p": numbers("s32", 10),
        "q": numbers("s32", 20),
    }
    text = program(
        "(s32[2], s32[2]) reduce-window(x, x, p, q), window={size=3}, to_apply=swap",
        operands,
        swap,
    )
    first, second = on_reference(text, operands)
    same(first, numbers("s32", [20, 20]))
    same(second, numbers("s32", [10, 10]))


MAPPED = """f {
  a = s32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] convert(a)
  d = f32[] multiply(c, b)
  ROOT p = pred[] compare(d, b), direction=GT
}
"""

# The loop runs as often as the element says: every element has to be run by itself.
LOOPING = """test {
  x = s32[] parameter(0)
  n = s32[] constant(100)
  ROOT p = pred[] compare(x, n), direction=LT
}
step {
  x = s32[] parameter(0)
  ROOT y = s32[] add(x, x)
}
g {
  x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=test, body=step
}
"""


@pytest.mark.parametrize(
    ("instruction", "before", "operands", "expected"),
    [
        pytest.param(
            "pred[2,2] map(a, b), dimensions={0,1}, to_apply=f",
            MAPPED,
            {
                "a": numbers("s32", [[0, 1], [2, 3]]),
                "b": numbers("f32", [[1, 1], [1, np.nan]]),
            },
            numbers("pred", [[0, 0], [1, 0]]),
            id="types differ",
        ),
        pytest.param(
            "s32[3] map(x), to_apply=g",
            LOOPING,
            {"x": numbers("s32", [1, 3, 200])},
            numbers("s32", [128, 192, 200]),
            id="loop",
        ),
        pytest.param(
            "f32[] map(x, x), dimensions={}, to_apply=add",
            binary("add"),
            {"x": numbers("f32", 2)},
            numbers("f32", 4),
            id="scalar",
        ),
        pytest.param(
            "f32[0,3] map(x, x), to_apply=second",
            last_of_two(),
            {"x": np.zeros((0, 3), np.float32)},
            np.zeros((0, 3), np.float32),
            id="empty",
        ),
        pytest.param(
            "f32[2] map(x), to_apply=one",
            "one {\n  a = f32[] parameter(0)\n  ROOT b = f32[] constant(1)\n}\n",
            {"x": numbers("f32", [5, 6])},
            numbers("f32", [1, 1]),
            id="constant",
        ),
    ],
)
def test_map(instruction: str, before: str, operands: Operands, expected: np.ndarray):
    same(on_reference(program(instruction, operands, before), operands), (expected,))


@pytest.mark.jax
def test_map_on_xla():
    operands = {"a": numbers("s32", [1, 2, -3]), "b": numbers("f32", [1, -1, 0.5])}
    text = program("pred[3] map(a, b), dimensions={0}, to_apply=f", operands, MAPPED)
    same(on_reference(text, operands), on_xla(text, operands))


@pytest.mark.parametrize("name", each_or_full(BY_NAME, ("pred", "s2", "f8e5m2", "c128")))
def test_windows_of_every_type(name: str):
    """The last element of each window."""
    x = np.arange(6).reshape(2, 3).astype(numpy_dtype(BY_NAME[name].type))
    operands = {"x": x, "z": x[0, 0]}
    text = program(
        f"{name}[2,2] reduce-window(x, z), window={{size=1x2}}, to_apply=second",
        operands,
        last_of_two(name),
    )
    same(on_reference(text, operands), (x[:, 1:],))


def test_text_of_windows():
    """What is printed is read, and defaults are left out."""
    for size, stride, pad in itertools.product((1, 3), (1, 2), ((0, 0), (-1, 2))):
        window = Window.of([size, 2], stride=[stride, 1], padding=[pad, (0, 0)])
        assert Window.parse(str(window)) == window
        assert ("stride" in str(window)) == (stride != 1)
        assert ("pad" in str(window)) == (pad != (0, 0))
    assert str(Window()) == ""
    assert Window.parse("") == Window()
