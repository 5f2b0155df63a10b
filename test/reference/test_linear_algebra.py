"""Worked examples of fft, cholesky and triangular-solve, and random ones beside XLA and numpy."""

import itertools
from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, of_jax, on_reference, on_xla, program, spelled
from peers import has_jax
from small_programs import numbers, same
from sweeps import each_or_full

if has_jax():
    from jax import lax

NAN, INF = np.nan, np.inf


def example(label: str, instruction: str, expected: Any, **operands: np.ndarray) -> Any:
    text = program(f"{spelled(expected)} {instruction}", operands)
    return pytest.param(text, operands, expected, id=label)


def fft(label: str, kind: str, length: list[int], x: Any, expected: Any) -> Any:
    lengths = ",".join(map(str, length))
    return example(
        label,
        f"fft(x), fft_type={kind}, fft_length={{{lengths}}}",
        numbers(*expected),
        x=numbers(*x),
    )


FFT = [
    fft("example 2", "RFFT", [4], ("f32", [1, 2, 3, 4]), ("c64", [10, -2 + 2j, -2])),
    fft("example 4", "IRFFT", [4], ("c64", [10 + 7j, -2 + 2j, -2 + 9j]), ("f32", [1, 2, 3, 4])),
    fft(
        "odd",
        "IRFFT",
        [5],
        ("c64", [15 + 7j, -2 + 2j, -2 + 9j]),
        ("f32", [1.4, 0.523128, 6.353575, 0.446425, 6.276872]),
    ),
    fft("one", "IRFFT", [1], ("c64", [3 + 4j]), ("f32", [3])),
    fft(
        "two axes",
        "IRFFT",
        [2, 4],
        ("c64", [[1 + 1j, 2, 3], [4, 5 + 2j, 6 + 3j]]),
        ("f32", [[3.5, -1, 0, 0], [-1.5, 0.5, 0, -0.5]]),
    ),
    fft("inverse", "IFFT", [4], ("c64", [10, -2 + 2j, -2, -2 - 2j]), ("c64", [1, 2, 3, 4])),
    fft("empty FFT", "FFT", [0], ("c64", []), ("c64", [])),
    fft("empty RFFT", "RFFT", [0], ("f32", []), ("c64", [])),
    fft("empty IRFFT", "IRFFT", [0], ("c64", []), ("f32", [])),
    fft("even", "RFFT", [16], ("f32", np.eye(16)[0]), ("c64", np.ones(9))),
    fft("odd", "RFFT", [17], ("f32", np.eye(17)[0]), ("c64", np.ones(9))),
]


@pytest.mark.parametrize(("text", "operands", "expected"), FFT)
def test_fft(text: str, operands: Operands, expected: np.ndarray):
    """Worked examples: docs/generated/worked_examples.md#fft."""
    (found,) = on_reference(text, operands)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, atol=2e-7, rtol=3e-7)


def test_inverse_of_an_odd_fft():
    """The inverse of an odd transform needs its length."""
    x = numbers("f32", [1, 2, 3, 4, 5])
    (there,) = on_reference(
        program("c64[3] fft(x), fft_type=RFFT, fft_length={5}", {"x": x}), {"x": x}
    )
    (back,) = on_reference(
        program("f32[5] fft(x), fft_type=IRFFT, fft_length={5}", {"x": there}), {"x": there}
    )
    np.testing.assert_allclose(back, x, rtol=1e-7)


def test_fft_of_an_empty_batch():
    x = np.zeros((0, 4), np.float32)
    (found,) = on_reference(
        program("c64[0,3] fft(x), fft_type=RFFT, fft_length={4}", {"x": x}), {"x": x}
    )
    same(found, np.zeros((0, 3), np.complex64))


@pytest.mark.jax
@pytest.mark.parametrize("kind", ["FFT", "IFFT", "RFFT", "IRFFT"])
@pytest.mark.parametrize("lengths", [(5,), (4, 6), (3, 2, 5)])
@pytest.mark.parametrize("bits", [32, 64])
def test_random_fft_on_xla(kind: str, lengths: tuple[int, ...], bits: int):
    random = np.random.default_rng(1)
    shape = (2, *lengths)
    if kind == "IRFFT":
        shape = (*shape[:-1], lengths[-1] // 2 + 1)
    x = random.standard_normal(shape)
    if kind != "RFFT":
        x = x + 1j * random.standard_normal(shape)
    x = numbers(f"f{bits}" if kind == "RFFT" else f"c{2 * bits}", x)
    found, expected = of_jax(lambda v: (lax.fft(v, getattr(lax.FftType, kind), lengths),), x)
    assert found[0].dtype == expected[0].dtype
    tolerance = 2e-6 if bits == 32 else 1e-14
    np.testing.assert_allclose(found[0], expected[0], atol=tolerance, rtol=tolerance)


def cholesky(label: str, a: Any, lower: bool, expected: Any) -> Any:
    return example(
        label,
        f"cholesky(a), lower={str(lower).lower()}",
        numbers("f32", expected),
        a=numbers("f32", a),
    )


INDEFINITE = [[4, 2, 1], [2, -5, 1], [1, 1, 3]]
ZERO = [[0, 0], [0, 1]]
CHOLESKY = [
    cholesky("lower", [[4, 2], [2, 5]], True, [[2, 0], [1, 2]]),
    cholesky("upper", [[4, 2], [2, 5]], False, [[2, 1], [0, 2]]),
    cholesky("unread", [[4, NAN], [2, 5]], True, [[2, 0], [1, 2]]),
    cholesky("unread, upper", [[4, 2], [NAN, 5]], False, [[2, 1], [0, 2]]),
    *(
        cholesky(f"{lower}", a, lower, np.full(np.shape(a), NAN))
        for a, lower in itertools.product((INDEFINITE, ZERO), (True, False))
    ),
    cholesky(
        "batch",
        [[[4, 2], [2, 5]], [[-1, 0], [0, 1]]],
        True,
        [[[2, 0], [1, 2]], [[NAN, NAN], [NAN, NAN]]],
    ),
]
CHOLESKY_EDGES = [
    cholesky("empty", np.zeros((2, 0, 0)), True, np.zeros((2, 0, 0))),
    cholesky("no batch", np.zeros((0, 2, 2)), True, np.zeros((0, 2, 2))),
    cholesky("NaN", [[NAN, 0], [0, 1]], True, np.full((2, 2), NAN)),
]


@pytest.mark.parametrize(("text", "operands", "expected"), [*CHOLESKY, *CHOLESKY_EDGES])
def test_cholesky(text: str, operands: Operands, expected: np.ndarray):
    """Worked examples: docs/generated/worked_examples.md#cholesky."""
    same(on_reference(text, operands), (expected,))


def solve(label: str, a: Any, b: Any, attributes: str, expected: Any, name: str = "f32") -> Any:
    text = f"triangular-solve(a, b), {attributes}"
    if "transpose_a" not in attributes:
        text += ", transpose_a=NO_TRANSPOSE"
    a, b, expected = (numbers(name, x) for x in (a, b, expected))
    return example(label, text, expected, a=a, b=b)


LOWER = [[2, 99], [3, 4]]
COLUMN = [[2], [11]]
COMPLEX = [[2, 0], [1 + 1j, 1j]]
SOLVE = [
    solve("example 1", LOWER, COLUMN, "left_side=true, lower=true", [[1], [2]]),
    solve(
        "transpose",
        LOWER,
        COLUMN,
        "left_side=true, lower=true, transpose_a=TRANSPOSE",
        [[-3.125], [2.75]],
    ),
    solve("right", LOWER, [[2, 11]], "lower=true", [[-3.125, 2.75]]),
    solve("unit", LOWER, COLUMN, "left_side=true, lower=true, unit_diagonal=true", [[2], [5]]),
    solve("upper", [[2, 3], [99, 4]], COLUMN, "left_side=true", [[-3.125], [2.75]]),
    solve("right", LOWER, [[2, 11]], "lower=true, transpose_a=TRANSPOSE", [[1, 2]]),
    solve("complex", COMPLEX, [[2], [3]], "left_side=true, lower=true", [[1], [-1 - 2j]], "c64"),
    solve(
        "complex transpose",
        COMPLEX,
        [[2], [3]],
        "left_side=true, lower=true, transpose_a=TRANSPOSE",
        [[-0.5 + 1.5j], [-3j]],
        "c64",
    ),
    solve(
        "complex adjoint",
        COMPLEX,
        [[2], [3]],
        "left_side=true, lower=true, transpose_a=ADJOINT",
        [[-0.5 - 1.5j], [3j]],
        "c64",
    ),
]
SOLVE_EDGES = [
    solve("no rows", np.zeros((0, 0)), np.zeros((0, 3)), "left_side=true", np.zeros((0, 3))),
    solve("no columns", LOWER, np.zeros((2, 0)), "left_side=true", np.zeros((2, 0))),
    solve(
        "diagonal not read",
        [[NAN, NAN], [3, NAN]],
        COLUMN,
        "left_side=true, lower=true, unit_diagonal=true",
        [[2], [5]],
    ),
    solve("singular", [[0]], [[2]], "left_side=true", [[INF]]),
    solve("bf16", [[3]], [[1]], "left_side=true", [[1 / 3]], "bf16"),
]


@pytest.mark.parametrize(("text", "operands", "expected"), [*SOLVE, *SOLVE_EDGES])
def test_triangular_solve(text: str, operands: Operands, expected: np.ndarray):
    """Worked examples: docs/generated/worked_examples.md#triangular_solve."""
    (found,) = on_reference(text, operands)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), [*CHOLESKY, *SOLVE, *FFT])
def test_examples_on_xla(text: str, operands: Operands, expected: np.ndarray):
    np.testing.assert_allclose(on_xla(text, operands)[0], expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", each_or_full(("f32", "f64", "c64", "c128"), ("f64",)))
def test_random_decompositions_on_numpy(name: str):
    """Every combination of flags, checked by multiplying out."""
    random = np.random.default_rng(2)
    parts = random.standard_normal((2, 3, 4, 4)), random.standard_normal((2, 3, 4, 2))
    a, b = (p[0] + 1j * p[1] if name[0] == "c" else p[0] for p in parts)
    a = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(4)
    operands = {"a": numbers(name, a), "b": numbers(name, b)}
    operands["c"] = np.ascontiguousarray(np.swapaxes(operands["b"], -1, -2))
    flags = list(itertools.product((True, False), repeat=3))
    kinds = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    instructions = [
        f"{spelled(operands['b' if left else 'c'])} triangular-solve(a, {'b' if left else 'c'}), "
        f"left_side={str(left).lower()}, lower={str(lower).lower()}, "
        f"unit_diagonal={str(unit).lower()}, transpose_a={kind}"
        for (left, lower, unit), kind in itertools.product(flags, kinds)
    ]
    instructions += [
        f"{spelled(operands['a'])} cholesky(a), lower={str(lower).lower()}"
        for lower in (True, False)
    ]
    *solutions, lower, upper = on_reference(program(instructions, operands), operands)
    tolerance = 1e-5 if name in ("f32", "c64") else 1e-12
    given = operands["a"]
    for (flag, kind), x in zip(itertools.product(flags, kinds), solutions, strict=True):
        is_left, is_lower, is_unit = flag
        matrix = np.tril(given) if is_lower else np.triu(given)
        if is_unit:
            matrix = matrix * (1 - np.eye(4)) + np.eye(4)
        matrix = np.swapaxes(matrix, -1, -2) if kind != "NO_TRANSPOSE" else matrix
        matrix = np.conj(matrix) if kind == "ADJOINT" else matrix
        product = matrix @ x if is_left else x @ matrix
        expected = operands["b" if is_left else "c"]
        scale = np.abs(matrix).max() * np.abs(x).max()
        np.testing.assert_allclose(product, expected, atol=tolerance * scale)
    np.testing.assert_array_equal(np.triu(lower, 1), 0)
    np.testing.assert_array_equal(np.tril(upper, -1), 0)
    np.testing.assert_allclose(
        lower @ np.conj(np.swapaxes(lower, -1, -2)), given, atol=tolerance * np.abs(given).max()
    )
    np.testing.assert_allclose(np.conj(np.swapaxes(lower, -1, -2)), upper, rtol=tolerance)
