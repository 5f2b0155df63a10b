"""Fourier transforms on all levels and as machine code against the reference, up to rounding."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from tensors_level import module_of, natively
from xdsl.dialects import func

from lowerings.compilation import INTERPRETED_LEVELS, Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.xla_to_linalg.fourier.transforms import (
    LARGEST_RADIX,
    convolution_length,
    is_smooth,
    matrix_sizes,
    radices,
    roots,
)
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.op import XlaOp
from xla_dialect.ops.linear_algebra import FftOp
from xla_dialect.reference import run

if has_jax():
    import jax

AnyArray = np.ndarray[Any, np.dtype[Any]]


def check_fourier(
    kind: str,
    lengths: Sequence[int],
    x: AnyArray,
    backend: str = "llvm",
    level: str | None = None,
) -> None:
    def build(operand: Any) -> XlaOp:
        return FftOp(operand, fft_type=kind, fft_length=list(lengths))

    (expected,) = flatten_results(run(module_of(build, [x]), [x]))
    largest = float(np.abs(expected).max(initial=0))
    (found,) = compile_module(module_of(build, [x]), Options(backend=backend, level=level))(x)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    tolerance = 8 * float(np.finfo(found.dtype).eps) * largest
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def operand_of(kind: str, lengths: Sequence[int], batch: Sequence[int], wide: bool) -> AnyArray:
    """Random numbers with the sizes that a transform of these lengths takes."""
    random = np.random.default_rng(sum(lengths))
    sizes = [*batch, *lengths]
    if kind == "IRFFT":
        sizes[-1] = lengths[-1] // 2 + 1 if lengths[-1] else 0
    x = random.standard_normal(sizes)
    if kind == "RFFT":
        return x.astype(np.float64 if wide else np.float32)
    return (x + 1j * random.standard_normal(sizes)).astype(np.complex128 if wide else np.complex64)


KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 2, 97, 262, 1000, 1009, 1024, 32768])
def test_lines_one_by_one(kind: str, length: int) -> None:
    """
    Few numbers, primes and twice a prime by convolution, matrices whose rows are padded or not,
    square or not.
    """
    check_fourier(kind, [length], operand_of(kind, [length], [2], wide=length % 2 == 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [1, 7, 12, 13, 34, 64, 120])
def test_lines_at_once(kind: str, length: int) -> None:
    """Groups of lines, of which the last begins in the one before; 17 by convolution."""
    check_fourier(kind, [length], operand_of(kind, [length], [19], wide=length == 12))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [(131, 16), (320, 3), (2, 13, 24), (64, 33), (10000, 8)])
def test_columns(kind: str, lengths: tuple[int, ...]) -> None:
    """Turned to lines where a large prime or few columns ask for it; in overlapping blocks."""
    check_fourier(kind, lengths, operand_of(kind, lengths, [2], wide=False))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", INTERPRETED_LEVELS)
@pytest.mark.parametrize("lengths", [(17,), (300,), (10, 20)])
def test_every_level(kind: str, level: str, lengths: tuple[int, ...]) -> None:
    x = operand_of(kind, lengths, [2], wide=False)
    check_fourier(kind, lengths, x, "interpreter", level)


@pytest.mark.parametrize("length", [*range(2, 14), 16, 25, 40, 77, 360, 1001, 2048, 4095])
def test_stages_are_few_numbers_each(length: int) -> None:
    assert np.prod(radices(length)) == length
    assert max(radices(length)) <= LARGEST_RADIX


@pytest.mark.parametrize("length", [64, 100, 1000])
def test_stages_of_one_radix_share_their_code(length: int) -> None:
    stages = stages_of([length, 16])
    assert len(stages) == len({*radices(length)}) + 1 < len(radices(length)) + 1


@pytest.mark.parametrize("length", [512, 1024, 2048])
def test_columns_and_rows_of_a_line_share_their_code(length: int) -> None:
    split = matrix_sizes(length, 16)
    assert split is not None
    assert split[0] != split[1]
    assert len(stages_of([length])) == len({*radices(split[0]), *radices(split[1])})


def stages_of(lengths: list[int]) -> list[str]:
    """The functions of a transform in f32 that are stages."""
    module = module_of(
        lambda operand: FftOp(operand, fft_type="FFT", fft_length=lengths),
        [np.ones(lengths, np.complex64)],
    )
    PassManager(make_context()).run(module, parse_passes("convert-xla-to-linalg"))
    functions = [op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)]
    return [name for name in functions if "stage_of" in name]


@pytest.mark.parametrize("length", [17, 131, 1009, 65537])
@pytest.mark.parametrize("lanes", [8, 16, None])
def test_length_of_convolutions(length: int, lanes: int | None) -> None:
    wide = convolution_length(length, lanes)
    assert wide >= 2 * length - 1
    assert is_smooth(wide)
    if lanes is not None:
        assert matrix_sizes(wide, lanes) is not None


def test_roots_are_exact_but_for_the_last_place() -> None:
    exponents = np.arange(-1000, 3000)
    found = roots(exponents, 1000, -1)
    angles = -2 * np.pi * np.longdouble(1) * (exponents % 1000) / 1000
    angles = (
        angles - 2 * (np.longdouble("3.14159265358979323851") - np.pi) * (exponents % 1000) / 1000
    )
    for part, exact in ((found.real, np.cos(angles)), (found.imag, np.sin(angles))):
        assert np.abs(part - exact).max() <= 2.0**-52
    quarters = roots(np.arange(4) * 250, 1000, -1)
    np.testing.assert_array_equal(quarters, [1, -1j, -1, 1j])


def test_transforms_to_reals_ignores_imaginary_ends() -> None:
    """What stands for the first and the middle element is real, whatever its imaginary part."""
    x = operand_of("IRFFT", [32], [2], wide=False)
    x[:, [0, 16]] = complex(0.5, np.nan)
    check_fourier("IRFFT", [32], x)


@pytest.mark.jax
@pytest.mark.parametrize("length", [1000, 1009, 1024])
def test_is_about_as_accurate_as_xla(length: int) -> None:
    x = operand_of("FFT", [length], [8], wide=False)
    expected = np.fft.fft(x.astype(np.complex128))
    (found,) = natively(lambda operand: FftOp(operand, fft_type="FFT", fft_length=[length]), x)
    theirs = np.asarray(jax.jit(jax.numpy.fft.fft)(x))
    own, peer = (float(np.sqrt(np.square(np.abs(y - expected)).mean())) for y in (found, theirs))
    assert own <= 1.5 * peer


@given(
    st.sampled_from(KINDS),
    st.lists(st.sampled_from([0, 1, 2, 3, 5, 33]), min_size=1, max_size=3),
    st.sampled_from([(), (2,), (0,), (1, 3)]),
    st.booleans(),
)
def test_any_sizes(kind: str, lengths: list[int], batch: tuple[int, ...], wide: bool) -> None:
    check_fourier(kind, lengths, operand_of(kind, lengths, batch, wide))


@pytest.mark.parametrize("kind", ["RFFT", "IRFFT"])
@pytest.mark.parametrize("length", [1, 3, 7, 15, 31, 127, 257, 360, 1000])
def test_transforms_verify_after_every_pass(kind: str, length: int) -> None:
    real, half = f"f32[2,{length}]", f"c64[2,{length // 2 + 1}]"
    operand, result = (real, half) if kind == "RFFT" else (half, real)
    text = (
        f"ENTRY main {{ x = {operand} parameter(0) "
        f"ROOT y = {result} fft(x), fft_type={kind}, fft_length={{{length}}} }}"
    )
    PassManager(make_context()).run(load_program(text), parse_passes("native"))


def test_columns_that_fill_no_vectors_verify_after_every_pass() -> None:
    text = (
        "ENTRY main { x = c64[10,11] parameter(0) "
        "ROOT y = c64[10,11] fft(x), fft_type=FFT, fft_length={10,11} }"
    )
    PassManager(make_context()).run(load_program(text), parse_passes("native"))
