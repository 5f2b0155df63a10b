"""Training steps of a GPT, divided in the ways that large models are: for any number of devices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from peers import has_jax

from jax_programs.sharded import ShardedProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec


@dataclass(frozen=True)
class Sizes:
    """The sizes of a model; a device has so many sequences of a batch."""

    layers: int = 4
    width: int = 512
    heads: int = 8
    hidden: int = 2048
    words: int = 4096
    length: int = 128
    sequences: int = 2
    experts: int = 8


Constraint = Callable[[Any, str], Any]
"""Says how activations of a name are split."""


def _free(x: Any, _: str) -> Any:
    return x


def _norm(x: Any, scale: Any) -> Any:
    return x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale


def _attention(w: Any, x: Any) -> Any:
    q, k, v = (jnp.einsum("bsd,dhe->bshe", x, w[name]) for name in "qkv")
    scores = jnp.einsum("bshe,bthe->bhst", q, k) / np.float32(np.sqrt(q.shape[-1]))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    scores = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1)
    return jnp.einsum("bhst,bthe,hed->bsd", scores, v, w["o"])


def _dense(w: Any, x: Any, _: Constraint) -> Any:
    return jax.nn.gelu(x @ w["up"]) @ w["down"]


def _routed(w: Any, x: Any, constrain: Constraint) -> Any:
    """Each word goes to the expert of the largest score, as far as that has room for it."""
    scores = jax.nn.softmax(x @ w["router"], -1)
    room = 2 * x.shape[1] // scores.shape[-1]
    chosen = jax.nn.one_hot(scores.argmax(-1), scores.shape[-1], dtype=x.dtype)
    place = jnp.cumsum(chosen, 1) * chosen - 1
    sent = jax.nn.one_hot(place.astype(jnp.int32), room, dtype=x.dtype)
    given = constrain(jnp.einsum("bsec,bsd->ebcd", sent, x), "experts")
    made = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", given, w["up"]))
    made = constrain(jnp.einsum("ebcf,efd->ebcd", made, w["down"]), "experts")
    return jnp.einsum("bsec,bse,ebcd->bsd", sent, scores, made)


def _block(w: Any, x: Any, constrain: Constraint) -> Any:
    forward = _routed if "router" in w else _dense
    x = constrain(x + _attention(w, _norm(x, w["n1"])), "words")
    return constrain(x + forward(w, _norm(x, w["n2"]), constrain), "words")


def _loss(weights: Any, words: Any, blocks: Callable[[Any, Any], Any]) -> Any:
    x = blocks(weights["blocks"], weights["embedding"][words[:, :-1]] + weights["places"])
    scores = jax.nn.log_softmax(_norm(x, weights["last"]) @ weights["embedding"].T)
    return -jnp.take_along_axis(scores, words[:, 1:, None], -1).mean()


def _step(blocks: Callable[[Any, Any], Any], state: Any, words: Any) -> Any:
    """Loss, and weights and moments after a step of Adam."""
    weights, first, second = state
    loss, gradients = jax.value_and_grad(lambda w: _loss(w, words, blocks))(weights)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g**2, second, gradients)
    weights = jax.tree.map(
        lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), weights, first, second
    )
    return loss, (weights, first, second)


def _weights(sizes: Sizes, *, is_routed: bool = False, stages: int = 0) -> Any:
    d, h, f = sizes.width, sizes.heads, sizes.hidden
    block = {
        **dict.fromkeys("qkv", (d, h, d // h)),
        "o": (h, d // h, d),
        "up": (d, f),
        "down": (f, d),
        "n1": (d,),
        "n2": (d,),
    }
    if is_routed:
        e = sizes.experts
        block |= {"up": (e, d, f), "down": (e, f, d), "router": (d, e)}
    blocks: Any = [block] * sizes.layers
    if stages:
        blocks = {name: (sizes.layers, *shape) for name, shape in block.items()}
    shapes = {
        "embedding": (sizes.words, d),
        "places": (sizes.length, d),
        "last": (d,),
        "blocks": blocks,
    }
    return jax.tree.map(
        lambda shape: jax.ShapeDtypeStruct(shape, np.float32),
        shapes,
        is_leaf=lambda x: isinstance(x, tuple),
    )


def _program(
    n: int,
    sizes: Sizes,
    axes: list[tuple[str, int]],
    weights: Any,
    specs: Any,
    activations: dict[str, Any] | None = None,
    blocks: Callable[[Any, Any, Constraint], Any] | None = None,
) -> ShardedProgram:
    """A step; the batch is split over the first axis, weights and moments alike."""

    def run(mesh: Any, state: Any, words: Any) -> Any:
        def constrain(x: Any, name: str) -> Any:
            spec = (activations or {}).get(name)
            return x if spec is None else lax.with_sharding_constraint(x, NamedSharding(mesh, spec))

        def through(all_weights: Any, x: Any) -> Any:
            if blocks is not None:
                return blocks(all_weights, x, constrain)
            for w in all_weights:
                x = _block(w, x, constrain)
            return x

        return _step(through, state, words)

    words = jax.ShapeDtypeStruct((sizes.sequences * n, sizes.length + 1), np.int32)
    batch = PartitionSpec(tuple(name for name, _ in axes[: 1 + (activations or {}).get("all", 0)]))
    return ShardedProgram(
        run,
        ((weights,) * 3, words),
        ((specs,) * 3, batch),
        axes,
        (PartitionSpec(), (specs,) * 3),
        needs_mesh=True,
    )


def _everywhere(weights: Any) -> Any:
    return jax.tree.map(lambda _: PartitionSpec(), weights)


def data_parallel(n: int, sizes: Sizes) -> ShardedProgram:
    """The batch is split, weights are everywhere."""
    weights = _weights(sizes)
    return _program(n, sizes, [("d", n)], weights, _everywhere(weights))


def fsdp(n: int, sizes: Sizes) -> ShardedProgram:
    """Weights and moments are split over all devices, as is the batch."""
    weights = _weights(sizes)

    def largest(leaf: Any) -> Any:
        place = max(range(len(leaf.shape)), key=lambda d: (leaf.shape[d] % n == 0, leaf.shape[d]))
        split = leaf.shape[place] % n == 0
        return PartitionSpec(*[None] * place, "d") if split else PartitionSpec()

    return _program(n, sizes, [("d", n)], weights, jax.tree.map(largest, weights))


def _megatron_specs(weights: Any) -> Any:
    split = {
        **dict.fromkeys("qkv", PartitionSpec(None, "m")),
        "o": PartitionSpec("m"),
        "up": PartitionSpec(None, "m"),
        "down": PartitionSpec("m"),
    }
    specs = _everywhere(weights)
    specs["blocks"] = [block | split for block in specs["blocks"]]
    specs["embedding"] = PartitionSpec("m")
    return specs


def _two_axes(n: int) -> list[tuple[str, int]]:
    return [("d", max(n // 8, 1)), ("m", min(n, 8))]


def megatron(n: int, sizes: Sizes) -> ShardedProgram:
    """Heads, hidden dimensions and words are split over an axis of 8, the batch over the other."""
    weights = _weights(sizes)
    return _program(n, sizes, _two_axes(n), weights, _megatron_specs(weights))


def sequence(n: int, sizes: Sizes) -> ShardedProgram:
    """The same, and between blocks the places of a sequence are split over the axis of 8."""
    weights = _weights(sizes)
    words = {"words": PartitionSpec("d", "m")}
    return _program(n, sizes, _two_axes(n), weights, _megatron_specs(weights), words)


def experts(n: int, sizes: Sizes) -> ShardedProgram:
    """The batch is split over all devices, experts over an axis of 8: words go there and back."""
    weights = _weights(sizes, is_routed=True)
    specs = _everywhere(weights)
    split = dict.fromkeys(("up", "down"), PartitionSpec("m"))
    specs["blocks"] = [block | split for block in specs["blocks"]]
    activations = {
        "words": PartitionSpec(("d", "m")),
        "experts": PartitionSpec("m", "d"),
        "all": 1,
    }
    return _program(n, sizes, _two_axes(n), weights, specs, activations)


def pipeline(n: int, sizes: Sizes) -> ShardedProgram:
    """Layers are stages on an axis: micro-batches move on by a roll, the batch is split as well."""
    weights = _weights(sizes, stages=sizes.layers)
    count, micro = sizes.layers, 2 * sizes.layers
    specs = _everywhere(weights)
    specs["blocks"] = dict.fromkeys(weights["blocks"], PartitionSpec("m"))

    def blocks(stages: Any, x: Any, constrain: Constraint) -> Any:
        batches = constrain(x.reshape(-1, micro, *x.shape[1:]), "batches")
        held = jnp.zeros((count, *batches.shape[:1], *batches.shape[2:]), x.dtype)
        fed = jnp.concatenate([batches, jnp.zeros_like(batches[:, : count - 1])], 1)

        def step(held: Any, given: Any) -> Any:
            held = constrain(jnp.roll(held, 1, 0).at[0].set(given), "stages")
            made = jax.vmap(lambda w, x: _block(w, x, _free))(stages, held)
            made = constrain(made, "stages")
            return made, made[-1]

        _, made = lax.scan(step, held, fed.swapaxes(0, 1))
        return made[count - 1 :].swapaxes(0, 1).reshape(x.shape)

    activations = {
        "batches": PartitionSpec("d"),
        "stages": PartitionSpec("m", "d"),
    }
    axes = [("d", n // count), ("m", count)]
    return _program(n, sizes, axes, weights, specs, activations, blocks)


GPTS: dict[str, Callable[[int, Sizes], ShardedProgram]] = {
    "data-parallel": data_parallel,
    "FSDP": fsdp,
    "Megatron": megatron,
    "sequence": sequence,
    "pipeline": pipeline,
    "experts": experts,
}
"""By name, for a number of devices."""
