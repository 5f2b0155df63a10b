"""Solvers of linear systems of lineax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import lineax as lx

from library_programs.measuring import Made, Maker


def _matrix(*sizes: int) -> jax.Array:
    return jax.random.normal(jax.random.key(0), sizes)


def _positive(size: int) -> jax.Array:
    matrix = _matrix(size, size)
    return matrix @ matrix.T / size + jnp.eye(size)


def _vector(size: int) -> jax.Array:
    return jax.random.normal(jax.random.key(1), (size,))


def _solved(solver: Any, matrix: jax.Array, tags: Any = ()) -> Made:
    """The solution, and a gradient through it."""

    def function(matrix: jax.Array, vector: jax.Array) -> Any:
        def loss(matrix: jax.Array, vector: jax.Array) -> Any:
            operator = lx.MatrixLinearOperator(matrix, tags)
            solution = lx.linear_solve(operator, vector, solver)
            return jnp.sum(solution.value**2), solution.value

        return jax.value_and_grad(loss, (0, 1), has_aux=True)(matrix, vector)

    return function, (matrix, _vector(matrix.shape[0]))


def _tridiagonal() -> Made:
    def function(d: jax.Array, lower: jax.Array, upper: jax.Array, b: jax.Array) -> jax.Array:
        operator = lx.TridiagonalLinearOperator(d, lower, upper)
        return lx.linear_solve(operator, b, lx.Tridiagonal()).value

    return function, (_vector(9) + 4, _vector(9)[:8], _vector(9)[1:], _vector(9))


def _of_function() -> Made:
    """Only products with the matrix are known."""

    def function(x: jax.Array, b: jax.Array) -> jax.Array:
        operator = lx.JacobianLinearOperator(
            lambda y, args: y + 0.1 * jnp.sin(y), x, tags=lx.symmetric_tag
        )
        tagged = lx.TaggedLinearOperator(operator, lx.positive_semidefinite_tag)
        return lx.linear_solve(tagged, b, lx.CG(1e-5, 1e-5)).value

    return function, (_vector(8), _vector(8))


def _batched() -> Made:
    def function(matrix: jax.Array, vector: jax.Array) -> jax.Array:
        return lx.linear_solve(lx.MatrixLinearOperator(matrix), vector).value

    return jax.vmap(function), (
        _matrix(16, 4, 4) + 3 * jnp.eye(4),
        jax.random.normal(jax.random.key(2), (16, 4)),
    )


PROGRAMS: dict[str, Maker] = {
    "lu": lambda: _solved(lx.LU(), _matrix(8, 8) + 3 * jnp.eye(8)),
    "cholesky": lambda: _solved(lx.Cholesky(), _positive(8), lx.positive_semidefinite_tag),
    "qr, least squares": lambda: _solved(lx.QR(), _matrix(10, 4)),
    "svd": lambda: _solved(lx.SVD(), _matrix(8, 5)),
    "triangular": lambda: _solved(
        lx.Triangular(), jnp.tril(_matrix(6, 6)) + 3 * jnp.eye(6), lx.lower_triangular_tag
    ),
    "diagonal": lambda: _solved(lx.Diagonal(), jnp.diag(_vector(6) + 4), lx.diagonal_tag),
    "conjugate gradients": lambda: _solved(
        lx.CG(1e-6, 1e-6), _positive(8), lx.positive_semidefinite_tag
    ),
    "gmres": lambda: _solved(lx.GMRES(1e-5, 1e-5), _matrix(6, 6) + 5 * jnp.eye(6)),
    "bicgstab": lambda: _solved(lx.BiCGStab(1e-3, 1e-3), _positive(6) + 0.1 * _matrix(6, 6)),
    "chosen by itself": lambda: _solved(lx.AutoLinearSolver(None), _matrix(7, 3)),
    "tridiagonal": _tridiagonal,
    "of a function": _of_function,
    "batched": _batched,
}
