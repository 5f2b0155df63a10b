"""JAX's calls of LAPACK: what the reference computes, beside XLA CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import has_jax

from lowerings.driver.program import parse_program
from lowerings.execution.lapack import LAPACK, ROUTINES
from lowerings.execution.process_calls import run_on_reference
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.reference import run, run_replicated
from xla_dialect.verification import verify

if has_jax():
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg as jsl
    from jax.lax import linalg

pytestmark = pytest.mark.jax

TYPES = ("float32", "float64", "complex64", "complex128")
REAL, COMPLEX = TYPES[:2], TYPES[2:]


def matrix(dtype: str, *sizes: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    found = random.standard_normal(sizes)
    if dtype in COMPLEX:
        found = found + 1j * random.standard_normal(sizes)
    return found.astype(dtype)


def hermitian(a: Any) -> Any:
    return a @ jnp.conj(jnp.swapaxes(a, -1, -2)) + 4 * jnp.eye(a.shape[-1], dtype=a.dtype)


def projector(columns: Any) -> Any:
    """What spans a space, whatever the signs and phases of its columns."""
    return jnp.einsum("...ik,...jk->...kij", columns, jnp.conj(columns))


def reflectors(a: Any) -> tuple[Any, Any]:
    vectors, factors = jnp.linalg.qr(a, mode="raw")
    return jnp.swapaxes(vectors, -1, -2), factors


def singular(a: Any, **options: Any) -> Any:
    u, s, vt = jnp.linalg.svd(a, **options)
    return s, (u[..., : s.shape[-1]] * s[..., None, :]) @ vt[..., : s.shape[-1], :]


def tridiagonal_system(a: Any) -> Any:
    lower, diagonal, upper = a[..., 0], a[..., 1] + 8, a[..., 2]
    return linalg.tridiagonal_solve(lower, diagonal, upper, a)


def tridiagonal_form(a: Any) -> Any:
    _, diagonal, off_diagonal, taus = linalg.tridiagonal(hermitian(a), lower=True)
    return diagonal, off_diagonal, taus


SQUARE, TALL, WIDE, EMPTY = (4, 4), (5, 3), (3, 5), (0, 4, 4)
PROGRAMS: Any = (
    {
        "cholesky": (
            lambda a: jnp.linalg.cholesky(hermitian(a)),
            TYPES,
            (SQUARE, (2, 3, 3), EMPTY),
        ),
        "cholesky_upper": (lambda a: jsl.cholesky(hermitian(a)), TYPES, (SQUARE,)),
        "indefinite": (lambda a: jnp.linalg.cholesky(-hermitian(a)), ("float32",), ((2, 3, 3),)),
        "solve": (lambda a: jnp.linalg.solve(hermitian(a), a), TYPES, (SQUARE, (2, 3, 3))),
        "lu": (linalg.lu, TYPES, (SQUARE, TALL, WIDE)),
        "determinant": (jnp.linalg.det, REAL, (SQUARE, (2, 3, 4, 4))),
        "qr": (jnp.linalg.qr, TYPES, (SQUARE, TALL, WIDE, (2, 5, 3))),
        "qr_complete": (lambda a: jnp.linalg.qr(a, mode="complete"), REAL, (TALL,)),
        "qr_pivoting": (lambda a: jsl.qr(a, pivoting=True), TYPES, (SQUARE, TALL)),
        "householder": (lambda a: linalg.householder_product(*reflectors(a)), TYPES, (TALL,)),
        "orthogonal_product": (lambda a: linalg.ormqr(*reflectors(a), a), TYPES, (SQUARE,)),
        "orthogonal_adjoint": (
            lambda a: linalg.ormqr(*reflectors(a), a, left=False, transpose=True),
            TYPES,
            (SQUARE,),
        ),
        "triangular_solve": (lambda a: jsl.solve_triangular(hermitian(a), a), TYPES, (SQUARE,)),
        "triangular_options": (
            lambda a: linalg.triangular_solve(
                hermitian(a), a, left_side=False, lower=True, transpose_a=True, conjugate_a=True
            ),
            TYPES,
            (SQUARE, (2, 4, 4)),
        ),
        "unit_diagonal": (
            lambda a: jsl.solve_triangular(a, a, trans=1, lower=True, unit_diagonal=True),
            REAL,
            (SQUARE,),
        ),
        "eigh": (lambda a: jnp.linalg.eigvalsh(hermitian(a)), TYPES, (SQUARE, (2, 3, 3))),
        "eigenvectors": (lambda a: projector(jnp.linalg.eigh(hermitian(a))[1]), TYPES, (SQUARE,)),
        "svd": (lambda a: singular(a, full_matrices=False), TYPES, (TALL, WIDE, (2, 5, 3))),
        "svd_full": (singular, TYPES, (TALL,)),
        "svd_values": (lambda a: jnp.linalg.svd(a, compute_uv=False), TYPES, (TALL,)),
        "svd_qr": (lambda a: linalg.svd(a, algorithm=linalg.SvdAlgorithm.QR)[1], TYPES, (TALL,)),
        "eig": (lambda a: jnp.sort(jnp.linalg.eigvals(a)), TYPES, (SQUARE,)),
        "schur": (lambda a: jsl.schur(a)[0], TYPES, (SQUARE,)),
        "hessenberg": (jsl.hessenberg, TYPES, (SQUARE,)),
        "tridiagonal_solve": (tridiagonal_system, TYPES, (SQUARE, (2, 4, 4))),
        "tridiagonal_form": (tridiagonal_form, TYPES, (SQUARE,)),
        "pseudo_inverse": (jnp.linalg.pinv, REAL, (TALL, WIDE)),
        "least_squares": (lambda a: jnp.linalg.lstsq(a, a[:, 0])[0], REAL, (TALL,)),
        "exponential": (jsl.expm, REAL, (SQUARE,)),
        "gradient": (jax.grad(lambda a: jnp.linalg.slogdet(hermitian(a))[1]), REAL, (SQUARE,)),
    }
    if has_jax()
    else {}
)

CASES = [
    pytest.param(
        function,
        dtype,
        sizes,
        id=f"{name}-{dtype}-{'x'.join(map(str, sizes))}",
        marks=() if dtype == dtypes[-1] and sizes in (shapes[0], EMPTY) else pytest.mark.full,
    )
    for name, (function, dtypes, shapes) in PROGRAMS.items()
    for dtype in dtypes
    for sizes in shapes
]


@pytest.mark.parametrize(("function", "dtype", "sizes"), CASES)
def test_as_xla(function: Callable[[Any], Any], dtype: str, sizes: tuple[int, ...]) -> None:
    with jax.enable_x64(True):
        a = matrix(dtype, *sizes)
        lowered = jax.jit(function).lower(a)
        compiled = lowered.compile(compiler_options={"xla_backend_optimization_level": "0"})
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(compiled(a))]
        stablehlo, hlo = lowered.as_text(), lowered.as_text(dialect="hlo")
    assert "custom_call" in stablehlo or not a.size
    tolerance = 2e-4 if np.finfo(dtype).bits == 32 else 1e-11
    for module in (parse_program(stablehlo, "<jax>", "stablehlo"), read_hlo(hlo)):
        verify(module)
        found = run_on_reference(module, [a], "main")
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def test_eigenvectors_of_general_matrices() -> None:
    """Both sides: the defining equations, for vectors are unique but for a factor."""
    a = matrix("float64", 5, 5)
    with jax.enable_x64(True):
        text = jax.jit(lambda a: linalg.eig(a)).lower(a).as_text()
    values, left, right = run_on_reference(parse_program(text), [a], "main")
    assert not np.all(np.isreal(values))
    np.testing.assert_allclose(a @ right, right * values, atol=1e-12)
    np.testing.assert_allclose(left.conj().T @ a, values[:, None] * left.conj().T, atol=1e-12)


def test_every_routine_is_called() -> None:
    called: set[str] = set()
    with jax.enable_x64(True):
        for function, dtypes, shapes in PROGRAMS.values():
            for dtype in (dtypes[0], dtypes[-1]):
                text = jax.jit(function).lower(matrix(dtype, *shapes[0])).as_text()
                called |= {r for r in ROUTINES for letter in "sdcz" if f"_{letter}{r}_ffi" in text}
    assert called == set(ROUTINES)


def test_other_targets_are_not_lapack() -> None:
    assert "lapack_sgemm_ffi" not in LAPACK
    assert "lapack_spotrf" not in LAPACK


@pytest.mark.parametrize("target", ["Sharding", "annotate_device_placement"])
def test_annotations_return_their_operand(target: str) -> None:
    text = f"""
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{
      %y = stablehlo.custom_call @{target}(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }}"""
    (found,) = run(parse_program(text), [np.arange(2, dtype=np.float32)])
    assert np.asarray(found).tolist() == [0, 1]


def test_the_registry_comes_first() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = stablehlo.custom_call @Sharding(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }"""
    module, x = parse_program(text), np.arange(2, dtype=np.float32)
    library = {"Sharding": lambda op, x: x + 2}
    (found,) = run(module, [x], libraries=[lambda process: library])
    assert np.asarray(found).tolist() == [2, 3]
    (found,) = run(
        module,
        [x],
        libraries=[lambda process: library],
        custom_calls={"Sharding": lambda op, x: x + 1},
    )
    assert np.asarray(found).tolist() == [1, 2]


def test_a_library_knows_the_process_that_runs() -> None:
    text = """
    func.func @main() -> tensor<i32> {
      %y = stablehlo.custom_call @number() : () -> tensor<i32>
      return %y : tensor<i32>
    }"""
    found = run_replicated(
        parse_program(text),
        replicas=3,
        libraries=[lambda process: {"number": lambda op: np.int32(process.number)}],
    )
    assert [int(np.asarray(result)) for (result,) in found] == [0, 1, 2]


def test_the_reference_alone_knows_no_lapack() -> None:
    text = """
    func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>) {
      %y:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}}
        : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
      return %y#0, %y#1 : tensor<2x2xf32>, tensor<i32>
    }"""
    x = np.eye(2, dtype=np.float32) * 4
    with pytest.raises(XlaError, match="no function is registered for the target 'lapack_spotrf"):
        run(parse_program(text), [x])
    factor, info = run_on_reference(parse_program(text), [x], "main")
    assert factor.tolist() == [[2, 0], [0, 2]]
    assert info == 0
