"""
A network of flax that is trained on our device beside XLA's: `make demo-training`.

The training knows nothing of devices. When half of it is done, a pass of the user's is switched on
in the running program on our device: what if the units for matrix products had 8 bits? Exit code 1
says that the losses differ where they should not, or do not where they should.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Any

os.environ["JAX_PLATFORMS"] = "xdsl,cpu"

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from lowerings.pjrt.user_passes import extra_passes
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.conversion import ReducePrecisionOp

from ..command_line import guarded

STEPS, EVERY, MIDDLE, POINTS = 400, 20, 200, 512
TOLERANCE = 1e-3
"""How far losses may be apart while both compute the same, relative."""


class LowPrecisionProducts(ModulePass):
    """Matrix products take numbers of 8 bits, those of the type f8E4M3."""

    name = "low-precision-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bits = {"exponent_bits": IntegerAttr(4, i64), "mantissa_bits": IntegerAttr(3, i64)}
        for product in [each for each in op.walk() if isinstance(each, DotOp)]:
            for number, operand in enumerate(product.operands):
                rounded = ReducePrecisionOp.create(
                    operands=[operand], result_types=[operand.type], properties=bits
                )
                Rewriter.insert_op(rounded, InsertPoint.before(product))
                product.operands[number] = rounded.results[0]


class Network(nn.Module):
    """Two hidden layers."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        for width in (64, 64):
            x = nn.tanh(nn.Dense(width)(x))
        return nn.Dense(2)(x)


def spirals(key: Any) -> tuple[Any, Any]:
    """Points, and on which of two spirals each is."""
    where, noise = jax.random.split(key)
    angle = 3 * jnp.pi * jnp.sqrt(jax.random.uniform(where, (POINTS,)))
    label = jnp.arange(POINTS) % 2
    turned = angle + jnp.pi * label
    points = angle[:, None] * jnp.stack([jnp.cos(turned), jnp.sin(turned)], 1) / 4
    return points + 0.05 * jax.random.normal(noise, points.shape), label


def losses(platform: str) -> dict[int, float]:
    """The loss at each step that is shown, by training on a device."""
    network, optimizer = Network(), optax.adam(5e-3)
    with jax.default_device(jax.devices(platform)[0]), ExitStack() as passes:
        points, labels = spirals(jax.random.key(0))
        parameters: Any = network.init(jax.random.key(1), points)
        state = optimizer.init(parameters)

        @jax.jit
        def step(parameters: Any, state: Any) -> Any:
            def loss(parameters: Any) -> Any:
                logits: Any = network.apply(parameters, points)
                return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

            value, gradient = jax.value_and_grad(loss)(parameters)
            updates, state = optimizer.update(gradient, state)
            return optax.apply_updates(parameters, updates), state, value

        found: dict[int, float] = {}
        for number in range(STEPS + 1):
            parameters, state, value = step(parameters, state)
            if number % EVERY == 0:
                found[number] = float(value)
            if number == MIDDLE:
                passes.enter_context(extra_passes(LowPrecisionProducts()))
        return found


def compare() -> int:
    """Trains on both devices and prints the losses; the exit code."""
    theirs, ours = losses("cpu"), losses("xdsl")
    apart = {step: ours[step] / theirs[step] - 1 for step in theirs}
    print("step      XLA     xdsl     apart")
    for step, each in apart.items():
        print(f"{step:4} {theirs[step]:8.4f} {ours[step]:8.4f} {each:+9.1e}")
        if step == MIDDLE:
            print(f"From here on our device compiles with the pass {LowPrecisionProducts.name}.")
    before = max(abs(each) for step, each in apart.items() if step <= MIDDLE)
    after = max(abs(each) for step, each in apart.items() if step > MIDDLE)
    print(f"Apart by at most {before:.1e} before, {after:.1e} behind.")
    return int(before > TOLERANCE or after <= TOLERANCE)


if __name__ == "__main__":
    sys.exit(guarded("demo-training", compare))
