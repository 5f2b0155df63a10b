"""Roots, minima and least squares of optimistix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optimistix as optx

from library_programs.measuring import Made, Maker


def _system(y: jax.Array, args: jax.Array) -> jax.Array:
    return jnp.stack([y[0] + jnp.tanh(y[1]) - args, y[1] - 0.5 * jnp.sin(y[0])])


def _valley(y: jax.Array, args: jax.Array) -> jax.Array:
    """Rosenbrock's function."""
    return jnp.sum(args * (y[1:] - y[:-1] ** 2) ** 2 + (1 - y[:-1]) ** 2)


def _residuals(y: jax.Array, args: jax.Array) -> jax.Array:
    x = jnp.linspace(0.0, 1.0, 12)
    return y[0] * jnp.exp(-y[1] * x) - args * jnp.exp(-1.5 * x)


def _found(
    search: Callable[..., Any], solver: Any, of: Callable[..., Any], start: Any, argument: float
) -> Made:
    """What is found, and how it changes with the argument."""

    def function(start: jax.Array, argument: jax.Array) -> Any:
        def value(argument: jax.Array) -> Any:
            found = search(of, solver, start, argument, max_steps=64, throw=False)
            return jnp.sum(found.value), found.value

        return jax.value_and_grad(value, has_aux=True)(argument)

    return function, (jnp.array(start), jnp.array(argument))


def _root(solver: Any) -> Made:
    return _found(optx.root_find, solver, _system, [0.3, 0.2], 0.7)


def _minimum(solver: Any) -> Made:
    return _found(optx.minimise, solver, _valley, [0.8, 0.9], 2.0)


def _least(solver: Any) -> Made:
    return _found(optx.least_squares, solver, _residuals, [1.5, 1.0], 2.0)


PROGRAMS: dict[str, Maker] = {
    "newton": lambda: _root(optx.Newton(1e-5, 1e-5)),
    "chord": lambda: _root(optx.Chord(1e-4, 1e-4)),
    "dogleg root": lambda: _root(optx.Dogleg(1e-5, 1e-5)),
    "bisection": lambda: _found(
        lambda f, s, y, a, **k: optx.root_find(
            f, s, y, a, options={"lower": 0.0, "upper": 2.0}, **k
        ),
        optx.Bisection(1e-5, 1e-5),
        lambda y, args: y**3 - args,
        0.5,
        1.3,
    ),
    "bfgs": lambda: _minimum(optx.BFGS(1e-4, 1e-4)),
    "lbfgs": lambda: _minimum(optx.LBFGS(1e-4, 1e-4)),
    "nonlinear conjugate gradients": lambda: _minimum(optx.NonlinearCG(1e-3, 1e-3)),
    "gradient descent": lambda: _minimum(optx.GradientDescent(0.05, 1e-3, 1e-3)),
    "nelder-mead": lambda: _minimum(optx.NelderMead(1e-3, 1e-3)),
    "gauss-newton": lambda: _least(optx.GaussNewton(1e-5, 1e-5)),
    "levenberg-marquardt": lambda: _least(optx.LevenbergMarquardt(1e-5, 1e-5)),
    "dogleg": lambda: _least(optx.Dogleg(1e-5, 1e-5)),
    "fixed point": lambda: _found(
        optx.fixed_point,
        optx.FixedPointIteration(1e-5, 1e-5),
        lambda y, args: jnp.cos(args * y),
        [0.4, 0.6],
        0.8,
    ),
}
