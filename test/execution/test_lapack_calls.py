"""Calls of LAPACK from machine code: the same bits as through Python, which the reference takes."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

import lowerings
from lowerings.compilation import Program
from lowerings.execution import lapack_calls
from lowerings.execution.declared_functions import CustomCalls
from lowerings.execution.executable import Executable
from xla_dialect.diagnostics import XlaError

pytestmark = pytest.mark.scipy

LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}
DTYPES = {"f32": "float32", "f64": "float64", "complex<f32>": "complex64"}


def tensor(sizes: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def call(target: str, settings: str, operands: Sequence[str], results: Sequence[str]) -> str:
    names = ", ".join(f"%x{n}" for n in range(len(operands)))
    parameters = ", ".join(f"%x{n}: {each}" for n, each in enumerate(operands))
    found = ", ".join(f"%r{n}" for n in range(len(results)))
    return f"""
    func.func @main({parameters}) -> ({", ".join(results)}) {{
      {found} = stablehlo.custom_call @{target}({names}) {{mhlo.backend_config = {{{settings}}}}}
        : ({", ".join(operands)}) -> ({", ".join(results)})
      return {found} : {", ".join(results)}
    }}"""


def cholesky(sizes: Sequence[int], element: str = "f32", uplo: str = "L") -> str:
    matrix = tensor(sizes, element)
    return call(
        f"lapack_{LETTERS[element]}potrf_ffi",
        f"uplo = {ord(uplo)} : ui8",
        [matrix],
        [matrix, tensor(sizes[:-2], "i32")],
    )


def solve(
    sizes: Sequence[int], element: str = "f32", options: str = "LLNN", size: int | None = None
) -> str:
    """`options`: side, triangle, transposition and diagonal."""
    length = (sizes[-2] if options[0] == "L" else sizes[-1]) if size is None else size
    names = ("side", "uplo", "trans_x", "diag")
    settings = (f"{n} = {ord(v)} : ui8" for n, v in zip(names, options, strict=True))
    matrix, b = tensor((*sizes[:-2], length, length), element), tensor(sizes, element)
    return call(f"lapack_{LETTERS[element]}trsm_ffi", ", ".join(settings), [matrix, b], [b])


def factors(sizes: Sequence[int], element: str = "f32") -> str:
    matrix, least = tensor(sizes, element), min(sizes[-2:])
    results = [matrix, tensor((*sizes[:-2], least), "i32"), tensor(sizes[:-2], "i32")]
    return call(f"lapack_{LETTERS[element]}getrf_ffi", "", [matrix], results)


def numbers(sizes: Sequence[int], element: str) -> np.ndarray:
    random = np.random.default_rng(0)
    found = random.standard_normal(sizes)
    if element.startswith("complex"):
        found = found + 1j * random.standard_normal(sizes)
    return found.astype(DTYPES.get(element, "complex128"))


def positive(sizes: Sequence[int], element: str) -> np.ndarray:
    a = numbers(sizes, element)
    return (a @ a.conj().swapaxes(-1, -2) + 4 * np.eye(sizes[-1])).astype(a.dtype)


@cache
def compiled(text: str, backend: str = "llvm") -> Program:
    return lowerings.compile(text, backend=backend)


def calls_python(program: Program) -> bool:
    assert isinstance(program, Executable)
    callbacks = program._callbacks
    assert callbacks is not None
    return callbacks.calls_python


def assert_as_reference(text: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    program = compiled(text)
    assert not calls_python(program)
    found = program(*arrays)
    for mine, expected in zip(found, compiled(text, "reference")(*arrays), strict=True):
        assert mine.dtype == expected.dtype
        assert mine.tobytes() == expected.tobytes()
    return found


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", [(1, 1), (7, 7), (2, 3, 5, 5), (70, 70)], ids=str)
def test_cholesky(element: str, sizes: tuple[int, ...]) -> None:
    a = positive(sizes, element)
    lower, info = assert_as_reference(cholesky(sizes, element), a)
    assert not info.any()
    product = np.tril(lower) @ np.tril(lower).conj().swapaxes(-1, -2)
    np.testing.assert_allclose(product, a, rtol=1e-4, atol=1e-4)
    upper, _ = assert_as_reference(cholesky(sizes, element, "U"), a)
    product = np.triu(upper).conj().swapaxes(-1, -2) @ np.triu(upper)
    np.testing.assert_allclose(product, a, rtol=1e-4, atol=1e-4)
    # The other triangle is what it was.
    assert (np.triu(lower, 1) == np.triu(a, 1)).all()


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", [(1, 1), (7, 7), (2, 3, 5, 5), (70, 70)], ids=str)
def test_factors(element: str, sizes: tuple[int, ...]) -> None:
    a = numbers(sizes, element)
    both, pivots, info = assert_as_reference(factors(sizes, element), a)
    assert not info.any()
    product = (np.tril(both, -1) + np.eye(sizes[-1])) @ np.triu(both)
    size = sizes[-1]
    for problem, order, whole in zip(
        a.reshape(-1, size, size),
        pivots.reshape(-1, size),
        product.reshape(-1, size, size),
        strict=True,
    ):
        rows = problem.copy()
        for row, other in enumerate(order - 1):
            rows[[row, other]] = rows[[other, row]]
        np.testing.assert_allclose(whole, rows, rtol=1e-3, atol=1e-3)


def test_info_says_where_a_matrix_is_not_positive_definite() -> None:
    a = np.stack([np.diag([1, 1, -1]), np.diag([1, 1, 1]), np.diag([0, 1, 1])]).astype(np.float32)
    _, info = assert_as_reference(cholesky((3, 3, 3)), a)
    assert info.tolist() == [3, 0, 1]


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize("triangle", "LU")
@pytest.mark.parametrize("transposed", "NTC")
@pytest.mark.parametrize("diagonal", "NU")
def test_triangular_solve(
    element: str, side: str, triangle: str, transposed: str, diagonal: str
) -> None:
    options = side + triangle + transposed + diagonal
    sizes = (2, 4, 3) if side == "L" else (2, 3, 4)
    a, b = positive((2, 4, 4), element), numbers(sizes, element)
    (x,) = assert_as_reference(solve(sizes, element, options), a, b)
    op = np.tril(a) if triangle == "L" else np.triu(a)
    if diagonal == "U":
        np.einsum("bii->bi", op)[...] = 1
    op = {"N": op, "T": op.swapaxes(1, 2), "C": op.conj().swapaxes(1, 2)}[transposed]
    np.testing.assert_allclose(op @ x if side == "L" else x @ op, b, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    "text",
    [
        cholesky((0, 0)),
        cholesky((0, 3, 3)),
        cholesky((2, 0, 0)),
        factors((0, 0)),
        factors((0, 3, 3)),
        solve((0, 3, 2)),
        solve((2, 3, 0)),
        solve((0, 2)),
    ],
)
def test_problems_without_elements(text: str) -> None:
    program = compiled(text)
    arrays = [np.ones(each.shape, each.dtype) for each in program.signature.parameters]
    assert_as_reference(text, *arrays)


@pytest.mark.parametrize(
    "text",
    [
        cholesky((3, 4)),
        cholesky((3, 3), uplo="X"),
        solve((3, 2), size=4),
        solve((3, 2), options="LLXN"),
        call("lapack_spotrf_ffi", "", ["tensor<3x3xf32>"], ["tensor<3x3xf32>", "tensor<i32>"]),
        call("lapack_spotrf_ffi", "", ["tensor<9xf32>"], ["tensor<9xf32>", "tensor<i32>"]),
        call(
            "lapack_spotrf_ffi",
            "uplo = 76 : ui8",
            ["tensor<3x3xf64>"],
            ["tensor<3x3xf64>", "tensor<i32>"],
        ),
        call(
            "lapack_spotrf_ffi",
            "uplo = 76 : ui8",
            ["tensor<3x3xf32>"],
            ["tensor<4x4xf32>", "tensor<i32>"],
        ),
    ],
)
def test_unusual_calls_go_through_python(text: str) -> None:
    """Which checks what LAPACK would trust."""
    assert calls_python(compiled(text))


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = __import__("sys").modules
    for name in ("cython_lapack", "lapack"):
        monkeypatch.setitem(modules, f"scipy.linalg.{name}", None)
    program = lowerings.compile(cholesky((3, 3)))
    with pytest.raises(XlaError, match="calls of LAPACK need scipy: pip install scipy"):
        program(np.eye(3, dtype=np.float32))


def test_routines_with_other_integers_go_through_python(monkeypatch: pytest.MonkeyPatch) -> None:
    name = b"void (char *, long *, float *, long *, long *)"
    monkeypatch.setattr(lapack_calls, "_capsule_name", lambda _: name)
    assert calls_python(lowerings.compile(cholesky((3, 3))))


def test_the_registry_comes_first() -> None:
    def function(op: object, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return a + 1, np.array(7, np.int32)

    registry: CustomCalls = {"lapack_spotrf_ffi": function}
    found, info = lowerings.compile(cholesky((2, 2)), custom_calls=registry)(np.ones((2, 2), "f4"))
    assert found.tolist() == [[2, 2], [2, 2]]
    assert info == 7


REAL = {"f32": "f32", "f64": "f64", "complex<f32>": "f32", "complex<f64>": "f64"}
MATRICES = [(1, 1), (4, 4), (2, 3, 5, 4), (3, 2, 6), (70, 70), (80, 20)]


def decomposition(routine: str, sizes: Sequence[int], element: str, mode: str = "") -> str:
    """A call of a routine on a matrix, with the results that it has."""
    *batch, m, n = sizes
    k = min(m, n)
    rows, columns = (m, n) if mode == "A" else (k, k)
    matrix, info = tensor(sizes, element), tensor(batch, "i32")
    results = {
        "getrf": [matrix, tensor((*batch, k), "i32"), info],
        "geqrf": [matrix, tensor((*batch, k), element)],
        "evd": [matrix, tensor((*batch, n), REAL[element]), info],
        "gesdd": [
            *(matrix, tensor((*batch, k), REAL[element])),
            *(tensor((*batch, m, rows), element), tensor((*batch, columns, n), element), info),
        ],
    }[routine]
    if routine == "evd":
        routine = "heevd" if element.startswith("complex") else "syevd"
    settings = f"mode = {ord(mode)} : ui8, uplo = {ord('U')} : ui8" if mode else ""
    return call(f"lapack_{LETTERS[element]}{routine}_ffi", settings, [matrix], results)


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", [(2, 3, 5, 4), (3, 2, 6), (80, 20)], ids=str)
def test_lu_of_a_matrix_that_is_not_square(element: str, sizes: tuple[int, ...]) -> None:
    a = numbers(sizes, element)
    factors, pivots, info = assert_as_reference(decomposition("getrf", sizes, element), a)
    assert not info.any()
    k = min(sizes[-2:])
    lower = np.tril(factors[..., :k], -1) + np.eye(sizes[-2], k)
    product = (lower @ np.triu(factors[..., :k, :])).reshape(-1, *sizes[-2:])
    swaps = pivots.reshape(-1, k) - 1
    for matrix, order, expected in zip(product, swaps, a.reshape(-1, *sizes[-2:]), strict=True):
        for row, other in reversed(list(enumerate(order))):
            matrix[[row, other]] = matrix[[other, row]]
        np.testing.assert_allclose(matrix, expected, rtol=1e-4, atol=1e-4)


def test_info_of_a_singular_matrix() -> None:
    a = np.stack([np.diag([1, 0, 2]), np.eye(3)]).astype(np.float32)
    _, _, info = assert_as_reference(decomposition("getrf", (2, 3, 3), "f32"), a)
    assert info.tolist() == [2, 0]


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", MATRICES, ids=str)
def test_qr(element: str, sizes: tuple[int, ...]) -> None:
    *batch, m, n = sizes
    k = min(m, n)
    a = numbers(sizes, element)
    factors, tau = assert_as_reference(decomposition("geqrf", sizes, element), a)
    routine = "ungqr" if element.startswith("complex") else "orgqr"
    vectors = np.ascontiguousarray(factors[..., :k])
    operands = [tensor((*batch, m, k), element), tensor((*batch, k), element)]
    text = call(f"lapack_{LETTERS[element]}{routine}_ffi", "", operands, operands[:1])
    (q,) = assert_as_reference(text, vectors, tau)
    product = q @ np.triu(factors[..., :k, :])
    np.testing.assert_allclose(product, a, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", [(1, 1), (2, 3, 5, 5), (40, 40)], ids=str)
@pytest.mark.parametrize("mode", "NV")
def test_symmetric_eigenvalues(element: str, sizes: tuple[int, ...], mode: str) -> None:
    a = positive(sizes, element)
    vectors, values, info = assert_as_reference(decomposition("evd", sizes, element, mode), a)
    assert not info.any()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), rtol=1e-3)
    if mode == "V":
        np.testing.assert_allclose(
            a @ vectors, vectors * values[..., None, :], rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("element", LETTERS)
@pytest.mark.parametrize("sizes", MATRICES, ids=str)
@pytest.mark.parametrize("mode", "NSA")
def test_singular_values(element: str, sizes: tuple[int, ...], mode: str) -> None:
    a = numbers(sizes, element)
    text = decomposition("gesdd", sizes, element, mode)
    _, values, u, vt, info = assert_as_reference(text, a)
    assert not info.any()
    expected = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-4)
    k = min(sizes[-2:])
    if mode != "N":
        product = u[..., :k] * values[..., None, :] @ vt[..., :k, :]
        np.testing.assert_allclose(product, a, rtol=1e-3, atol=1e-3)


def test_large_matrices_are_left_to_python() -> None:
    """Their memory may be short, which machine code does not see."""
    text = decomposition("gesdd", (9000, 4000), "f64", "S")
    assert calls_python(compiled(text))
