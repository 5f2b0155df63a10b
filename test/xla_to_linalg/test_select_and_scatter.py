"""Select-and-scatter on the tensors level and as machine code, against the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers
from sweeps import each_or_full
from tensors_level import check, check_natively
from window_programs import random_numbers, select_and_scatter, window_dimensions

import lowerings
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.elementwise import CompareOp
from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import ELEMENT_TYPES, ElementClass


def greater_or_equal(x: Any, y: Any) -> XlaOp:
    """The `select` of max-pool gradients."""
    return CompareOp(x, y, direction="GE")


def less(x: Any, y: Any) -> XlaOp:
    return CompareOp(x, y, direction="LT")


def never(x: Any, _y: Any) -> XlaOp:
    return CompareOp(x, x, direction="NE")


@given(
    st.lists(window_dimensions(dilates=False), max_size=3),
    st.sampled_from([greater_or_equal, less, never]),
    st.sampled_from([elementwise.AddOp, elementwise.SubtractOp]),
    st.data(),
)
def test_any_window(
    dimensions: list[WindowDimension], select: Any, scatter: Any, data: st.DataObject
) -> None:
    window = Window(tuple(dimensions))
    sizes = [data.draw(st.integers(0 if d == 0 else 1, 6)) for d in range(len(dimensions))]
    seed = data.draw(st.integers(0, 99))
    operand = random_numbers(seed, "s32", sizes)
    source = random_numbers(seed + 1, "s32", window.placements(sizes))
    build = select_and_scatter(window, "s32", select, scatter)
    check(build, operand, source, numbers("s32", 7))
    check_natively(build, operand, source, numbers("s32", 7))


@pytest.mark.parametrize(
    "name",
    each_or_full((e.name for e in ELEMENT_TYPES), ("pred", "u4", "f8e5m2", "bf16", "f32", "c64")),
)
def test_every_type(name: str) -> None:
    """The order of additions shows in their rounding; NaN is kept, or picked, as `select` says."""
    row = next(e for e in ELEMENT_TYPES if e.name == name)
    window = Window.parse("size=3x2 stride=1x2 pad=1_1x0_1")
    operand = random_numbers(0, name, (4, 5))
    if row.element_class & ElementClass.FLOAT:
        operand[1, 1:4] = numbers(name, [np.nan, -0.0, 0.0])
    source = numbers(name, np.linspace(0, 7, 12).reshape(4, 3))
    select = elementwise.AndOp if name == "pred" else less
    if row.element_class == ElementClass.COMPLEX:
        select = never
    scatter = elementwise.XorOp if name == "pred" else elementwise.AddOp
    build = select_and_scatter(window, name, select, scatter)
    init = numbers(name, 1)
    check(build, operand, source, init)
    check_natively(build, operand, source, init)


@pytest.mark.parametrize(
    "text",
    [
        "size=1000000000 pad=999999999_4",
        "size=3 stride=1000000000 pad=1000000000_1000000000",
        "size=1000000000 stride=2 pad=500000000_500000000",
    ],
)
def test_padding_out_of_proportion_takes_no_memory(text: str) -> None:
    window = Window.parse(text)
    operand = random_numbers(0, "s32", (5,))
    source = random_numbers(1, "s32", window.placements((5,)))
    build = select_and_scatter(window, "s32", greater_or_equal, elementwise.AddOp)
    check(build, operand, source, numbers("s32", 3))
    check_natively(build, operand, source, numbers("s32", 3))


@pytest.mark.parametrize("backend", ["reference", "interpreter", "llvm"])
@pytest.mark.parametrize("operand", ["{1,0}", "{0,1}"])
@pytest.mark.parametrize("result", ["{1,0}", "{0,1}"])
def test_the_first_of_equal_elements_is_selected_in_every_layout(
    backend: str, operand: str, result: str
) -> None:
    program = lowerings.compile(
        f"""
        HloModule m
        at_least {{
          a = s32[] parameter(0)
          b = s32[] parameter(1)
          ROOT c = pred[] compare(a, b), direction=GE
        }}
        plus {{
          a = s32[] parameter(0)
          b = s32[] parameter(1)
          ROOT c = s32[] add(a, b)
        }}
        ENTRY e {{
          x = s32[3,3]{operand} parameter(0)
          source = s32[1,1] parameter(1)
          zero = s32[] constant(0)
          ROOT r = s32[3,3]{result} select-and-scatter(x, source, zero),
            window={{size=3x2 stride=3x2}}, select=at_least, scatter=plus
        }}
        """,
        backend=backend,
    )
    (found,) = program(
        np.array([[0, 7, 0], [0, 0, 0], [7, 0, 0]], np.int32), np.array([[5]], np.int32)
    )
    np.testing.assert_array_equal(found, [[0, 5, 0], [0, 0, 0], [0, 0, 0]])
