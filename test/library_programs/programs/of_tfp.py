"""Distributions, bijectors, functions and samplers of TensorFlow Probability on JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

from library_programs.measuring import Made, Maker

tfd = tfp.distributions
tfb = tfp.bijectors


def _values(*sizes: int) -> jax.Array:
    return jax.random.uniform(jax.random.key(1), sizes, minval=0.1, maxval=0.9)


def _distribution(make: Callable[..., Any], *parameters: jax.Array) -> Made:
    """Samples, and their probabilities with gradients."""

    def function(key: jax.Array, *parameters: jax.Array) -> Any:
        samples = jax.lax.stop_gradient(make(*parameters).sample(6, seed=key))

        def total(*parameters: jax.Array) -> jax.Array:
            return jnp.sum(make(*parameters).log_prob(samples))

        return samples, jax.value_and_grad(total, tuple(range(len(parameters))))(*parameters)

    return function, (jax.random.PRNGKey(0), *parameters)


def _bijector(make: Callable[..., Any], x: jax.Array) -> Made:
    def function(x: jax.Array) -> Any:
        bijector = make()
        y = bijector.forward(x)
        return y, bijector.inverse(y), bijector.forward_log_det_jacobian(x, event_ndims=1)

    return function, (x,)


def _process() -> Made:
    """The regression of a Gaussian process, and the gradient of its evidence."""
    points = jnp.linspace(0.0, 1.0, 10)[:, None]

    def function(length: jax.Array, values: jax.Array) -> Any:
        def evidence(length: jax.Array) -> jax.Array:
            kernel = tfp.math.psd_kernels.MaternFiveHalves(1.0, length)
            return tfd.GaussianProcess(kernel, points, observation_noise_variance=0.1).log_prob(
                values
            )

        kernel = tfp.math.psd_kernels.ExponentiatedQuadratic(1.0, length)
        regression = tfd.GaussianProcessRegressionModel(
            kernel, points + 0.05, points, values, observation_noise_variance=0.1
        )
        return jax.value_and_grad(evidence)(length), regression.mean()

    return function, (jnp.array(0.3), jnp.sin(6 * points[:, 0]))


def _hidden_markov() -> Made:
    def function(initial: jax.Array, transition: jax.Array, seen: jax.Array) -> Any:
        model = tfd.HiddenMarkovModel(
            tfd.Categorical(logits=initial),
            tfd.Categorical(logits=transition),
            tfd.Normal(jnp.array([-1.0, 0.0, 1.0]), 0.5),
            num_steps=8,
        )
        return model.log_prob(seen), model.posterior_mode(seen)

    return function, (_values(3), _values(3, 3), _values(8))


def _kalman() -> Made:
    def function(seen: jax.Array) -> Any:
        model = tfd.LinearGaussianStateSpaceModel(
            8,
            transition_matrix=jnp.array([[1.0, 1.0], [0.0, 1.0]]),
            transition_noise=tfd.MultivariateNormalDiag(scale_diag=jnp.full(2, 0.1)),
            observation_matrix=jnp.array([[1.0, 0.0]]),
            observation_noise=tfd.MultivariateNormalDiag(scale_diag=jnp.full(1, 0.3)),
            initial_state_prior=tfd.MultivariateNormalDiag(scale_diag=jnp.ones(2)),
        )
        return model.forward_filter(seen)[1:3]

    return function, (_values(8, 1),)


def _functions() -> Made:
    def function(x: jax.Array) -> Any:
        return (
            tfp.math.lbeta(x, x + 1),
            tfp.math.bessel_ive(0.5, x),
            tfp.math.lambertw(x),
            tfp.math.erfcx(x),
            tfp.math.log_cosh(x),
            tfp.math.fill_triangular(x[:6]),
            tfp.math.owens_t(x, x + 1),
            tfp.math.bessel_kve(1.0, x),
            tfp.math.betainc(x + 1, x + 2, x),
        )

    return function, (_values(10),)


def _chain() -> Made:
    def function(key: jax.Array, start: jax.Array) -> Any:
        kernel = tfp.mcmc.HamiltonianMonteCarlo(
            lambda x: -0.5 * jnp.sum(x**2), step_size=0.1, num_leapfrog_steps=3
        )
        return tfp.mcmc.sample_chain(
            4, start, kernel=kernel, trace_fn=None, seed=key, num_burnin_steps=1
        )

    return function, (jax.random.PRNGKey(2), _values(3))


PROGRAMS: dict[str, Maker] = {
    "multivariate normal": lambda: _distribution(
        lambda m, s: tfd.MultivariateNormalTriL(m, jnp.tril(s) + jnp.eye(3)),
        _values(3),
        _values(3, 3),
    ),
    "wishart": lambda: _distribution(
        lambda s: tfd.WishartTriL(5.0, jnp.tril(s) + jnp.eye(3)), _values(3, 3)
    ),
    "negative binomial": lambda: _distribution(
        lambda n, p: tfd.NegativeBinomial(n + 2, probs=p), _values(4), _values(4)
    ),
    "inverse gamma": lambda: _distribution(tfd.InverseGamma, _values(4) + 2, _values(4)),
    "weibull": lambda: _distribution(tfd.Weibull, _values(4) + 1, _values(4)),
    "mixture": lambda: _distribution(
        lambda p, m: tfd.MixtureSameFamily(tfd.Categorical(logits=p), tfd.StudentT(4.0, m, 0.5)),
        _values(3),
        _values(3),
    ),
    "gaussian process": _process,
    "hidden markov model": _hidden_markov,
    "kalman filter": _kalman,
    "special functions": _functions,
    "hamiltonian chain": _chain,
    "softmax and cholesky bijectors": lambda: _bijector(
        lambda: tfb.Chain([tfb.SoftmaxCentered(), tfb.Scale(0.5)]), _values(5)
    ),
    "sinh-arcsinh bijector": lambda: _bijector(
        lambda: tfb.Chain([tfb.SinhArcsinh(0.1, 1.2), tfb.Softplus()]), _values(5)
    ),
}
