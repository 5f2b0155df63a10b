"""Solvers of differential equations of diffrax."""

from __future__ import annotations

from typing import Any

import diffrax as dfx
import jax
import jax.numpy as jnp

from library_programs.measuring import Made, Maker


def _pendulum(t: Any, y: jax.Array, args: Any) -> jax.Array:
    return jnp.stack([y[1], -jnp.sin(y[0]) - args * y[1]])


def _stiff(t: Any, y: jax.Array, args: Any) -> jax.Array:
    """Van der Pol's oscillator."""
    return jnp.stack([y[1], args * (1 - y[0] ** 2) * y[1] - y[0]])


_START = (1.0, 0.5)


def _solved(solver: Any, term: Any = _pendulum, factor: float = 0.2, adaptive: bool = True) -> Made:
    steps = dfx.PIDController(1e-3, 1e-5) if adaptive else dfx.ConstantStepSize()

    def function(y: jax.Array, factor: jax.Array) -> Any:
        solution = dfx.diffeqsolve(
            dfx.ODETerm(term),
            solver,
            0.0,
            2.0,
            0.05,
            y,
            factor,
            saveat=dfx.SaveAt(ts=jnp.linspace(0.0, 2.0, 5)),
            stepsize_controller=steps,
            max_steps=256,
        )
        return solution.ys, solution.stats["num_steps"]

    return function, (jnp.array(_START), jnp.array(factor))


def _differentiated(adjoint: Any) -> Made:
    def loss(y: jax.Array, factor: jax.Array) -> jax.Array:
        solution = dfx.diffeqsolve(
            dfx.ODETerm(_pendulum),
            dfx.Tsit5(),
            0.0,
            1.0,
            0.1,
            y,
            factor,
            adjoint=adjoint,
            max_steps=64,
        )
        return jnp.sum(solution.ys**2)

    return jax.value_and_grad(loss, (0, 1)), (jnp.array(_START), jnp.array(0.2))


def _stochastic() -> Made:
    def function(key: jax.Array) -> jax.Array:
        motion = dfx.VirtualBrownianTree(0.0, 1.0, 1e-2, (), key)
        terms = dfx.MultiTerm(
            dfx.ODETerm(lambda t, y, args: -y), dfx.ControlTerm(lambda t, y, args: 0.3, motion)
        )
        return dfx.diffeqsolve(terms, dfx.Heun(), 0.0, 1.0, 0.05, jnp.array(1.0)).ys

    return jax.vmap(function), (jax.random.split(jax.random.key(0), 8),)


def _interpolated() -> Made:
    ts = jnp.linspace(0.0, 1.0, 9)

    def function(ys: jax.Array, where: jax.Array) -> Any:
        coefficients = dfx.backward_hermite_coefficients(ts, ys)
        path = dfx.CubicInterpolation(ts, coefficients)
        line = dfx.LinearInterpolation(ts, ys)
        return jax.vmap(path.evaluate)(where), jax.vmap(line.derivative)(where)

    return function, (jax.random.normal(jax.random.key(0), (9, 3)), jnp.linspace(0.05, 0.95, 13))


def _until_event() -> Made:
    event = dfx.Event(lambda t, y, args, **_: y[0] < 0.1)

    def function(y: jax.Array) -> Any:
        solution = dfx.diffeqsolve(
            dfx.ODETerm(_pendulum), dfx.Tsit5(), 0.0, 5.0, 0.05, y, 0.1, event=event
        )
        return solution.ts, solution.ys

    return function, (jnp.array(_START),)


def _split() -> Made:
    def function(y: jax.Array) -> Any:
        terms = dfx.MultiTerm(
            dfx.ODETerm(lambda t, y, args: -jnp.sin(y)), dfx.ODETerm(lambda t, y, args: -5 * y)
        )
        controller = dfx.PIDController(1e-3, 1e-5)
        return dfx.diffeqsolve(
            terms, dfx.KenCarp4(), 0.0, 1.0, 0.05, y, stepsize_controller=controller
        ).ys

    return function, (jnp.array(_START),)


PROGRAMS: dict[str, Maker] = {
    "euler": lambda: _solved(dfx.Euler(), adaptive=False),
    "tsit5": lambda: _solved(dfx.Tsit5()),
    "dopri8": lambda: _solved(dfx.Dopri8()),
    "heun": lambda: _solved(dfx.Heun()),
    "kvaerno5, implicit": lambda: _solved(dfx.Kvaerno5(), _stiff, 5.0),
    "implicit euler": lambda: _solved(dfx.ImplicitEuler(), _stiff, 5.0),
    "kencarp4 of a split term": _split,
    "gradient, checkpoints": lambda: _differentiated(dfx.RecursiveCheckpointAdjoint()),
    "gradient, backwards": lambda: _differentiated(dfx.BacksolveAdjoint()),
    "gradient, direct": lambda: _differentiated(dfx.DirectAdjoint()),
    "brownian motion": _stochastic,
    "interpolation": _interpolated,
    "event": _until_event,
}
