"""
The sample programs of the tools, made from JAX: `make programs` writes them into `tools/samples`.

They are what `xla-opt --example NAME` reads and `xla-compare --examples` measures: 16 kernels, 12
models or parts of them, and 12 programs whose shapes fit no tile. Each takes some milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax

from ..command_line import SAMPLES

F32, BF16, S8, S32 = jnp.float32, jnp.bfloat16, jnp.int8, jnp.int32


def _norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def _dense(x: Any, weights: Any) -> Any:
    """A product that is as large as `x` where the weights are normal numbers."""
    return x @ weights / weights.shape[-2] ** 0.5


def _attention(query: Any, key: Any, value: Any) -> Any:
    """One head, causal: no position sees a later one."""
    scores = query @ key.T / query.shape[1] ** 0.5
    seen = jnp.tril(jnp.ones(scores.shape, bool))
    return jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)) @ value


def _heads(x: Any, weights: Any, count: int = 4) -> Any:
    """Attention of several heads on [positions, model]."""
    query, key, value = jnp.split(_dense(x, weights), 3, axis=1)
    parts = (part.reshape(len(x), count, -1).swapaxes(0, 1) for part in (query, key, value))
    return jax.vmap(_attention)(*parts).swapaxes(0, 1).reshape(x.shape)


def _transformer(
    tokens: Any, words: Any, places: Any, attention: Any, mix: Any, up: Any, down: Any
) -> Any:
    x = words[tokens] + places
    x = x + _dense(_heads(_norm(x), attention), mix)
    return x + _dense(jax.nn.gelu(_dense(_norm(x), up)), down)


def _mlp(x: Any, first: Any, bias: Any, second: Any) -> Any:
    return jax.nn.softmax(_dense(jax.nn.relu(_dense(x, first) + bias), second))


def _mlp_step(x: Any, labels: Any, *weights: Any) -> Any:
    def loss(weights: Any) -> Any:
        chosen = jnp.take_along_axis(_mlp(x, *weights), labels[:, None], 1)
        return -jnp.log(chosen + 1e-6).mean()

    error, gradients = jax.value_and_grad(loss)(weights)
    return error, [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]


def _lstm(inputs: Any, weights: Any, bias: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        cell, hidden = carry
        gates = _dense(jnp.concatenate([x, hidden], 1), weights) + bias
        enter, forget, new, leave = jnp.split(gates, 4, axis=1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(cell)
        return (cell, hidden), hidden

    start = jnp.zeros((inputs.shape[1], weights.shape[1] // 4), inputs.dtype)
    return lax.scan(step, (start, start), inputs)[1]


def _convolution(x: Any, kernel: Any, stride: int = 1, groups: int = 1) -> Any:
    layouts = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x,
        kernel,
        (stride, stride),
        "SAME",
        dimension_numbers=layouts,
        feature_group_count=groups,
        preferred_element_type=S32 if x.dtype == S8 else None,
    )


def _max_pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _convolutional(x: Any, first: Any, second: Any, last: Any) -> Any:
    x = _max_pool(jax.nn.relu(_convolution(x, first)))
    x = _max_pool(jax.nn.relu(_convolution(x, second)))
    return x.mean((1, 2)) @ last


def _adam(weights: Any, gradient: Any, mean: Any, square: Any) -> Any:
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient * gradient
    return weights - 1e-3 * mean / (jnp.sqrt(jnp.abs(square)) + 1e-8), mean, square


def _k_means(points: Any, centres: Any) -> Any:
    distances = ((points[:, None] - centres) ** 2).sum(-1)
    chosen = jax.nn.one_hot(distances.argmin(1), len(centres))
    return chosen.T @ points / (chosen.sum(0)[:, None] + 1e-6)


def _power_iteration(matrix: Any, vector: Any) -> Any:
    def step(_: int, x: Any) -> Any:
        x = matrix @ x
        return x / jnp.sqrt((x * x).sum())

    return lax.fori_loop(0, 20, step, vector)


def _runge_kutta(state: Any) -> Any:
    def slope(x: Any) -> Any:
        return jnp.stack([x[1], -jnp.sin(x[0]) - 0.1 * x[1]])

    def step(_: int, x: Any) -> Any:
        a = slope(x)
        b = slope(x + 0.005 * a)
        c = slope(x + 0.005 * b)
        d = slope(x + 0.01 * c)
        return x + 0.01 / 6 * (a + 2 * b + 2 * c + d)

    return lax.fori_loop(0, 100, step, state)


def _experts(x: Any, gate: Any, experts: Any) -> Any:
    """Each row by the expert that its gate chooses."""
    chosen = jax.nn.one_hot((x @ gate).argmax(1), len(experts))
    return jnp.einsum("be,bi,eio->bo", chosen, x, jnp.tanh(experts))


def _matmul(a: Any, b: Any) -> Any:
    wide = {BF16: F32, S8: S32}.get(a.dtype.type)
    return lax.dot(a, b, preferred_element_type=wide)


Program = tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]


def _f32(*shapes: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    return tuple((shape, F32) for shape in shapes)


KERNELS: dict[str, Program] = {
    "add": (jnp.add, _f32((512, 512), (512, 512))),
    "gelu": (jax.nn.gelu, _f32((512, 512))),
    "softmax": (jax.nn.softmax, _f32((64, 1024))),
    "layer_norm": (_norm, _f32((256, 768))),
    "matmul": (_matmul, _f32((256, 256), (256, 256))),
    "matmul_bf16": (_matmul, (((256, 256), BF16), ((256, 256), BF16))),
    "matmul_s8": (_matmul, (((256, 256), S8), ((256, 256), S8))),
    "matrix_vector": (jnp.matmul, _f32((1024, 1024), (1024,))),
    "transpose": (jnp.transpose, _f32((512, 1024))),
    "sum_of_columns": (lambda x: x.sum(0), _f32((1024, 512))),
    "argmax": (lambda x: x.argmax(1), _f32((256, 1024))),
    "cumulative_sum": (lambda x: jnp.cumsum(x, 1), _f32((64, 1024))),
    "sort": (lambda x: jnp.sort(x, 1), _f32((32, 1024))),
    "embedding": (lambda table, rows: table[rows], (((1000, 256), F32), ((512,), S32))),
    "convolution": (_convolution, _f32((2, 28, 28, 32), (3, 3, 32, 32))),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), _f32((32, 1024))),
}
MODELS: dict[str, Program] = {
    "attention": (_attention, _f32((128, 64), (128, 64), (128, 64))),
    "attention_gradient": (
        jax.grad(lambda *args: _attention(*args).sum(), argnums=(0, 1, 2)),
        _f32((64, 32), (64, 32), (64, 32)),
    ),
    "transformer": (
        _transformer,
        (
            ((128,), S32),
            *_f32((512, 128), (128, 128), (128, 384), (128, 128), (128, 512), (512, 128)),
        ),
    ),
    "mlp": (_mlp, _f32((32, 784), (784, 256), (256,), (256, 10))),
    "mlp_training_step": (
        _mlp_step,
        (((32, 784), F32), ((32,), S32), *_f32((784, 128), (128,), (128, 10))),
    ),
    "lstm": (_lstm, _f32((20, 8, 32), (96, 256), (256,))),
    "convolutional_network": (
        _convolutional,
        _f32((4, 28, 28, 1), (3, 3, 1, 16), (3, 3, 16, 32), (32, 10)),
    ),
    "experts": (_experts, _f32((64, 64), (64, 4), (4, 64, 64))),
    "adam": (_adam, _f32(*[(256, 256)] * 4)),
    "k_means": (_k_means, _f32((512, 16), (8, 16))),
    "power_iteration": (_power_iteration, _f32((200, 200), (200,))),
    "runge_kutta": (_runge_kutta, _f32((2, 64))),
}
ODD_SHAPES: dict[str, Program] = {
    "add_odd": (lambda x, y: x + y[:, None], _f32((7, 13, 1001), (7, 1001))),
    "exp_of_prime": (jnp.exp, _f32((100003,))),
    "matmul_odd": (_matmul, _f32((125, 333), (333, 127))),
    "matmul_narrow": (_matmul, _f32((1000, 3), (3, 1000))),
    "matmul_batched": (jnp.matmul, _f32((37, 9, 17), (37, 17, 5))),
    "sum_of_threes": (lambda x: x.sum(1), _f32((30001, 3))),
    "softmax_of_primes": (jax.nn.softmax, _f32((31, 997))),
    "transpose_odd": (lambda x: x.transpose(2, 0, 1), _f32((33, 65, 127))),
    "convolution_odd": (lambda x, k: _convolution(x, k, 2), _f32((1, 27, 31, 3), (5, 5, 3, 7))),
    "depthwise_odd": (
        lambda x, k: _convolution(x, k, groups=13),
        _f32((1, 29, 30, 13), (3, 3, 1, 13)),
    ),
    "pad_and_concatenate": (
        lambda x, y: jnp.pad(jnp.concatenate([x[::2, 1:], y], 0), ((1, 2), (0, 3))),
        _f32((101, 203), (17, 202)),
    ),
    "scalars": (lambda x, y: jnp.where(x > y, x * y, jnp.sqrt(jnp.abs(y))), _f32((), ())),
}


def main() -> None:
    """Writes the texts that JAX prints."""
    for name, (function, arguments) in (KERNELS | MODELS | ODD_SHAPES).items():
        taken = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in arguments]
        named = jax.jit(function).trace(*taken).lower()
        text = named.as_text().replace(named.as_text().split()[1], f"@{name}", 1)
        Path(SAMPLES, f"{name}.mlir").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
