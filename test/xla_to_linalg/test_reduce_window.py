"""Reductions over windows on the tensors level and as machine code, against the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers
from sweeps import each_or_full
from tensors_level import check, check_natively, natively
from window_programs import (
    random_numbers,
    reduce_window,
    window_dimensions,
)

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.elementwise import CompareOp, SelectOp
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import ELEMENT_TYPES, ElementClass

NAMES = [e.name for e in ELEMENT_TYPES]
PADDED = Window.parse("size=2x3 stride=2x1 pad=1_1x2_0 lhs_dilate=1x2 rhs_dilate=2x1")


def mix(a: Any, b: Any) -> XlaOp:
    """Neither associative nor commutative, and without neutral element."""
    return elementwise.SubtractOp(elementwise.MultiplyOp(a, a), b)


def greatest_with_index(a: Any, i: Any, b: Any, j: Any) -> list[XlaOp]:
    keep = CompareOp(a, b, direction="GE")
    return [SelectOp(keep, a, b), SelectOp(keep, i, j)]


@given(
    st.lists(window_dimensions(), max_size=3),
    st.sampled_from(
        [
            elementwise.AddOp,
            elementwise.MultiplyOp,
            elementwise.MaximumOp,
            elementwise.MinimumOp,
            mix,
        ]
    ),
    st.data(),
)
def test_any_window(dimensions: list[WindowDimension], reducer: Any, data: st.DataObject) -> None:
    sizes = [data.draw(st.integers(0 if d == 0 else 1, 5)) for d in range(len(dimensions))]
    x = random_numbers(data.draw(st.integers(0, 99)), "s32", sizes)
    build = reduce_window(Window(tuple(dimensions)), ["s32"], reducer)
    check(build, x, numbers("s32", 7))
    check_natively(build, x, numbers("s32", 7))


@given(st.lists(window_dimensions(), min_size=1, max_size=2), st.data())
def test_any_window_of_several_inputs(
    dimensions: list[WindowDimension], data: st.DataObject
) -> None:
    sizes = [data.draw(st.integers(1, 5)) for _ in dimensions]
    seed = data.draw(st.integers(0, 99))
    values, indices = random_numbers(seed, "f32", sizes), random_numbers(seed, "s32", sizes)
    build = reduce_window(Window(tuple(dimensions)), ["f32", "s32"], greatest_with_index)
    check_natively(build, values, indices, numbers("f32", -1), numbers("s32", -1))


REDUCERS = {
    ElementClass.PRED: (
        elementwise.AndOp,
        elementwise.OrOp,
        elementwise.XorOp,
        elementwise.MaximumOp,
    ),
    ElementClass.SIGNED: (
        *(elementwise.AddOp, elementwise.MultiplyOp, elementwise.MaximumOp, elementwise.MinimumOp),
        *(elementwise.AndOp, elementwise.OrOp, elementwise.XorOp, mix),
    ),
    ElementClass.UNSIGNED: (
        *(elementwise.AddOp, elementwise.MultiplyOp, elementwise.MaximumOp, elementwise.MinimumOp),
        *(elementwise.AndOp, elementwise.OrOp, elementwise.XorOp, mix),
    ),
    ElementClass.FLOAT: (
        elementwise.AddOp,
        elementwise.MultiplyOp,
        elementwise.MaximumOp,
        elementwise.MinimumOp,
    ),
    ElementClass.COMPLEX: (elementwise.AddOp, elementwise.MultiplyOp),
}
SPECIALS = [[0.0, -0.0, 1.0], [-0.0, -0.0, -0.0], [np.inf, -np.inf, 2.0], [np.nan, 1.0, -1.0]]


@pytest.mark.parametrize(
    "name", each_or_full(NAMES, ("pred", "s4", "u8", "f8e4m3fn", "bf16", "f32", "c64"))
)
def test_every_type_and_reducer(name: str) -> None:
    """Infinities, NaN and the signs of zeros come out as the fold of what is no padding."""
    row = next(e for e in ELEMENT_TYPES if e.name == name)
    is_inexact = row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX)
    x = numbers(name, SPECIALS) if is_inexact else random_numbers(0, name, (4, 3))
    init = numbers(name, -0.0 if is_inexact else 1)

    def build(x: Any, init: Any) -> list[XlaOp]:
        reducers = REDUCERS[row.element_class]
        return [reduce_window(PADDED, [name], reducer)(x, init) for reducer in reducers]

    check(build, x, init)
    check_natively(build, x, init)


RUNNING = ["size=5x1 pad=4_0x0_0", "size=1x20 pad=0_0x19_0", "size=1x20 pad=0_0x0_19"]


@pytest.mark.parametrize("text", [*RUNNING, "size=9x1 pad=8_0x0_0", "size=5x1 pad=0_4x0_0"])
@pytest.mark.parametrize("reducer", [elementwise.AddOp, elementwise.MaximumOp, mix])
def test_running_reductions(text: str, reducer: Any) -> None:
    """One operation an element; the order of the fold, and so its rounding, is kept forwards."""
    x = random_numbers(0, "s32", (5, 20))
    build = reduce_window(Window.parse(text), ["s32"], reducer)
    check(build, x, numbers("s32", 1))
    check_natively(build, x, numbers("s32", 1))


@pytest.mark.parametrize("text", RUNNING)
def test_running_sums_round_as_windows(text: str) -> None:
    """Short ones to the bit, those of 20 as sums in other blocks."""
    x = np.random.default_rng(0).standard_normal((5, 20)).astype(np.float32)
    build = reduce_window(Window.parse(text), ["f32"], elementwise.AddOp)
    # Twice 19 roundings of partial sums that are below 32 times their result, at worst.
    check_natively(build, x, numbers("f32", 0), ulps=2 * 19 * 32 if "x20" in text else 0)


@pytest.mark.parametrize("sizes", [(3, 7, 20), (2, 6, 3), (16, 5, 1), (7, 5, 17)])
def test_running_reductions_of_several_inputs(sizes: tuple[int, ...]) -> None:
    """Rows that are running scalars, and rows that are running tensors."""
    n = sizes[1]
    build = reduce_window(
        Window.parse(f"size=1x{n}x1 pad=0_0x{n - 1}_0x0_0"), ["f32", "s32"], greatest_with_index
    )
    values, indices = random_numbers(0, "f32", sizes), random_numbers(1, "s32", sizes)
    check_natively(build, values, indices, numbers("f32", -9), numbers("s32", -1))


def test_long_running_reductions_are_quick() -> None:
    """A million elements: as windows they would take hours."""
    n = 1 << 20
    build = reduce_window(Window.parse(f"size={n} pad={n - 1}_0"), ["s32"], elementwise.AddOp)
    x = np.arange(n, dtype=np.int32)
    (found,) = natively(build, x, numbers("s32", 0))
    np.testing.assert_array_equal(found, np.cumsum(x, dtype=np.int32))


@pytest.mark.parametrize("reducer", [elementwise.AddOp, mix])
@pytest.mark.parametrize(
    "text",
    [
        "size=1000000000 pad=999999999_4",
        "size=3 stride=1000000000 pad=1000000000_1000000000",
        "size=1000000000 stride=2 pad=500000000_500000000",
        "size=3 rhs_dilate=1000000000 pad=1000000000_1000000000",
        "size=2 lhs_dilate=1000000000 rhs_dilate=1000000000 stride=1000000000",
        "size=3 pad=1000000001_-1000000000 rhs_dilate=500000000",
    ],
)
def test_padding_out_of_proportion_takes_no_memory(text: str, reducer: Any) -> None:
    x = random_numbers(0, "s32", (5,))
    build = reduce_window(Window.parse(text), ["s32"], reducer)
    check(build, x, numbers("s32", 3))
    check_natively(build, x, numbers("s32", 3))


@pytest.mark.parametrize("name", ["f64", "f32", "bf16", "s8", "u4", "pred", "c64"])
@pytest.mark.parametrize("text", ["size=1x2 stride=1x2", "size=2x3 stride=1x2 pad=1_0x0_1"])
def test_every_other_element_of_long_rows(text: str, name: str) -> None:
    """Vectors of every other element, short ones at the end, up to the last element of memory."""
    reducer = elementwise.OrOp if name == "pred" else elementwise.AddOp
    for width in (35, 129):
        x = random_numbers(width, name, (2, width))
        check_natively(reduce_window(Window.parse(text), [name], reducer), x, numbers(name, 0))
