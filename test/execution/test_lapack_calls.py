"""Calls of LAPACK from machine code: the same bits as on the reference, which calls them by Python."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from sweeps import combinations

import lowerings
from lowerings.compilation import Program
from lowerings.execution import lapack
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
    callbacks = program.callbacks
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


@pytest.mark.parametrize(
    ("element", "side", "triangle", "transposed", "diagonal"),
    combinations(LETTERS, "LR", "LU", "NTC", "NU"),
)
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
    ("element", "side", "triangle", "transposed", "size"),
    combinations(("f32", "f64"), "LR", "LU", "NT", (3, 4, 9, 70), step=3),
)
def test_what_is_not_finite_spoils_what_depends_on_it(
    element: str, side: str, triangle: str, transposed: str, size: int
) -> None:
    """The other elements are those of a problem that is finite."""
    sizes = (size, 6) if side == "L" else (6, size)
    text = solve(sizes, element, side + triangle + transposed + "N")
    a = numbers((size, size), element) / size + np.eye(size, dtype=DTYPES[element])
    matrix = np.tril(a) if triangle == "L" else np.triu(a)
    matrix = matrix.T if (transposed == "T") != (side == "R") else matrix
    is_forwards = not matrix[0, 1:].any()
    random = np.random.default_rng(size)
    for value in (np.inf, -np.inf, np.nan, np.finfo(DTYPES[element]).max * 0.999):
        b = numbers((size, 6), element)
        expected = np.linalg.solve(matrix, b)
        place = int(random.integers(size))
        b[place, 2] = value
        matrix_of_call = a * (1e-3 if np.isfinite(value) else 1)
        (found,) = assert_as_reference(text, matrix_of_call, b if side == "L" else b.T.copy())
        found = found if side == "L" else found.T
        rows = np.arange(size)
        depends = rows >= place if is_forwards else rows <= place
        kept = np.ones((size, 6), bool)
        kept[depends, 2] = False
        scale = 1e3 if np.isfinite(value) else 1
        np.testing.assert_allclose(found[kept], expected[kept] * scale, rtol=2e-3, atol=1e-3)
        assert not np.isfinite(found[place, 2])


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
def test_wrong_calls_are_errors(text: str) -> None:
    """What a handler would trust is checked before it is called."""
    with pytest.raises(XlaError, match=r"potrf|trsm"):
        lowerings.compile(text)


def test_without_jaxlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jaxlib.lapack", None)
    lapack._handlers.cache_clear()
    with pytest.raises(XlaError, match="calls of LAPACK need jaxlib: pip install jaxlib scipy"):
        lowerings.compile(cholesky((3, 3)))


def test_errors_of_handlers_have_their_place() -> None:
    """A routine that is not told what to do, in machine code and on the reference."""
    matrix, info = "tensor<3x3xf32>", "tensor<i32>"
    text = call("lapack_ssyevd_ffi", "", [matrix], [matrix, "tensor<3xf32>", info])
    for backend in ("llvm", "reference"):
        program = lowerings.compile(text, backend=backend)
        with pytest.raises(XlaError, match="Wrong number of attributes"):
            program(np.eye(3, dtype=np.float32))


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
    settings = f"mode = {ord(mode)} : ui8" if mode else ""
    if routine == "evd":
        settings += f", uplo = {ord('U')} : ui8"
        routine = "heevd" if element.startswith("complex") else "syevd"
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


@pytest.mark.parametrize(("element", "sizes"), combinations(LETTERS, MATRICES))
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


@pytest.mark.parametrize(
    ("element", "sizes", "mode"), combinations(LETTERS, [(1, 1), (2, 3, 5, 5), (40, 40)], "NV")
)
def test_symmetric_eigenvalues(element: str, sizes: tuple[int, ...], mode: str) -> None:
    a = positive(sizes, element)
    vectors, values, info = assert_as_reference(decomposition("evd", sizes, element, mode), a)
    assert not info.any()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), rtol=1e-3)
    if mode == "V":
        np.testing.assert_allclose(
            a @ vectors, vectors * values[..., None, :], rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize(
    ("element", "sizes", "mode", "routine"),
    combinations(LETTERS, MATRICES, "NSA", ("gesdd", "gesvd")),
)
def test_singular_values(element: str, sizes: tuple[int, ...], mode: str, routine: str) -> None:
    a = numbers(sizes, element)
    text = decomposition("gesdd", sizes, element, mode).replace("gesdd", routine)
    _, values, u, vt, info = assert_as_reference(text, a)
    assert not info.any()
    expected = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-4)
    k = min(sizes[-2:])
    if mode != "N":
        product = u[..., :k] * values[..., None, :] @ vt[..., :k, :]
        np.testing.assert_allclose(product, a, rtol=1e-3, atol=1e-3)


def on_square_matrices(
    routine: str, sizes: Sequence[int], element: str, **settings: str | int
) -> str:
    """A call of a routine that has its matrix, or one of that size, as its first result."""
    *batch, n = sizes[:-1]
    is_complex = element.startswith("complex")
    matrix, vector, info = (
        tensor(sizes, element),
        tensor((*batch, n), element),
        tensor(batch, "i32"),
    )
    real, beside = REAL[element], (*batch, n - 1)
    vectors = tensor(sizes, element if is_complex else f"complex<{element}>")
    values = [vector] * (1 if is_complex else 2)
    results = {
        "geev": [*values, vectors, vectors, info],
        "gees": [matrix, matrix, *values, info, info],
        "gehrd": [matrix, tensor(beside, element), info],
        "trd": [
            *(matrix, tensor((*batch, n), real), tensor(beside, real)),
            *(tensor(beside, element), info),
        ],
    }[routine]
    if routine == "trd":
        routine = "hetrd" if is_complex else "sytrd"
    numbers = (
        f"{name} = {value} : i32" if isinstance(value, int) else f"{name} = {ord(value)} : ui8"
        for name, value in settings.items()
    )
    target = f"lapack_{LETTERS[element]}{routine}_ffi"
    return call(target, ", ".join(numbers), [matrix], results)


SQUARE = [(1, 1), (2, 3, 6, 6), (40, 40)]


def adjoint(a: np.ndarray) -> np.ndarray:
    return a.conj().swapaxes(-1, -2)


@pytest.mark.parametrize(
    ("element", "sizes", "sides"), combinations(LETTERS, SQUARE, ("VV", "NV", "VN", "NN"))
)
def test_eigenvalues(element: str, sizes: tuple[int, ...], sides: str) -> None:
    settings = {"compute_left": sides[0], "compute_right": sides[1]}
    text, a = on_square_matrices("geev", sizes, element, **settings), numbers(sizes, element)
    *values, left, right, info = assert_as_reference(text, a)
    assert not info.any()
    w = values[0] + 1j * values[1] if len(values) == 2 else values[0]
    for side, vectors in zip(sides, (left, right), strict=True):
        assert (side == "V") == bool(vectors.any())
    np.testing.assert_allclose(a @ right, right * w[..., None, :], atol=1e-3)
    np.testing.assert_allclose(adjoint(left) @ a, w[..., None] * adjoint(left), atol=1e-3)
    np.testing.assert_allclose(w.sum(-1), np.trace(a, axis1=-2, axis2=-1), atol=1e-3)


def test_eigenvalues_that_do_not_converge() -> None:
    """LAPACK leaves a part of the results alone; which, is up to it."""
    a = np.full((2, 3, 3), np.nan, np.float32)
    a[1] = np.diag([1, 2, 3])
    text = on_square_matrices("geev", a.shape, "f32", compute_left="V", compute_right="V")
    *_, values, info = (compiled(text)(*(a,))[n] for n in (1, 2, 0, 4))
    assert not calls_python(compiled(text))
    assert info.tolist()[1] == 0
    assert values[1].tolist() == [1, 2, 3]
    assert info[0] != 0 or np.isnan(values[0]).any()


@pytest.mark.parametrize(("element", "sizes", "mode"), combinations(LETTERS, SQUARE, "NV"))
def test_schur_form(element: str, sizes: tuple[int, ...], mode: str) -> None:
    text = on_square_matrices("gees", sizes, element, mode=mode, sort="N")
    a = numbers(sizes, element)
    form, vectors, *_, selected, info = assert_as_reference(text, a)
    assert not info.any()
    assert not selected.any()
    assert not np.tril(form, -2).any()
    if mode == "V":
        np.testing.assert_allclose(vectors @ form @ adjoint(vectors), a, atol=1e-3)
    else:
        assert not vectors.any()


@pytest.mark.parametrize(("element", "sizes"), combinations(LETTERS, SQUARE))
def test_hessenberg_form(element: str, sizes: tuple[int, ...]) -> None:
    text = on_square_matrices("gehrd", sizes, element, low=1, high=sizes[-1])
    a = numbers(sizes, element)
    form, _, info = assert_as_reference(text, a)
    assert not info.any()
    found, expected = (np.trace(np.triu(x, -1), axis1=-2, axis2=-1) for x in (form, a))
    np.testing.assert_allclose(found, expected, atol=1e-3)
    with pytest.raises(XlaError, match="gehrd of rows 2 to 1"):
        lowerings.compile(on_square_matrices("gehrd", sizes, element, low=2, high=1))


@pytest.mark.parametrize(("element", "sizes", "uplo"), combinations(LETTERS, SQUARE, "LU"))
def test_tridiagonal_form(element: str, sizes: tuple[int, ...], uplo: str) -> None:
    a = positive(sizes, element)
    text = on_square_matrices("trd", sizes, element, uplo=uplo)
    _, diagonal, beside, _, info = assert_as_reference(text, a)
    assert not info.any()
    squares = (diagonal**2).sum(-1) + 2 * (beside**2).sum(-1)
    np.testing.assert_allclose(squares, np.linalg.norm(a, axis=(-2, -1)) ** 2, rtol=1e-4)


def tridiagonal_system(batch: Sequence[int], n: int, columns: int, element: str) -> str:
    arrays = [*[tensor((*batch, n), element)] * 3, tensor((*batch, n, columns), element)]
    results = [*arrays, tensor(batch, "i32")]
    return call(f"lapack_{LETTERS[element]}gtsv_ffi", "", arrays, results)


@pytest.mark.parametrize(
    ("element", "columns", "batch", "n"),
    combinations(LETTERS, (0, 1, 3), ((), (2, 3), (0,)), (1, 2, 9)),
)
def test_tridiagonal_solve(element: str, columns: int, batch: tuple[int, ...], n: int) -> None:
    diagonals = [numbers((*batch, n), element) for _ in range(3)]
    diagonals[1] = diagonals[1] + 4
    b = numbers((*batch, n, columns), element)
    text = tridiagonal_system(batch, n, columns, element)
    *_, x, info = assert_as_reference(text, *diagonals, b)
    assert not info.any()
    below, diagonal, above = (each[..., None] for each in diagonals)
    product = diagonal * x
    product[..., 1:, :] += (below * np.roll(x, 1, -2))[..., 1:, :]
    product[..., :-1, :] += (above * np.roll(x, -1, -2))[..., :-1, :]
    np.testing.assert_allclose(product, b, atol=1e-4)


def test_info_of_a_singular_tridiagonal_matrix() -> None:
    zeros, ones = np.zeros((2, 3), np.float32), np.ones((2, 3), np.float32)
    diagonal = np.array([[1, 0, 1], [1, 1, 1]], np.float32)
    text = tridiagonal_system((2,), 3, 1, "f32")
    *_, info = assert_as_reference(text, zeros, diagonal, zeros, ones[..., None])
    assert info.tolist() == [2, 0]


@pytest.mark.parametrize(("element", "sizes"), combinations(LETTERS, MATRICES))
def test_qr_with_column_pivoting(element: str, sizes: tuple[int, ...]) -> None:
    *batch, m, n = sizes
    matrix, order = tensor(sizes, element), tensor((*batch, n), "i32")
    results = [matrix, order, tensor((*batch, min(m, n)), element)]
    text = call(f"lapack_{LETTERS[element]}geqp3_ffi", "", [matrix, order], results)
    a = numbers(sizes, element)
    factors, columns, _ = assert_as_reference(text, a, np.zeros((*batch, n), np.int32))
    assert (np.sort(columns) == np.arange(1, n + 1)).all()
    first = np.take_along_axis(a, columns[..., None, :1] - 1, -1)
    np.testing.assert_allclose(
        abs(factors[..., 0, 0]), np.linalg.norm(first, axis=-2)[..., 0], rtol=1e-4
    )


@pytest.mark.parametrize(
    ("element", "is_left", "is_adjoint", "count"),
    combinations(LETTERS, (True, False), (True, False), (0, 2, 4)),
)
def test_orthogonal_product(element: str, is_left: bool, is_adjoint: bool, count: int) -> None:
    sizes, letter = (2, 4, 3) if is_left else (2, 3, 4), LETTERS[element]
    routine = "unmqr" if element.startswith("complex") else "ormqr"
    a, c = numbers((2, 4, 4), element), numbers(sizes, element)
    factors, tau = compiled(decomposition("geqrf", (2, 4, 4), element))(a)
    tau = np.ascontiguousarray(tau[:, :count])
    arrays = [tensor(a.shape, element), tensor(tau.shape, element), tensor(sizes, element)]
    words = [str(each).lower() for each in (is_left, is_adjoint)]
    settings = f"left = {words[0]}, transpose = {words[1]}"
    text = call(f"lapack_{letter}{routine}_ffi", settings, arrays, arrays[2:])
    (product,) = assert_as_reference(text, factors, tau, c)
    make = call(f"lapack_{letter}{routine[:2]}gqr_ffi", "", arrays[:2], arrays[:1])
    (q,) = assert_as_reference(make, factors, tau)
    q = adjoint(q) if is_adjoint else q
    np.testing.assert_allclose(product, q @ c if is_left else c @ q, atol=1e-4)
