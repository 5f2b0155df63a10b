"""Worked examples of convolution, its definition index by index, and random ones beside XLA."""

from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, of_jax, on_reference, on_xla, program, spelled
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.shapes.window import Window, WindowDimension
from xla_dialect.types import BY_NAME, ElementClass

if has_jax():
    import jax
    from jax import lax

SQUARE = "dim_labels=bf01_oi01->bf01"
LINE = "dim_labels=bf0_oi0->bf0"
BASE = numbers("f32", np.arange(1, 10).reshape(1, 1, 3, 3))
KERNEL = numbers("f32", [[[[1, 2], [3, 4]]]])


def convolution(
    label: str, lhs: Any, rhs: Any, attributes: str, expected: Any, name: str = "f32"
) -> Any:
    operands = {"l": lhs, "r": rhs}
    result = numbers(name, expected)
    text = f"{spelled(result)} convolution(l, r), {attributes}"
    return pytest.param(program(text, operands), operands, (result,), id=label)


def square(label: str, window: str, expected: Any) -> Any:
    """Of a base of 3 x 3 and a kernel of 2 x 2."""
    attributes = f"window={{size=2x2{window}}}, {SQUARE}"
    return convolution(label, BASE, KERNEL, attributes, [[expected]])


def line(label: str, lhs: Any, rhs: Any, window: str, expected: Any) -> Any:
    """In one spatial dimension, of rank 3 operands or of vectors."""
    arrays = (numbers("f32", x) for x in (lhs, rhs))
    base, kernel = (x.reshape((1, 1, -1)) if x.ndim < 3 else x for x in arrays)
    found = numbers("f32", expected)
    found = found.reshape((1, 1, -1)) if found.ndim < 3 else found
    return convolution(label, base, kernel, f"window={{{window}}}, {LINE}", found)


def columns(values: Any, *sizes: int) -> np.ndarray:
    return numbers("f32", values).reshape(sizes)


EXAMPLES = [
    square("valid", "", [[37, 47], [67, 77]]),
    square("same", " pad=0_1x0_1", [[37, 47, 21], [67, 77, 33], [23, 26, 9]]),
    square("example 2", " stride=2x2 pad=1_1x1_1", [[4, 18], [36, 77]]),
    square(
        "example 3",
        " lhs_dilate=2x2",
        [[1, 4, 2, 6], [12, 20, 15, 24], [4, 10, 5, 12], [21, 32, 24, 36]],
    ),
    square("example 4", " rhs_dilate=2x2", [[64]]),
    square("example 5", " pad=-1_0x0_0", [[67, 77]]),
    square("example 6", " rhs_reversal=1x1", [[23, 33], [53, 63]]),
    square("y only", " rhs_reversal=1x0", [[25, 35], [55, 65]]),
    convolution(
        "example 7",
        columns([1, 2, 3, 4], 1, 4, 1),
        columns(range(1, 9), 4, 2, 1),
        f"window={{size=1}}, {LINE}, feature_group_count=2",
        columns([5, 11, 39, 53], 1, 4, 1),
    ),
    convolution(
        "example 8",
        columns([1, 2, 3, 4], 4, 1, 1),
        columns([10, 1], 2, 1, 1),
        f"window={{size=1}}, {LINE}, batch_group_count=2",
        columns([10, 3, 20, 4], 2, 2, 1),
    ),
    convolution(
        "example 9",
        columns([1, 2, 3, 4, 5, 6], 6, 1, 1),
        columns([1, 10, 100, 1000, 10000, 100000], 6, 1, 1),
        f"window={{size=1}}, {LINE}, batch_group_count=3",
        columns([1, 10, 300, 3000, 50000, 500000, 2, 20, 400, 4000, 60000, 600000], 2, 6, 1),
    ),
    line("example 10", [1, 2, 3], [10, 1], "size=2 pad=-1_-1 lhs_dilate=2", [2, 20]),
    line("example 11", [1, 2, 3], [1, 1, 1, 1, 1], "size=5", []),
    convolution(
        "example 12",
        numbers("f32", [[1, 2]]),
        numbers("f32", [[1, 2], [3, 4], [5, 6]]),
        "dim_labels=bf_oi->bf",
        [[5, 11, 17]],
    ),
    convolution(
        "s8 to s32",
        numbers("s8", [[[100]]]),
        numbers("s8", [[[100]]]),
        f"window={{size=1}}, {LINE}",
        [[[10000]]],
        "s32",
    ),
]
EDGES = [
    convolution(
        "no features",
        np.zeros((1, 0, 2), np.float32),
        np.zeros((3, 0, 1), np.float32),
        f"window={{size=1}}, {LINE}",
        np.zeros((1, 3, 2)),
    ),
    convolution(
        "no batch",
        np.zeros((0, 1, 2), np.float32),
        np.zeros((3, 1, 1), np.float32),
        f"window={{size=1}}, {LINE}",
        np.zeros((0, 3, 2)),
    ),
    line("only padding", np.zeros((1, 1, 0)), [[[1, 2]]], "size=2 pad=2_1", [0, 0]),
    line("far apart", [3], [2, 5], f"size=2 stride={2**40} pad={2**40}_{2**40}", [0, 6]),
    convolution(
        "mixed types",
        numbers("bf16", [[[1.5]]]),
        numbers("f32", [[[0.25]]]),
        f"window={{size=1}}, {LINE}",
        [[[0.375]]],
        "f64",
    ),
    convolution(
        "bf16 accumulates in f32",
        numbers("bf16", [[[256, *[1] * 16]]]),
        numbers("bf16", [[[1] * 17]]),
        f"window={{size=17}}, {LINE}",
        [[[272]]],
        "bf16",
    ),
    convolution(
        "s8 wraps",
        numbers("s8", [[[100, 100]]]),
        numbers("s8", [[[1, 1]]]),
        f"window={{size=2}}, {LINE}",
        [[[-56]]],
        "s8",
    ),
]


@pytest.mark.parametrize(("text", "operands", "expected"), [*EXAMPLES, *EDGES])
def test_convolution(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    """Worked examples: docs/generated/worked_examples.md#convolution."""
    same(on_reference(text, operands), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), EXAMPLES)
def test_examples_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    same(on_xla(text, operands), expected)


def test_shape_of_a_padded_convolution():
    """Two zeros on the left, three on the right."""
    window = Window.of([2, 2], padding=[(0, 0), (2, 3)])
    assert window.placements((3, 3)) == (2, 7)


def defined(lhs: np.ndarray, rhs: np.ndarray, window: Window, features: int, batches: int) -> Any:
    """The sums of docs/generated/ops.md#convolution, with groups and dilation, for [b, f, ..] and [o, i, ..]."""
    outputs, inputs = rhs.shape[:2]
    batch = lhs.shape[0] // batches
    result = np.zeros((batch, outputs, *window.placements(lhs.shape[2:])), lhs.dtype)
    for b, o, *place in np.ndindex(result.shape):
        image = lhs[b + batch * (o // max(outputs // batches, 1)) if batches > 1 else b]
        first = (o // max(outputs // features, 1)) * inputs
        for i, *element in np.ndindex(rhs.shape[1:]):
            position = [
                p * d.stride + k * d.window_dilation - d.padding_low
                for d, p, k in zip(window.dimensions, place, element, strict=True)
            ]
            index = [x // d.base_dilation for d, x in zip(window.dimensions, position, strict=True)]
            inside = all(
                x % d.base_dilation == 0 and 0 <= n < size
                for d, x, n, size in zip(
                    window.dimensions, position, index, lhs.shape[2:], strict=True
                )
            )
            taken = [
                d.size - 1 - k if d.reversal else k
                for d, k in zip(window.dimensions, element, strict=True)
            ]
            if inside:
                result[(b, o, *place)] += image[(first + i, *index)] * rhs[(o, i, *taken)]
    return result


DIMENSIONS = st.builds(
    WindowDimension,
    size=st.integers(1, 3),
    stride=st.integers(1, 3),
    padding_low=st.integers(-2, 3),
    padding_high=st.integers(-2, 3),
    base_dilation=st.integers(1, 3),
    window_dilation=st.integers(1, 3),
    reversal=st.booleans(),
)


@given(st.data())
def test_definition(data: st.DataObject):
    """Any labels, groups and windows, of integers."""
    window = Window(tuple(data.draw(st.lists(DIMENSIONS, max_size=2))))
    rank = len(window.dimensions)
    features, batches = data.draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    space = [data.draw(st.integers(0, 4)) for _ in range(rank)]
    inputs = data.draw(st.integers(0, 2))
    outputs = features * batches * data.draw(st.integers(1, 2))
    batch = batches * data.draw(st.integers(1, 2))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    lhs = random.integers(-9, 9, (batch, inputs * features, *space))
    rhs = random.integers(-9, 9, (outputs, inputs, *window.sizes))
    expected = defined(lhs, rhs, window, features, batches)
    digits = "01"[:rank]
    labels = ["".join(data.draw(st.permutations(s + digits))) for s in ("bf", "oi", "bf")]
    left, right, result = (
        x.transpose([(order + digits).index(label) for label in found])
        for x, order, found in zip((lhs, rhs, expected), ("bf", "oi", "bf"), labels, strict=True)
    )
    operands = {"l": left, "r": right}
    text = (
        f"{spelled(result)} convolution(l, r), window={{{window}}}, "
        f"dim_labels={labels[0]}_{labels[1]}->{labels[2]}, "
        f"feature_group_count={features}, batch_group_count={batches}"
    )
    same(on_reference(program(text, operands), operands), (np.ascontiguousarray(result),))


def jax_convolutions(x: Any, k: Any) -> Any:
    """Of [2, 6, 5, 4] and [3, 3, 4, 8] in NHWC and HWIO order."""
    names = ("NHWC", "HWIO", "NHWC")

    def conv(a: Any, b: Any, strides: Any = (1, 1), padding: Any = "SAME", **options: Any) -> Any:
        return lax.conv_general_dilated(a, b, strides, padding, dimension_numbers=names, **options)

    return (
        conv(x, k),
        conv(x, k, padding="VALID", strides=(2, 1)),
        conv(x, k, padding=((2, 1), (-1, 3)), rhs_dilation=(1, 2)),
        conv(x, k, lhs_dilation=(2, 3), padding=((0, 2), (1, -1))),
        conv(x, k[:, :, :1], feature_group_count=4),
        conv(x, k[:, :, :2], feature_group_count=2),
        conv(x, k, batch_group_count=2),
        lax.conv_transpose(x, k[:, :, :, :4], (2, 2), "SAME"),
    )


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(("s32", "bf16", "f32", "f64", "c64"), ("f32",)))
def test_jax_programs(name: str):
    """Small integers, so that sums are exact whatever their order."""
    random = np.random.default_rng(6)
    x, k = (numbers(name, random.integers(-2, 3, sizes)) for sizes in ((2, 6, 5, 4), (3, 3, 4, 8)))
    found, expected = of_jax(jax_convolutions, x, k)
    # Sums of nothing may be -0 on XLA.
    same(tuple(y + y.dtype.type(0) for y in found), tuple(y + y.dtype.type(0) for y in expected))


@pytest.mark.jax
def test_gradients():
    """Convolutions of gradients have large kernels, dilated bases and reversed windows."""

    def loss(x: Any, k: Any) -> Any:
        y = lax.conv_general_dilated(x, k, (2, 1), ((1, 0), (0, 2)))
        return (y * y).sum()

    random = np.random.default_rng(7)
    x, k = (numbers("f32", random.integers(-2, 3, sizes)) for sizes in ((2, 3, 7, 6), (4, 3, 3, 2)))
    for mine, theirs in zip(*of_jax(jax.grad(loss, (0, 1)), x, k), strict=True):
        np.testing.assert_array_equal(mine, theirs)


INTEGERS_AND_FLOATS = [
    row.name for row in BY_NAME.values() if row.element_class & ElementClass.NUMBER
]


@pytest.mark.parametrize(
    "name", each_or_full(INTEGERS_AND_FLOATS, ("s2", "u8", "f8e4m3fn", "bf16", "c64"))
)
def test_every_type(name: str):
    operands = {"l": numbers(name, np.ones((1, 1, 3))), "r": numbers(name, np.ones((1, 1, 1)))}
    text = f"{name}[1,1,3] convolution(l, r), window={{size=1}}, {LINE}"
    same(on_reference(program(text, operands), operands), (operands["l"],))
