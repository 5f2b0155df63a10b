"""Networks on graphs of jraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jraph

from library_programs.measuring import Made, Maker


def _graph() -> Any:
    first, second, third = jax.random.split(jax.random.key(0), 3)
    return jraph.GraphsTuple(
        nodes=jax.random.normal(first, (9, 4)),
        edges=jax.random.normal(second, (14, 4)),
        senders=jax.random.randint(third, (14,), 0, 9),
        receivers=jax.random.randint(first, (14,), 0, 9),
        n_node=jnp.array([4, 5]),
        n_edge=jnp.array([6, 8]),
        globals=jnp.ones((2, 4)),
    )


def _weights() -> jax.Array:
    return jax.random.normal(jax.random.key(7), (24, 4)) * 0.3


def _layer(weights: jax.Array) -> Callable[..., Any]:
    def update(*features: Any) -> jax.Array:
        joined = jnp.concatenate(features, -1)
        return jnp.tanh(joined @ weights[: joined.shape[-1]])

    return update


def _gradient(make: Callable[[jax.Array], Callable[[Any], Any]]) -> Made:
    def function(weights: jax.Array, graph: Any) -> Any:
        def loss(weights: jax.Array) -> Any:
            result = make(weights)(graph)
            return jnp.sum(result.nodes**2), result

        return jax.value_and_grad(loss, has_aux=True)(weights)

    return function, (_weights(), _graph())


def _segments() -> Made:
    ids = jax.random.randint(jax.random.key(3), (30,), 0, 5)

    def function(data: jax.Array, ids: jax.Array) -> Any:
        return (
            jraph.segment_mean(data, ids, 6),
            jraph.segment_max(data, ids, 6),
            jraph.segment_softmax(data[:, 0], ids, 6),
            jraph.segment_normalize(data, ids, 6),
            jraph.segment_variance(data, ids, 6),
            jraph.segment_min_or_constant(data, ids, 6),
        )

    return function, (jax.random.normal(jax.random.key(4), (30, 3)), ids)


PROGRAMS: dict[str, Maker] = {
    "graph network": lambda: _gradient(
        lambda w: jraph.GraphNetwork(
            lambda e, s, r, g: _layer(w)(e, s, r, g),
            lambda n, s, r, g: _layer(w)(n, s, r, g),
            lambda n, e, g: _layer(w)(n, e, g),
        )
    ),
    "interaction network": lambda: _gradient(
        lambda w: jraph.InteractionNetwork(
            lambda e, s, r: _layer(w)(e, s, r), lambda n, r: _layer(w)(n, r)
        )
    ),
    "graph convolution": lambda: _gradient(
        lambda w: jraph.GraphConvolution(_layer(w), add_self_edges=True)
    ),
    "attention": lambda: _gradient(
        lambda w: jraph.GAT(lambda n: n @ w[:4], lambda s, r, e: jnp.sum(s * r, -1, keepdims=True))
    ),
    "deep sets": lambda: _gradient(
        lambda w: (
            lambda graph: jraph.DeepSets(
                lambda n, g: _layer(w)(n, g), lambda n: jnp.tanh(n @ w[:4])
            )(graph)
        )
    ),
    "relation network": lambda: _gradient(
        lambda w: (
            lambda graph: graph._replace(
                nodes=graph.nodes @ w[:4],
                globals=jraph.RelationNetwork(
                    lambda s, r: _layer(w)(s, r), lambda e: jnp.tanh(e @ w[:4])
                )(graph).globals,
            )
        )
    ),
    "edges and nodes, mean": lambda: _gradient(
        lambda w: jraph.GraphMapFeatures(
            lambda e: e @ w[:4], lambda n: jnp.tanh(n @ w[4:8]), lambda g: g @ w[8:12]
        )
    ),
    "segments": _segments,
    "padding": lambda: (
        lambda graph: (jraph.get_node_padding_mask(graph), jraph.get_edge_padding_mask(graph)),
        (jraph.pad_with_graphs(_graph(), 16, 20, 4),),
    ),
    "unbatched sums": lambda: (
        lambda graph: jraph.partition_softmax(graph.nodes[:, 0], graph.n_node, 9),
        (_graph(),),
    ),
}
