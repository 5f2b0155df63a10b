"""Distributions and bijectors of distrax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import distrax
import jax
import jax.numpy as jnp

from library_programs.measuring import Made, Maker


def _values(*sizes: int) -> jax.Array:
    return jax.random.uniform(jax.random.key(1), sizes, minval=0.1, maxval=0.9)


def _distribution(make: Callable[..., Any], *parameters: jax.Array) -> Made:
    """Samples, their probabilities with gradient, and the moments."""

    def function(key: jax.Array, *parameters: jax.Array) -> Any:
        def probability(*parameters: jax.Array) -> Any:
            samples, logs = make(*parameters).sample_and_log_prob(seed=key, sample_shape=(6,))
            samples = jax.lax.stop_gradient(samples)
            return jnp.sum(make(*parameters).log_prob(samples)), (samples, logs)

        arguments = tuple(range(len(parameters)))
        return jax.value_and_grad(probability, arguments, has_aux=True)(*parameters)

    return function, (jax.random.key(0), *parameters)


def _bijector(make: Callable[..., Any], x: jax.Array, *parameters: jax.Array) -> Made:
    def function(x: jax.Array, *parameters: jax.Array) -> Any:
        bijector = make(*parameters)
        y, determinant = bijector.forward_and_log_det(x)
        return y, determinant, bijector.inverse(y)

    return function, (x, *parameters)


def _flow(*parameters: jax.Array) -> Any:
    base = distrax.MultivariateNormalDiag(jnp.zeros(3), jnp.ones(3))
    scaled = distrax.Block(distrax.ScalarAffine(parameters[0], parameters[1]), 1)
    return distrax.Transformed(base, distrax.Chain([distrax.Block(distrax.Tanh(), 1), scaled]))


PROGRAMS: dict[str, Maker] = {
    "normal": lambda: _distribution(distrax.Normal, _values(4), _values(4)),
    "categorical": lambda: _distribution(distrax.Categorical, _values(3, 5)),
    "gamma": lambda: _distribution(distrax.Gamma, _values(4) + 1, _values(4)),
    "beta": lambda: _distribution(distrax.Beta, _values(4) + 1, _values(4) + 1),
    "dirichlet": lambda: _distribution(distrax.Dirichlet, _values(3, 4) + 1),
    "mixture": lambda: _distribution(
        lambda logits, means: distrax.MixtureSameFamily(
            distrax.Categorical(logits), distrax.Normal(means, 0.3)
        ),
        _values(4),
        _values(4),
    ),
    "multivariate normal": lambda: _distribution(
        lambda mean, low: distrax.MultivariateNormalTri(mean, jnp.tril(low) + jnp.eye(3)),
        _values(3),
        _values(3, 3),
    ),
    "laplace": lambda: _distribution(distrax.Laplace, _values(4), _values(4)),
    "gumbel": lambda: _distribution(distrax.Gumbel, _values(4), _values(4)),
    "von mises": lambda: _distribution(distrax.VonMises, _values(4), _values(4) + 1),
    "flow": lambda: _distribution(_flow, _values(3), _values(3)),
    "triangular bijector": lambda: _bijector(
        lambda m, b: distrax.LowerUpperTriangularAffine(m + jnp.eye(4), b),
        _values(4),
        _values(4, 4),
        _values(4),
    ),
    "rational quadratic spline": lambda: _bijector(
        lambda p: distrax.RationalQuadraticSpline(p, 0.0, 1.0), _values(5), _values(5, 13)
    ),
}
