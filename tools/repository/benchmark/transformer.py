"""A transformer of twelve layers, from the words of a sequence to scores of the next."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LAYERS, SEQUENCE, WIDTH, HEADS, VOCABULARY = 12, 128, 256, 8, 1000


def normalized(x: Any) -> Any:
    """Rows with a mean of 0 and a variance of 1."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5)


def _attention(x: Any, joined: Any, projection: Any) -> Any:
    size = WIDTH // HEADS
    parts = (normalized(x) @ joined).reshape(len(x), 3, HEADS, size)
    query, key, value = parts[:, 0], parts[:, 1], parts[:, 2]
    scores = jnp.einsum("qhd,khd->hqk", query, key) / np.float32(np.sqrt(size))
    seen = jnp.tril(jnp.ones((len(x), len(x)), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    return jnp.einsum("hqk,khd->qhd", weights, value).reshape(x.shape) @ projection


def transformer(tokens: Any, embedding: Any, *parameters: Any) -> Any:
    """From the words of a sequence to scores of the next; four matrices for each layer."""
    x = embedding[tokens]
    for first in range(0, len(parameters), 4):
        joined, projection, up, down = parameters[first : first + 4]
        x = x + _attention(x, joined, projection)
        x = x + jax.nn.gelu(normalized(x) @ up) @ down
    return normalized(x) @ embedding.T
