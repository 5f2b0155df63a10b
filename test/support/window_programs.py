"""Random windows, bases and small programs with them, for the tests of lowerings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from small_programs import computation, numbers

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.ops.reduction import ReduceWindowOp, SelectAndScatterOp
from xla_dialect.shapes.window import Window, WindowAttr, WindowDimension
from xla_dialect.types import BY_NAME, array

AnyArray = np.ndarray[Any, np.dtype[Any]]
Reducer = Callable[..., Any]


def window_dimensions(*, dilates: bool = True, reverses: bool = False) -> st.SearchStrategy[Any]:
    """Dimensions of windows with small numbers everywhere."""
    dilation = st.integers(1, 3) if dilates else st.just(1)
    return st.builds(
        WindowDimension,
        size=st.integers(1, 4),
        stride=st.integers(1, 3),
        padding_low=st.integers(-2, 4),
        padding_high=st.integers(-2, 4),
        base_dilation=dilation,
        window_dilation=dilation,
        reversal=st.booleans() if reverses else st.just(False),
    )


def random_numbers(seed: int, name: str, sizes: Sequence[int]) -> AnyArray:
    """Small integers as any element type: sums of a few are exact."""
    values = np.random.default_rng(seed).integers(-3, 4, sizes)
    # This type has neither zero nor negative numbers.
    return numbers(name, 2.0**values if name == "f8e8m0fnu" else values)


@dataclass(frozen=True)
class ConvolutionProgram:
    """A convolution and its operands."""

    window: Window
    labels: str
    features: int
    batches: int
    lhs: AnyArray
    rhs: AnyArray

    def build(self, x: Any, y: Any) -> XlaOp:
        """The operation."""
        return ConvolutionOp(
            x,
            y,
            window=WindowAttr(self.window),
            dim_labels=self.labels,
            feature_group_count=self.features,
            batch_group_count=self.batches,
        )


@st.composite
def convolutions(draw: st.DrawFn, name: str) -> ConvolutionProgram:
    """Any labels, groups and windows over up to three dimensions, sizes of 0 included."""
    dimensions = draw(st.lists(window_dimensions(reverses=True), max_size=3))
    window = Window(tuple(dimensions))
    features, batches = draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]))
    space = [draw(st.integers(0 if n == 0 else 1, 5)) for n in range(len(dimensions))]
    inputs, outputs = draw(st.integers(0, 2)), features * batches * draw(st.integers(1, 2))
    batch = batches * draw(st.integers(1, 2))
    digits = "012"[: len(dimensions)]
    labels = ["".join(draw(st.permutations(s + digits))) for s in ("bf", "oi", "bf")]
    sizes = (
        {"b": batch, "f": inputs * features, **dict(zip(digits, space, strict=True))},
        {"o": outputs, "i": inputs, **dict(zip(digits, window.sizes, strict=True))},
    )
    seed = draw(st.integers(0, 99))
    lhs, rhs = (
        random_numbers(seed + n, name, [of[label] for label in labels[n]])
        for n, of in enumerate(sizes)
    )
    text = f"{labels[0]}_{labels[1]}->{labels[2]}"
    return ConvolutionProgram(window, text, features, batches, lhs, rhs)


def scalar_types(names: Sequence[str]) -> list[Any]:
    """Types of rank 0."""
    return [array(BY_NAME[name].type, ()) for name in names]


def reduce_window(window: Window, names: Sequence[str], reducer: Reducer) -> Callable[..., XlaOp]:
    """Builds a reduce-window of inputs, then init values, of these element types."""

    def build(*values: Any) -> XlaOp:
        count = len(names)
        types = scalar_types(names) * 2
        regions = [computation(types, reducer)]
        return ReduceWindowOp(
            values[:count], values[count:], window=WindowAttr(window), regions=regions
        )

    return build


def select_and_scatter(
    window: Window, name: str, select: Reducer, scatter: Reducer
) -> Callable[..., XlaOp]:
    """Builds a select-and-scatter of operand, source and init value of an element type."""

    def build(operand: Any, source: Any, init: Any) -> XlaOp:
        types = scalar_types([name]) * 2
        regions = [computation(types, select), computation(types, scatter)]
        return SelectAndScatterOp(operand, source, init, window=WindowAttr(window), regions=regions)

    return build
