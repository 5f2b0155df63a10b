"""Models, samplers and variational inference of numpyro."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import HMC, MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoMultivariateNormal, AutoNormal
from numpyro.infer.util import initialize_model, log_density

from library_programs.measuring import Made, Maker


def _data() -> tuple[jax.Array, jax.Array]:
    x = jax.random.normal(jax.random.key(1), (20, 3))
    return x, x @ jnp.array([0.5, -1.0, 2.0]) + 0.1 * jax.random.normal(jax.random.key(2), (20,))


def _regression(x: jax.Array, y: Any = None) -> None:
    weights = numpyro.sample("weights", dist.Normal(jnp.zeros(3), 1.0).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    numpyro.sample("y", dist.Normal(x @ weights, noise + 0.1), obs=y)


def _schools(sigma: jax.Array, y: Any = None) -> None:
    """Eight schools, each with an effect of its own."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    with numpyro.plate("schools", len(sigma)):
        effect = numpyro.sample("effect", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(mu + tau * effect, sigma), obs=y)


def _sampled(kernel: Any, steps: int = 5) -> Made:
    """A few steps of a chain from a given start."""
    x, y = _data()
    information = initialize_model(jax.random.PRNGKey(0), _regression, model_args=(x, y))
    sampler = kernel(potential_fn=information.potential_fn)
    state = sampler.init(jax.random.PRNGKey(3), 10, information.param_info, (), {})

    def function(state: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            state = sampler.sample(state, (), {})
            return state, state.z

        return jax.lax.scan(step, state, None, steps)[1]

    return function, (state,)


def _density(model: Any, arguments: tuple[Any, ...], parameters: dict[str, jax.Array]) -> Made:
    def function(parameters: Any, *arguments: Any) -> Any:
        return jax.value_and_grad(lambda p: log_density(model, arguments, {}, p)[0])(parameters)

    return function, (parameters, *arguments)


def _variational(guide: Any, steps: int = 5) -> Made:
    x, y = _data()
    svi = SVI(_regression, guide(_regression), numpyro.optim.Adam(1e-2), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(0), x, y)

    def function(state: Any, x: jax.Array, y: jax.Array) -> Any:
        def step(state: Any, _: Any) -> Any:
            return svi.update(state, x, y)

        state, losses = jax.lax.scan(step, state, None, steps)
        return losses, svi.get_params(state)

    return function, (state, x, y)


def _predicted() -> Made:
    x, _ = _data()
    samples = {
        "weights": jax.random.normal(jax.random.key(4), (7, 3)),
        "noise": jnp.full(7, 0.2),
    }

    def function(key: jax.Array, samples: Any, x: jax.Array) -> Any:
        return Predictive(_regression, samples)(key, x)

    return function, (jax.random.PRNGKey(5), samples, x)


def _chain() -> Made:
    def function(key: jax.Array, x: jax.Array, y: jax.Array) -> Any:
        sampler = MCMC(
            HMC(_regression, step_size=0.01, trajectory_length=0.03, adapt_step_size=False),
            num_warmup=2,
            num_samples=3,
            progress_bar=False,
            jit_model_args=True,
        )
        sampler.run(key, x, y)
        return sampler.get_samples()

    return function, (jax.random.PRNGKey(6), *_data())


def _probabilities(family: Any, *parameters: float, integers: bool = False) -> Made:
    """Samples with gradients of their probabilities."""

    def function(key: jax.Array, *parameters: jax.Array) -> Any:
        samples = jax.lax.stop_gradient(family(*parameters).sample(key, (16,)))

        def total(*parameters: jax.Array) -> jax.Array:
            return jnp.sum(family(*parameters).log_prob(samples))

        return samples, jax.value_and_grad(total, tuple(range(len(parameters))))(*parameters)

    return function, (jax.random.PRNGKey(7), *map(jnp.array, parameters))


PROGRAMS: dict[str, Maker] = {
    "density of a regression": lambda: _density(
        _regression, _data(), {"weights": jnp.array([0.1, 0.2, 0.3]), "noise": jnp.array(0.4)}
    ),
    "density of eight schools": lambda: _density(
        _schools,
        (jnp.linspace(9.0, 18.0, 8), jnp.linspace(-3.0, 28.0, 8)),
        {"mu": jnp.array(4.0), "tau": jnp.array(2.0), "effect": jnp.linspace(-1.0, 1.0, 8)},
    ),
    "hamiltonian steps": lambda: _sampled(
        lambda **k: HMC(step_size=0.01, trajectory_length=0.05, adapt_step_size=False, **k)
    ),
    "no u-turns": lambda: _sampled(
        lambda **k: NUTS(step_size=0.02, adapt_step_size=False, max_tree_depth=4, **k), 3
    ),
    "normal guide": lambda: _variational(AutoNormal),
    "multivariate guide": lambda: _variational(AutoMultivariateNormal),
    "predictions": _predicted,
    "a short chain": _chain,
    "student's t": lambda: _probabilities(dist.StudentT, 4.0, 0.3, 1.2),
    "gamma and poisson": lambda: _probabilities(dist.GammaPoisson, 2.0, 0.7),
    "beta": lambda: _probabilities(dist.Beta, 2.0, 3.0),
    "binomial": lambda: _probabilities(lambda p: dist.Binomial(9, p), 0.3),
    "truncated normal": lambda: _probabilities(
        lambda mean, scale: dist.TruncatedNormal(mean, scale, low=-0.5, high=1.5), 0.2, 0.9
    ),
}
