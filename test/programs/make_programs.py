"""
Makes the test programs of this folder from JAX: `make programs`.

Each program NAME becomes

- `NAME.hlo`: HLO text as `jax.jit(f).lower(*arguments)` prints it,
- `NAME.mlir`: the same as StableHLO,
- `NAME_optimized.hlo`: HLO text after the optimisation of XLA CPU,
- `NAME.inputs.npz`: the arguments in order, `0`, `1`, ..., from a seeded generator,
- `NAME.outputs.npz`: the results in order, computed by XLA CPU,

and `manifest.json` records the versions and seed that made them. Numbers are drawn with numpy, so
that they depend on numpy's generator only.
"""

import itertools
import json
import os
import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent
SEED = 20261120

Array = NDArray[Any]


@dataclass(frozen=True)
class Program:
    """A function of arrays for JAX, with the maker of its arguments."""

    name: str
    summary: str
    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator], list[Array]]


def weights(random: np.random.Generator, *shape: int) -> Array:
    """Normal f32 numbers, scaled so that a matrix product with them keeps the variance."""
    scale = 1.0 / np.sqrt(shape[0])
    return (random.standard_normal(shape) * scale).astype(np.float32)


def near(random: np.random.Generator, center: float, *shape: int) -> Array:
    """f32 numbers within a few tenths of `center`: scales and biases after some training."""
    return (center + 0.1 * random.standard_normal(shape)).astype(np.float32)


# ---- An MLP classifier: images to class probabilities


MLP_BATCH, MLP_WIDTHS = 32, (784, 256, 128, 10)


def mlp_classifier(images: Any, *parameters: Any) -> Any:
    """Probabilities [batch, classes] of images [batch, pixels]; parameters are weight, bias, ..."""
    hidden = images
    for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2], strict=True):
        hidden = jax.nn.relu(hidden @ weight + bias)
    return jax.nn.softmax(hidden @ parameters[-2] + parameters[-1], axis=-1)


def mlp_arguments(random: np.random.Generator) -> list[Array]:
    arguments = [random.random((MLP_BATCH, MLP_WIDTHS[0]), dtype=np.float32)]
    for fan_in, fan_out in itertools.pairwise(MLP_WIDTHS):
        arguments += [weights(random, fan_in, fan_out), near(random, 0.0, fan_out)]
    return arguments


# ---- A transformer block: token identifiers to logits


VOCABULARY, BATCH, SEQUENCE, MODEL, HEADS, FEED_FORWARD = 512, 2, 128, 128, 4, 512


def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def causal_attention(x: Any, query_key_value: Any, projection: Any) -> Any:
    """Multi-head attention of [batch, sequence, model] in which no position sees a later one."""
    batch, sequence, model = x.shape
    heads = (x @ query_key_value).reshape(batch, sequence, 3, HEADS, model // HEADS)
    query, key, value = heads[:, :, 0], heads[:, :, 1], heads[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(model // HEADS).astype(np.float32)
    causal = jnp.tril(jnp.ones((sequence, sequence), dtype=bool))
    attention = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", attention, value).reshape(batch, sequence, model)
    return mixed @ projection


def transformer_block(
    tokens: Any,
    token_embedding: Any,
    position_embedding: Any,
    attention_scale: Any,
    attention_bias: Any,
    query_key_value: Any,
    projection: Any,
    feed_forward_scale: Any,
    feed_forward_bias: Any,
    up: Any,
    up_bias: Any,
    down: Any,
    down_bias: Any,
) -> Any:
    """Embeds tokens [batch, sequence] and applies one pre-norm block: [batch, sequence, model]."""
    x = token_embedding[tokens] + position_embedding
    normal = layer_norm(x, attention_scale, attention_bias)
    x = x + causal_attention(normal, query_key_value, projection)
    normal = layer_norm(x, feed_forward_scale, feed_forward_bias)
    return x + jax.nn.gelu(normal @ up + up_bias, approximate=True) @ down + down_bias


def transformer_arguments(random: np.random.Generator) -> list[Array]:
    return [
        random.integers(0, VOCABULARY, (BATCH, SEQUENCE), dtype=np.int32),
        near(random, 0.0, VOCABULARY, MODEL) * 10,
        near(random, 0.0, SEQUENCE, MODEL),
        near(random, 1.0, MODEL),
        near(random, 0.0, MODEL),
        weights(random, MODEL, 3 * MODEL),
        weights(random, MODEL, MODEL),
        near(random, 1.0, MODEL),
        near(random, 0.0, MODEL),
        weights(random, MODEL, FEED_FORWARD),
        near(random, 0.0, FEED_FORWARD),
        weights(random, FEED_FORWARD, MODEL),
        near(random, 0.0, MODEL),
    ]


# ---- An LSTM over a sequence


STEPS, LSTM_BATCH, FEATURES, UNITS = 50, 8, 32, 64


def lstm(sequence: Any, weight: Any, bias: Any) -> Any:
    """Hidden states [steps, batch, units] and the last cell state of an LSTM, as a `while`."""

    def step(carry: tuple[Any, Any], x: Any) -> tuple[tuple[Any, Any], Any]:
        cell, hidden = carry
        gates = jnp.concatenate([x, hidden], axis=1) @ weight + bias
        enter, forget, candidate, leave = jnp.split(gates, 4, axis=1)
        cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(candidate)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(cell)
        return (cell, hidden), hidden

    start = jnp.zeros((sequence.shape[1], UNITS), dtype=sequence.dtype)
    (cell, _), hidden_states = jax.lax.scan(step, (start, start), sequence)
    return hidden_states, cell


def lstm_arguments(random: np.random.Generator) -> list[Array]:
    return [
        random.standard_normal((STEPS, LSTM_BATCH, FEATURES), dtype=np.float32),
        weights(random, FEATURES + UNITS, 4 * UNITS),
        near(random, 0.0, 4 * UNITS),
    ]


# ---- An argmax: one reduction of two operands


def argmax(x: Any) -> Any:
    """The index of the largest entry of each row (the first of equals, or of NaNs)."""
    return jnp.argmax(x, axis=1)


def argmax_arguments(random: np.random.Generator) -> list[Array]:
    # Rounded, so that the maximum of a row often occurs several times; one row has NaNs.
    values = np.round(random.standard_normal((64, 257)) * 4).astype(np.float32)
    values[7, [31, 200]] = np.nan
    values[8, :] = -np.inf
    return [values]


PROGRAMS = (
    Program(
        "mlp_classifier",
        "three dense layers, softmax over ten classes",
        mlp_classifier,
        mlp_arguments,
    ),
    Program(
        "transformer_block",
        "embedding lookup, layer norm, causal attention, GELU feed-forward",
        transformer_block,
        transformer_arguments,
    ),
    Program("lstm", "an LSTM cell scanned over 50 steps", lstm, lstm_arguments),
    Program("argmax", "the index of the maximum of each row", argmax, argmax_arguments),
)


def write_arrays(path: Path, arrays: list[Array]) -> None:
    named = {str(index): array for index, array in enumerate(arrays)}
    np.savez_compressed(path, allow_pickle=False, **named)


def evaluate(program: Program) -> tuple[list[Array], Any, Any, list[Array]]:
    """The arguments, the program as lowered and as compiled by JAX, and its results."""
    arguments = program.arguments(np.random.default_rng(SEED))
    lowered = jax.jit(program.function).lower(*arguments)
    compiled = lowered.compile()
    outputs = [np.asarray(output) for output in jax.tree.leaves(compiled(*arguments))]
    return arguments, lowered, compiled, outputs


def write(program: Program) -> dict[str, Any]:
    """Writes all files of one program; returns its entry of the manifest."""
    arguments, lowered, compiled, outputs = evaluate(program)
    stem = FOLDER / program.name
    stem.with_suffix(".hlo").write_text(lowered.as_text(dialect="hlo"))
    stem.with_suffix(".mlir").write_text(lowered.as_text())
    stem.with_name(program.name + "_optimized.hlo").write_text(compiled.as_text() or "")
    write_arrays(stem.with_suffix(".inputs.npz"), arguments)
    write_arrays(stem.with_suffix(".outputs.npz"), outputs)
    return {
        "summary": program.summary,
        "inputs": [f"{array.dtype}{list(array.shape)}" for array in arguments],
        "outputs": [f"{array.dtype}{list(array.shape)}" for array in outputs],
    }


def main() -> None:
    # Compiled text names source files: without the path of this machine.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", f"^{re.escape(str(FOLDER))}/")
    manifest = {
        "made_by": "test/programs/make_programs.py",
        "seed": SEED,
        "jax": jax.__version__,
        "jaxlib": version("jaxlib"),
        "numpy": np.__version__,
        "machine": f"{platform.machine()} (XLA chooses vector widths by the processor)",
        "programs": {program.name: write(program) for program in PROGRAMS},
    }
    (FOLDER / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()
