"""Samplers of blackjax."""

from __future__ import annotations

from typing import Any

import blackjax
import jax
import jax.numpy as jnp

from library_programs.measuring import Made, Maker


def _density(x: jax.Array) -> jax.Array:
    """A banana."""
    return -0.5 * (x[0] ** 2 + (x[1] - 0.5 * x[0] ** 2) ** 2 + jnp.sum(x[2:] ** 2))


def _start() -> jax.Array:
    return jnp.array([0.3, -0.2, 0.5])


def _chain(sampler: Any, steps: int = 6, start: Any = None) -> Made:
    state = sampler.init(_start()) if start is None else start

    def function(key: jax.Array, state: Any) -> Any:
        def step(state: Any, key: jax.Array) -> Any:
            state, _ = sampler.step(key, state)
            return state, state.position

        return jax.lax.scan(step, state, jax.random.split(key, steps))[1]

    return function, (jax.random.key(0), state)


def _adapted() -> Made:
    def function(key: jax.Array) -> Any:
        adaptation = blackjax.window_adaptation(blackjax.hmc, _density, num_integration_steps=3)
        (state, parameters), _ = adaptation.run(key, _start(), 12)
        return state.position, parameters

    return function, (jax.random.key(1),)


def _tempered() -> Made:
    def function(key: jax.Array, particles: jax.Array) -> Any:
        sampler = blackjax.adaptive_tempered_smc(
            lambda x: -0.5 * jnp.sum(x**2),
            _density,
            blackjax.hmc.build_kernel(),
            blackjax.hmc.init,
            blackjax.smc.extend_params(
                {
                    "step_size": 0.1,
                    "inverse_mass_matrix": jnp.ones(3),
                    "num_integration_steps": 3,
                }
            ),
            blackjax.smc.resampling.systematic,
            0.5,
            num_mcmc_steps=1,
        )
        state, _ = sampler.step(key, sampler.init(particles))
        return state.particles, state.weights

    return function, (jax.random.key(2), jax.random.normal(jax.random.key(3), (10, 3)))


def _pathfound() -> Made:
    def function(key: jax.Array, x: jax.Array) -> Any:
        state, _ = blackjax.vi.pathfinder.approximate(key, _density, x, num_samples=10, maxiter=6)
        return state.position

    return function, (jax.random.key(4), _start())


def _elliptical() -> Made:
    sampler = blackjax.elliptical_slice(_density, mean=jnp.zeros(3), cov=jnp.eye(3))
    return _chain(sampler)


_INVERSE = (1.0, 0.8, 1.2)


def _dynamic() -> Made:
    sampler = blackjax.dynamic_hmc(_density, 0.1, jnp.array(_INVERSE))
    return _chain(sampler, start=sampler.init(_start(), jax.random.key(5)))


def _generalised() -> Made:
    sampler = blackjax.ghmc(_density, 0.1, jnp.array(_INVERSE), 0.9, 0.1)
    return _chain(sampler, start=sampler.init(_start(), jax.random.key(6)))


PROGRAMS: dict[str, Maker] = {
    "hmc": lambda: _chain(blackjax.hmc(_density, 0.1, jnp.array(_INVERSE), 4)),
    "nuts": lambda: _chain(
        blackjax.nuts(_density, 0.1, jnp.array(_INVERSE), max_num_doublings=3), 4
    ),
    "mala": lambda: _chain(blackjax.mala(_density, 0.1)),
    "random walk": lambda: _chain(
        blackjax.additive_step_random_walk(
            _density, blackjax.mcmc.random_walk.normal(jnp.full(3, 0.3))
        )
    ),
    "dynamic hmc": _dynamic,
    "barker": lambda: _chain(blackjax.barker_proposal(_density, 0.1)),
    "ghmc": _generalised,
    "elliptical slice": _elliptical,
    "window adaptation": _adapted,
    "tempered particles": _tempered,
    "pathfinder": _pathfound,
}
