"""Convolutions over a base with many holes, expanded and as machine code, against the reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers, same
from tensors_level import lower, module_of, natively
from window_programs import ConvolutionProgram, random_numbers

from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.reference import run
from xla_dialect.shapes.window import Window, WindowDimension


def check(program: ConvolutionProgram, *, expands: bool = True) -> None:
    arguments = [program.lhs, program.rhs]
    module = module_of(program.build, arguments)
    module.verify()
    expected = flatten_results(run(module, arguments))
    lower(module, (XlaExpandCompoundPass(),))
    found = [op for op in module.walk() if isinstance(op, ConvolutionOp)]
    assert expands != any(d.base_dilation > 1 for op in found for d in op.window.data.dimensions)
    same(flatten_results(run(module, arguments)), expected)
    same(tuple(natively(program.build, *arguments)), expected)


@st.composite
def programs(draw: st.DrawFn) -> ConvolutionProgram:
    """A dimension of many holes, and one of few or none that slides in any way."""
    holes, few = draw(st.integers(17, 19)), draw(st.integers(1, 3))
    padding = st.integers(-holes, 2 * holes)
    many = WindowDimension(holes * draw(st.integers(1, 3)), 1, draw(padding), draw(padding), holes)
    size, stride = (few * 2, 1) if few > 1 else (draw(st.integers(1, 3)), draw(st.integers(1, 2)))
    other = WindowDimension(size, stride, draw(st.integers(-1, 4)), draw(st.integers(0, 4)), few)
    features, batches = draw(st.sampled_from([(1, 1), (2, 1), (1, 2)]))
    labels = ["".join(draw(st.permutations(s + "01"))) for s in ("bf", "oi", "bf")]
    sizes = (
        {"b": 2, "f": 2 * features, "0": draw(st.integers(1, 4)), "1": 4},
        {"o": 2 * draw(st.integers(1, 2)), "i": 2, "0": many.size, "1": size},
    )
    lhs, rhs = (
        random_numbers(n, "f32", [of[label] for label in labels[n]]) for n, of in enumerate(sizes)
    )
    text = f"{labels[0]}_{labels[1]}->{labels[2]}"
    return ConvolutionProgram(Window((many, other)), text, features, batches, lhs, rhs)


@given(programs())
def test_many_holes(program: ConvolutionProgram) -> None:
    base = [program.lhs.shape[program.labels.index(d)] for d in "01"]
    check(program, expands=min(program.window.placements(base)) > 0)


def test_two_dimensions_of_a_patch() -> None:
    """The gradient of patches of 14 x 14 pixels: every pixel meets one element of the kernel."""
    window = Window.parse("size=14x14 pad=13_13x13_13 lhs_dilate=14x14")
    for name in ("bf16", "c64", "s8"):
        lhs, rhs = random_numbers(0, name, (1, 2, 3, 5)), random_numbers(1, name, (14, 14, 5, 3))
        check(ConvolutionProgram(window, "b01f_01io->bf01", 1, 1, lhs, rhs))


def test_kernels_that_would_be_padded_stay() -> None:
    """Zeros beyond the kernel would make NaN of an infinity that the window does not cover."""
    lhs, rhs = numbers("f32", [[[1, np.inf]]]), numbers("f32", np.ones((1, 1, 3)))
    window = Window.parse("size=3 pad=2_2 lhs_dilate=17")
    check(ConvolutionProgram(window, "bf0_oi0->bf0", 1, 1, lhs, rhs), expands=False)
