"""The result types of operations with windows and of `map`, and how windows are misspelled."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, shape, value
from violations import accepts
from xdsl.ir import Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.elementwise import AddOp, CompareOp
from xla_dialect.ops.reduction import MapOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.shapes.window import ConvolutionLabels, Window
from xla_dialect.spelling import SpellingError
from xla_dialect.types import spell


def adding(name: str = "f32") -> Region:
    return computation([f"{name}[]"] * 2, AddOp)


def comparing(name: str = "f32") -> Region:
    return computation([f"{name}[]"] * 2, lambda a, b: CompareOp(a, b, direction="GE"))


def reduce_window(
    inputs: Sequence[Any] = ("f32[4,5]",),
    inits: Sequence[Any] = ("f32[]",),
    window: str = "size=2x2",
    to_apply: Region | None = None,
) -> XlaOp:
    return ReduceWindowOp(
        [value(x) for x in inputs],
        [value(x) for x in inits],
        window=window,
        regions=[to_apply or adding()],
    )


def select_and_scatter(
    operand: Any = "f32[4,6]",
    source: Any = "f32[2,2]",
    init: Any = "f32[]",
    window: str = "size=2x3 stride=2x3",
    select: Region | None = None,
    scatter: Region | None = None,
) -> XlaOp:
    return SelectAndScatterOp(
        value(operand),
        value(source),
        value(init),
        window=window,
        regions=[select or comparing(), scatter or adding()],
    )


def map_(inputs: Sequence[Any], to_apply: Region, dimensions: Sequence[int] | None = None) -> XlaOp:
    return MapOp([value(x) for x in inputs], dimensions=dimensions, regions=[to_apply])


def convolution(
    lhs: Any = "f32[2,4,5,6]",
    rhs: Any = "f32[6,4,2,3]",
    window: str = "size=2x3",
    labels: str = "bf01_oi01->bf01",
    features: int = 1,
    batches: int = 1,
    result: str | None = None,
) -> XlaOp:
    return ConvolutionOp(
        value(lhs),
        value(rhs),
        window=window,
        dim_labels=labels,
        feature_group_count=features,
        batch_group_count=batches,
        result_types=None if result is None else [shape(result)],
    )


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (reduce_window, ["f32[3,4]"]),
        (lambda: reduce_window(window="size=2x2 stride=3x2 pad=0_1x-1_-1"), ["f32[2,1]"]),
        (lambda: reduce_window(window="size=9x1"), ["f32[0,5]"]),
        (lambda: reduce_window(window="size=1x1 pad=-9_0x0_0"), ["f32[0,5]"]),
        (
            lambda: reduce_window(
                ["f32[4]", "s32[4]"],
                ["f32[]", "s32[]"],
                "size=2 lhs_dilate=2 rhs_dilate=3",
                identity_of_first("f32[]", "s32[]"),
            ),
            ["f32[4]", "s32[4]"],
        ),
        (lambda: reduce_window(["f32[]"], window=""), ["f32[]"]),
        (lambda: reduce_window(["f32[<=4,5]"]), ["f32[<=3,4]"]),
        (select_and_scatter, ["f32[4,6]"]),
        (lambda: map_(["f32[2,3]"] * 2, comparing(), [0, 1]), ["pred[2,3]"]),
        (lambda: map_(["f32[2,3]", "f32[<=2,3]"], comparing()), ["pred[<=2,3]"]),
        (convolution, ["f32[2,6,4,4]"]),
        (
            lambda: convolution(
                "s8[5,4,6,2]", "s8[2,6,4,3]", labels="0f1b_0oi1->10bf", result="s32[4,4,2,6]"
            ),
            ["s32[4,4,2,6]"],
        ),
        (lambda: convolution(rhs="f32[6,1,2,3]", features=2, lhs="f32[2,2,5,6]"), ["f32[2,6,4,4]"]),
        (lambda: convolution(batches=2), ["f32[1,6,4,4]"]),
        (lambda: convolution("f32[2,3]", "f32[5,3]", "", "bf_oi->bf"), ["f32[2,5]"]),
        (
            lambda: convolution("f32[0,0,0]", "f32[2,0,1]", "size=1 pad=1_1", "bf0_oi0->bf0"),
            ["f32[0,2,2]"],
        ),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(result.type) for result in accepts(build).results] == expected


def identity_of_first(*types: Any) -> Region:
    """The computation that returns the first half of its parameters."""
    return computation([*types, *types], lambda *xs: list(xs[: len(types)]))


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("size=2 size=2", "each once", 7),
        ("stride=2", "stride has 1 entries, size has 0", 0),
        ("size=2x2 pad=0_0", "pad has 1 entries, size has 2", 9),
        ("size=2 pad=0", "padding low_high, found '0'", 11),
        ("size=2x", "an integer of 64 bits, found ''", 7),
        ("size=9223372036854775808", "an integer of 64 bits", 5),
        ("size=2 rhs_reversal=2", "0 or 1, found '2'", 20),
        ("size=2 color=3", "expected one of size, stride", 7),
        ("size", "followed by '='", 0),
        ("size=\u0662", "an integer of 64 bits", 5),
    ],
)
def test_misspelled_windows(text: str, message: str, position: int):
    with pytest.raises(SpellingError) as error:
        Window.parse(text)
    assert message in str(error.value)
    assert error.value.position == position


def test_lists_of_other_lengths():
    with pytest.raises(SpellingError, match="window dilation has 1 entries, size has 2"):
        Window.of([2, 2], window_dilation=[1])


@pytest.mark.parametrize(
    "text", ["", "bf01", "bf01_oi01", "bf01_oi01->", "bf01_oi01->bf01 ", "xy_oi->bf"]
)
def test_misspelled_labels(text: str):
    with pytest.raises(SpellingError, match="expected labels like bf01_oi01->bf01"):
        ConvolutionLabels.parse(text)
