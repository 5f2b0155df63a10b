"""Linear algebra, which JAX gives to LAPACK, and Fourier transforms."""

from typing import Any

import numpy as np
from peers import has_jax

from jax_programs.program import SUMS, Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    import jax.scipy as jsp

RANDOM = np.random.default_rng(6)
SQUARES = (RANDOM.standard_normal((2, 4, 4)) + 4 * np.eye(4)).astype(np.float32)
TALL = RANDOM.standard_normal((5, 3)).astype(np.float32)
WIDE = RANDOM.standard_normal((3, 5))
SYMMETRIC = SQUARES[0] @ SQUARES[0].T
COMPLEX = (RANDOM.standard_normal((3, 3)) + 1j * RANDOM.standard_normal((3, 3))).astype(
    np.complex64
)
SIGNAL = RANDOM.standard_normal((3, 12)).astype(np.float32)

FACTORS = Bound(64, "LAPACK rounds in another order before and after the call")


def factors(a: Any, tall: Any) -> Any:
    """Every factorization, of matrices and batches of them."""
    symmetric = a @ a.transpose(0, 2, 1)
    return (
        jnp.linalg.cholesky(symmetric),
        jsp.linalg.cholesky(symmetric[0], lower=False),
        *jnp.linalg.qr(tall),
        jnp.linalg.qr(a, mode="r"),
        *jax.lax.linalg.lu(a),
        *jsp.linalg.lu(a[0]),
        *jsp.linalg.lu_factor(a[0]),
        *jnp.linalg.eigh(symmetric),
        *jnp.linalg.svd(tall, full_matrices=False),
        jnp.linalg.svd(a, compute_uv=False),
        *jsp.linalg.hessenberg(a[0], calc_q=True),
        *jsp.linalg.schur(symmetric[0]),
    )


def solutions(a: Any, tall: Any) -> Any:
    """What the factorizations are for."""
    b, triangle = a[:, :, :2], jnp.tril(a[0])
    return (
        *(jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.det(a), *jnp.linalg.slogdet(a)),
        *(jnp.linalg.lstsq(tall, tall[:, :1])[0], jnp.linalg.pinv(tall), jnp.linalg.cond(a[0])),
        *(jnp.linalg.matrix_rank(tall), jnp.linalg.matrix_power(a[0], 3), jnp.linalg.norm(a[0], 2)),
        jsp.linalg.solve_triangular(triangle, b[0], lower=True, trans=1),
        jsp.linalg.solve_triangular(triangle, b[0], lower=True, unit_diagonal=True),
        jsp.linalg.cho_solve(jsp.linalg.cho_factor(a[0] @ a[0].T), b[0]),
        jsp.linalg.expm(a[0] / 8),
        jax.lax.linalg.tridiagonal_solve(a[0, 0], a[0, 1] + 9, a[0, 2], b[0]),
        *(jnp.linalg.norm(a, "nuc", axis=(1, 2)), jnp.linalg.vector_norm(a, axis=1)),
    )


def complex_factors(a: Any) -> Any:
    """LAPACK's routines of complex numbers."""
    hermitian = a @ a.conj().T + 3 * jnp.eye(3)
    return (
        *(jnp.linalg.cholesky(hermitian), *jnp.linalg.qr(a), *jsp.linalg.lu(a)),
        *(jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.eigvalsh(hermitian)),
        *(*jnp.linalg.svd(a), *jsp.linalg.schur(a)),
    )


def gradients(a: Any) -> Any:
    """Through factors and solutions."""

    def value(a: Any) -> Any:
        symmetric = a @ a.T
        return (
            jnp.linalg.slogdet(a)[1]
            + jnp.linalg.cholesky(symmetric).sum()
            + jnp.linalg.solve(a, a[0]).sum()
            + jnp.linalg.eigvalsh(symmetric).max()
        )

    return jax.value_and_grad(value)(a)


def transforms(x: Any) -> Any:
    """Fourier transforms of one to three dimensions, padded and cut."""
    fft, z = jnp.fft, x + 1j * x[:, ::-1]
    return (
        *(fft.fft(z), fft.ifft(z), fft.rfft(x), fft.irfft(z), fft.fft2(z), fft.ifft2(z, (2, 8))),
        *(fft.rfft2(x), fft.irfft2(z), fft.fftn(z.reshape(3, 3, 4)), fft.fft(z, 5, axis=0)),
        *(fft.hfft(z), fft.ihfft(x), fft.fftshift(z), fft.fftfreq(7), fft.rfft(x, 7)),
        *(fft.irfft(z, 9), fft.fft(z, norm="ortho"), fft.fft(x[:, :1])),
    )


def signals(x: Any) -> Any:
    """jax.scipy.signal and the cosine transform."""
    signal = jsp.signal
    return (
        signal.fftconvolve(x[0], x[1, :5], mode="full"),
        signal.convolve(x[0], x[1, :4], mode="valid"),
        signal.detrend(x),
        *signal.stft(x[0], nperseg=6)[1:],
        *signal.welch(x[0], nperseg=6),
        *(jsp.fft.dct(x), jsp.fft.idct(x), jsp.fft.dctn(x)),
    )


def programs() -> dict[str, JaxProgram]:
    """By name."""
    return {
        "factors": JaxProgram(factors, (SQUARES, TALL), bound=FACTORS),
        "factors_f64": JaxProgram(
            factors, (SQUARES.astype(np.float64), WIDE.T.copy()), bound=FACTORS, wide=True
        ),
        "solutions": JaxProgram(solutions, (SQUARES, TALL), bound=FACTORS),
        "complex_factors": JaxProgram(complex_factors, (COMPLEX,), bound=FACTORS),
        "factor_gradients": JaxProgram(gradients, (SQUARES[0],), bound=FACTORS),
        "eigenvalues_of_any": JaxProgram(
            lambda a: (
                *jnp.linalg.eig(a),
                jnp.linalg.eigvals(a),
                jnp.roots(a[0], strip_zeros=False),
            ),
            (SQUARES[0],),
            bound=FACTORS,
        ),
        "transforms": JaxProgram(transforms, (SIGNAL,), bound=SUMS),
        "transforms_f64": JaxProgram(
            transforms, (SIGNAL.astype(np.float64),), bound=SUMS, wide=True
        ),
        "transform_gradient": JaxProgram(
            jax.grad(lambda x: jnp.abs(jnp.fft.rfft(x * x)).sum()), (SIGNAL,), bound=SUMS
        ),
        "signals": JaxProgram(signals, (SIGNAL,), bound=SUMS),
        "symmetric_powers": JaxProgram(
            lambda a: (jsp.linalg.sqrtm(a), jnp.linalg.matrix_power(a, -2)),
            (SYMMETRIC,),
            bound=FACTORS,
        ),
    }
