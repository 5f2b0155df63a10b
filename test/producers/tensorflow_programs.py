"""
Programs of TensorFlow: `python tensorflow_programs.py FOLDER` writes what `tf.function` compiles
them to, StableHLO and HLO text, and their arguments and results.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

RANDOM = np.random.default_rng(0)


def floats(*sizes: int) -> Any:
    return RANDOM.uniform(-1, 1, sizes).astype(np.float32)


def integers(limit: int, *sizes: int) -> Any:
    return RANDOM.integers(0, limit, sizes, dtype=np.int32)


def positive_definite(size: int) -> Any:
    matrix = floats(size, size)
    return matrix @ matrix.T + size * np.eye(size, dtype=np.float32)


def layer(x: Any, weights: Any, bias: Any) -> Any:
    return tf.nn.relu(tf.matmul(x, weights) + bias)


def gradients(x: Any, weights: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = tf.reduce_mean(tf.square(tf.nn.gelu(x @ weights)))
    return loss, tape.gradient(loss, weights)


def convolution_gradient(x: Any, kernel: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        loss = tf.reduce_sum(tf.nn.elu(tf.nn.conv2d(x, kernel, 1, "SAME")))
    return tape.gradient(loss, kernel)


def pooling_gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(x, 2, 2, "VALID")))
    return tape.gradient(loss, x)


def attention(q: Any, k: Any, v: Any) -> Any:
    weights = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", q, k) / 2.0)
    return tf.einsum("bhqk,bkhd->bqhd", weights, v)


def normalized(x: Any, scale: Any, offset: Any) -> Any:
    found, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=True)
    return found, mean, variance


def layer_norm(x: Any) -> Any:
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


def recurrent(x: Any, weights: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        return i + 1, tf.tanh(state @ weights + x[:, i])

    return tf.while_loop(lambda i, _: i < 5, step, [0, tf.zeros_like(x[:, 0])])[1]


def listed(x: Any) -> Any:
    array = tf.TensorArray(tf.float32, 4, element_shape=[3])
    for i in tf.range(4):
        array = array.write(i, tf.sin(x[i]))
    return array.stack()


def chosen(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: x - 1.0)


def switched(i: Any, x: Any) -> Any:
    return tf.switch_case(i, [lambda: x, lambda: -x, lambda: x * x])


def special(x: Any) -> Any:
    y = tf.abs(x) + 0.5
    return tf.math.erf(x), tf.math.lgamma(y), tf.math.digamma(y), tf.math.erfinv(x * 0.9)


def bits(x: Any, y: Any) -> Any:
    both = tf.bitwise.bitwise_xor(x, y)
    return tf.bitwise.left_shift(both, 3), tf.bitwise.right_shift(x, 1), tf.bitwise.invert(y)


PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "layer": (layer, [floats(4, 8), floats(8, 5), floats(5)]),
    "gradients": (gradients, [floats(4, 8), floats(8, 5)]),
    "convolution": (
        lambda x, k: tf.nn.conv2d(x, k, [1, 2, 2, 1], "SAME"),
        [floats(2, 9, 9, 3), floats(3, 3, 3, 4)],
    ),
    "convolution_gradient": (convolution_gradient, [floats(2, 6, 6, 3), floats(3, 3, 3, 4)]),
    "depthwise": (
        lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], "VALID"),
        [floats(1, 6, 6, 3), floats(3, 3, 3, 2)],
    ),
    "transposed": (
        lambda x, k: tf.nn.conv2d_transpose(x, k, np.array([1, 8, 8, 2]), 2, "SAME"),
        [floats(1, 4, 4, 3), floats(3, 3, 2, 3)],
    ),
    "max_pool": (lambda x: tf.nn.max_pool2d(x, 3, 2, "SAME"), [floats(1, 8, 8, 2)]),
    "average_pool": (lambda x: tf.nn.avg_pool2d(x, 3, 2, "SAME"), [floats(1, 8, 8, 2)]),
    "pooling_gradient": (pooling_gradient, [floats(1, 4, 4, 2)]),
    "attention": (attention, [floats(2, 5, 2, 4), floats(2, 6, 2, 4), floats(2, 6, 2, 4)]),
    "batch_norm": (normalized, [floats(2, 4, 4, 3), floats(3), floats(3)]),
    "layer_norm": (layer_norm, [floats(4, 16)]),
    "softmax_loss": (
        lambda labels, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x),
        [integers(5, 4), floats(4, 5)],
    ),
    "sorted": (lambda x: (tf.sort(x), tf.argsort(x, direction="DESCENDING")), [floats(3, 9)]),
    "top_k": (lambda x: tf.math.top_k(x, 3), [floats(4, 10)]),
    "largest": (lambda x: (tf.argmax(x, 1), tf.argmin(x, 0)), [floats(5, 6)]),
    "sums": (lambda x: (tf.cumsum(x, 1), tf.math.cumprod(x, 0, reverse=True)), [floats(4, 6)]),
    "gathered": (
        lambda x, i: (tf.gather(x, i), tf.gather_nd(x, i)),
        [floats(6, 4), integers(4, 3, 2)],
    ),
    "scattered": (
        lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u),
        [floats(6, 4), integers(6, 5, 1), floats(5, 4)],
    ),
    "segments": (
        lambda x, i: tf.math.unsorted_segment_sum(x, i, 4),
        [floats(8, 3), integers(4, 8)],
    ),
    "recurrent": (recurrent, [floats(2, 5, 4), floats(4, 4)]),
    "listed": (listed, [floats(4, 3)]),
    "chosen": (chosen, [floats(4, 3)]),
    "switched": (switched, [np.int32(2), floats(3)]),
    "special": (special, [floats(4, 5)]),
    "bits": (bits, [integers(1000, 7), integers(1000, 7)]),
    "spectrum": (lambda x: tf.signal.irfft(tf.signal.rfft(x) * 2.0), [floats(3, 16)]),
    "cholesky": (
        lambda a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b),
        [positive_definite(5), floats(5, 2)],
    ),
    "orthogonal": (lambda x: tf.abs(tf.linalg.qr(x).r), [floats(5, 3)]),
    "eigenvalues": (lambda x: tf.linalg.eigvalsh(x), [positive_definite(4)]),
    "resized": (lambda x: tf.image.resize(x, [7, 5]), [floats(1, 4, 4, 2)]),
    "random": (
        lambda seed: tf.random.stateless_uniform([3, 4], seed),
        [integers(100, 2)],
    ),
    "padded": (
        lambda x: tf.pad(tf.roll(x, 1, 1)[:, ::-2], [[1, 1], [0, 2]], "REFLECT"),
        [floats(4, 7)],
    ),
    "half": (
        lambda x, y: tf.cast(tf.cast(x, tf.bfloat16) @ tf.cast(y, tf.bfloat16), tf.float32),
        [floats(4, 6), floats(6, 3)],
    ),
}


def main(folder: Path) -> None:
    """Writes each program, in both forms, with its arguments and results."""
    for name, (function, arguments) in PROGRAMS.items():
        given = [tf.constant(each) for each in arguments]
        program = tf.function(function, jit_compile=True)
        text_of = program.experimental_get_compiler_ir(*given)
        (folder / f"{name}.mlir").write_text(text_of(stage="stablehlo"))
        (folder / f"{name}.hlo").write_text(text_of(stage="hlo"))
        results = [each.numpy() for each in tf.nest.flatten(program(*given))]
        entries = {f"argument{i}": each for i, each in enumerate(arguments)}
        entries |= {f"result{i}": each for i, each in enumerate(results)}
        np.savez(folder / f"{name}.npz", **entries)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
