"""Programs of JAX that say how their arrays are split: the kinds that models are trained with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from peers import has_jax

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec


@dataclass(frozen=True)
class ShardedProgram:
    """A function, its arguments, and the axes over which each is split."""

    function: Callable[..., Any]
    arguments: Sequence[Any]
    in_specs: Sequence[Any]
    axes: Sequence[tuple[str, int]]
    out_specs: Any = None
    """None: as propagation has it."""
    needs_mesh: bool = False
    """Whether the function takes the mesh first."""
    is_constrained: bool = False
    """Whether arguments are whole, and split first of all: JAX splits them evenly only."""

    def mesh(self) -> Any:
        """A mesh of the first devices."""
        sizes = [size for _, size in self.axes]
        devices = np.array(jax.devices()[: int(np.prod(sizes))])
        return Mesh(devices.reshape(sizes), [name for name, _ in self.axes])

    def jitted(self) -> Any:
        """The function with its shardings."""
        mesh = self.mesh()

        def placed(spec: Any) -> Any:
            return NamedSharding(mesh, spec)

        is_spec: Any = lambda spec: isinstance(spec, PartitionSpec)  # noqa: E731
        given = jax.tree.map(placed, tuple(self.in_specs), is_leaf=is_spec)
        function = partial(self.function, mesh) if self.needs_mesh else self.function
        if self.is_constrained:
            return jax.jit(lambda *a: function(*_constrained(a, given)))
        options: dict[str, Any] = {"in_shardings": given}
        if self.out_specs is not None:
            options["out_shardings"] = jax.tree.map(placed, self.out_specs, is_leaf=is_spec)
        return jax.jit(function, **options)

    def stablehlo(self) -> str:
        """The program as JAX gives it to XLA, with Shardy's annotations."""
        return self.jitted().lower(*self.arguments).as_text()

    def leaves(self) -> list[Any]:
        """The arguments as arrays."""
        return [np.asarray(leaf) for leaf in jax.tree.leaves(self.arguments)]


def _constrained(arguments: Any, shardings: Any) -> Any:
    """Arguments, each split as its sharding says, which may stand for a tree of them."""
    is_leaf: Any = lambda x: isinstance(x, NamedSharding)  # noqa: E731
    return jax.tree.map(
        lambda s, a: jax.tree.map(lambda leaf: lax.with_sharding_constraint(leaf, s), a),
        shardings,
        arguments,
        is_leaf=is_leaf,
    )


def uneven(program: ShardedProgram) -> ShardedProgram:
    """The program with constraints in the place of shardings of arguments."""
    return replace(program, is_constrained=True)


def _random(*sizes: int) -> Any:
    rng = np.random.default_rng(sum((i + 2) * n for i, n in enumerate(sizes)))
    return (rng.standard_normal(sizes) / 2).astype(np.float32)


def _mlp_loss(weights: Any, x: Any, y: Any) -> Any:
    first, bias, second = weights
    return (((jnp.tanh(x @ first + bias) @ second) - y) ** 2).mean()


def _step(weights: Any, x: Any, y: Any) -> Any:
    loss, gradients = jax.value_and_grad(_mlp_loss)(weights, x, y)
    return loss, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)


def mlp_step(n: int, batch: int = 16) -> ShardedProgram:
    """Data-parallel: the batch is split, weights are everywhere."""
    spec = PartitionSpec
    weights = _random(12, 32), _random(32), _random(32, 5)
    return ShardedProgram(
        _step,
        (weights, _random(batch, 12), _random(batch, 5)),
        (spec(), spec("x"), spec("x")),
        [("x", n)],
    )


def fsdp_step(n: int, hidden: int = 32) -> ShardedProgram:
    """Weights, their updates and the batch are split."""
    spec = PartitionSpec
    weights = _random(16, hidden), _random(hidden), _random(hidden, 8)
    specs = spec("x"), spec("x"), spec("x")
    return ShardedProgram(
        _step,
        (weights, _random(16, 16), _random(16, 8)),
        (specs, spec("x"), spec("x")),
        [("x", n)],
        (spec(), specs),
    )


def megatron(n: int, heads: int = 4) -> ShardedProgram:
    """A transformer block with its gradient: heads and the hidden dimension are split."""
    spec = PartitionSpec
    width, depth, hidden, length, batch = 16, 4, 32, 6, 4

    def norm(x: Any, scale: Any) -> Any:
        return x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale

    def block(weights: Any, x: Any) -> Any:
        h = norm(x, weights["n1"])
        q, k, v = (jnp.einsum("bsd,dhe->bshe", h, weights[name]) for name in "qkv")
        scores = jnp.einsum("bshe,bthe->bhst", q, k) / np.float32(np.sqrt(depth))
        mask = jnp.tril(jnp.ones((length, length), bool))
        scores = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1)
        x = x + jnp.einsum("bhst,bthe,hed->bsd", scores, v, weights["o"])
        h = norm(x, weights["n2"])
        return x + jax.nn.gelu(h @ weights["up"]) @ weights["down"]

    def loss(weights: Any, x: Any) -> Any:
        return (block(weights, x) ** 2).mean()

    weights = {
        "q": _random(width, heads, depth),
        "k": _random(width, heads, depth) + 0.1,
        "v": _random(width, heads, depth) - 0.1,
        "o": _random(heads, depth, width),
        "up": _random(width, hidden),
        "down": _random(hidden, width),
        "n1": _random(width),
        "n2": _random(width) + 1,
    }
    specs = {
        **dict.fromkeys("qkv", spec(None, "m")),
        "o": spec("m"),
        "up": spec(None, "m"),
        "down": spec("m"),
        "n1": spec(),
        "n2": spec(),
    }
    d, m = (2, n // 2) if n > 2 else (1, n)
    return ShardedProgram(
        lambda w, x: jax.value_and_grad(loss)(w, x),
        (weights, _random(batch, length, width)),
        (specs, spec("d")),
        [("d", d), ("m", m)],
    )


def embedding(n: int, rows: int = 24) -> ShardedProgram:
    """Rows of a table are split; its gradient is a scatter."""
    spec = PartitionSpec
    rng = np.random.default_rng(3)
    indices = rng.integers(0, rows, (8, 5)).astype(np.int32)

    def loss(table: Any, w: Any, indices: Any) -> Any:
        return (jnp.tanh(table[indices] @ w) ** 2).sum()

    return ShardedProgram(
        jax.value_and_grad(loss) if has_jax() else loss,
        (_random(rows, 6), _random(6, 4), indices),
        (spec("x"), spec(), spec()),
        [("x", n)],
    )


def spatial_convolution(n: int, rows: int = 16) -> ShardedProgram:
    """Images are split along their height: windows reach into the parts of neighbours."""
    spec = PartitionSpec

    def loss(w: Any, v: Any, x: Any) -> Any:
        numbers = ("NHWC", "HWIO", "NHWC")
        h = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers)
        h = lax.conv_general_dilated(jnp.tanh(h), v, (2, 2), "SAME", dimension_numbers=numbers)
        return (h**2).sum()

    return ShardedProgram(
        jax.value_and_grad(loss, (0, 1)) if has_jax() else loss,
        (_random(3, 3, 3, 4), _random(3, 3, 4, 5), _random(2, rows, 8, 3)),
        (spec(), spec(), spec(None, "x")),
        [("x", n)],
    )


def lstm(n: int, batch: int = 8) -> ShardedProgram:
    """A loop over time, the batch is split."""
    spec = PartitionSpec

    def run(w: Any, u: Any, b: Any, xs: Any) -> Any:
        def cell(carry: Any, x: Any) -> Any:
            h, c = carry
            i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = jnp.zeros((xs.shape[1], u.shape[0]))
        return lax.scan(cell, (start, start), xs)

    return ShardedProgram(
        run,
        (_random(6, 32), _random(8, 32), _random(32), _random(5, batch, 6)),
        (spec(), spec(), spec(), spec(None, "x")),
        [("x", n)],
    )


def noise(n: int) -> ShardedProgram:
    """Random numbers for rows that are split: each is made of the key and its place."""
    spec = PartitionSpec

    def run(key: Any, x: Any) -> Any:
        kept = jax.random.bernoulli(key, 0.7, x.shape)
        return jnp.where(kept, x, jax.random.normal(key, x.shape))

    key = np.array([3, 7], np.uint32)
    return ShardedProgram(run, (key, _random(16, 6)), (spec(), spec("x")), [("x", n)], spec("x"))


def linear_recurrence(n: int, steps: int = 32) -> ShardedProgram:
    """A state by steps over time, which is split: an associative scan."""
    spec = PartitionSpec("x")

    def run(decay: Any, inputs: Any) -> Any:
        def behind(first: Any, second: Any) -> Any:
            return first[0] * second[0], second[0] * first[1] + second[1]

        return lax.associative_scan(behind, (decay, inputs))[1]

    return ShardedProgram(
        run, (_random(steps, 16), _random(steps, 16)), (spec, spec), [("x", n)], spec
    )


def ring_attention(n: int) -> ShardedProgram:
    """Keys and values go around a ring, in shard_map."""
    spec = PartitionSpec

    def attend(q: Any, k: Any, v: Any) -> Any:
        ring = [(i, (i + 1) % n) for i in range(n)]

        def step(carry: Any, _: Any) -> Any:
            k, v, top, weight, total = carry
            scores = q @ k.T
            new = jnp.maximum(top, scores.max(-1))
            scale, part = jnp.exp(top - new), jnp.exp(scores - new[:, None])
            carry = (
                lax.ppermute(k, "x", ring),
                lax.ppermute(v, "x", ring),
                new,
                weight * scale + part.sum(-1),
                total * scale[:, None] + part @ v,
            )
            return carry, None

        low = jnp.full(q.shape[:1], -jnp.inf)
        start = k, v, low, jnp.zeros(q.shape[:1]), jnp.zeros_like(v)
        (_, _, _, weight, total), _ = lax.scan(step, start, None, length=n)
        return total / weight[:, None]

    def run(mesh: Any, q: Any, k: Any, v: Any) -> Any:
        specs = (spec("x"),) * 3
        mapped = jax.shard_map(
            attend, mesh=mesh, in_specs=specs, out_specs=spec("x"), check_vma=False
        )
        return mapped(q, k, v) * 2

    return ShardedProgram(
        run,
        (_random(16, 4), _random(16, 4) + 0.5, _random(16, 4) - 0.5),
        (spec("x"),) * 3,
        [("x", n)],
        needs_mesh=True,
    )


def pipeline(n: int) -> ShardedProgram:
    """Stages on devices, batches in flight between them, in shard_map."""
    spec = PartitionSpec

    def stage(w: Any, xs: Any) -> Any:
        place = lax.axis_index("x")
        ring = [(i, (i + 1) % n) for i in range(n)]

        def step(t: Any, carry: Any) -> Any:
            held, done = carry
            fed = jnp.where(place == 0, xs[jnp.clip(t, 0, 3)], held)
            made = jnp.tanh(fed @ w[0])
            at = t - (n - 1)
            written = lax.dynamic_update_slice(done, made[None], (jnp.clip(at, 0, 3), 0, 0))
            done = jnp.where((place == n - 1) & (at >= 0), written, done)
            return lax.ppermute(made, "x", ring), done

        start = jnp.zeros_like(xs[0]), jnp.zeros_like(xs)
        _, done = lax.fori_loop(0, 4 + n - 1, step, start)
        return lax.psum(jnp.where(place == n - 1, done, 0), "x")

    def run(mesh: Any, w: Any, xs: Any) -> Any:
        mapped = jax.shard_map(
            stage, mesh=mesh, in_specs=(spec("x"), spec()), out_specs=spec(), check_vma=False
        )
        return mapped(w, xs).sum(0)

    return ShardedProgram(
        run, (_random(n, 6, 6), _random(4, 3, 6)), (spec("x"), spec()), [("x", n)], needs_mesh=True
    )


def experts(n: int) -> ShardedProgram:
    """Tokens go to the device of their expert and back, in shard_map."""
    spec = PartitionSpec

    def layer(w: Any, x: Any) -> Any:
        sent = lax.all_to_all(x.reshape(n, -1, x.shape[-1]), "x", 0, 0)
        made = jnp.tanh(sent @ w[0])
        return lax.all_to_all(made, "x", 0, 0).reshape(x.shape)

    def run(mesh: Any, w: Any, x: Any) -> Any:
        mapped = jax.shard_map(
            layer, mesh=mesh, in_specs=(spec("x"), spec("x")), out_specs=spec("x"), check_vma=False
        )
        return (mapped(w, x * 2) ** 2).sum()

    return ShardedProgram(
        jax.value_and_grad(run, 1) if has_jax() else run,
        (_random(n, 6, 6), _random(n * n * 2, 6)),
        (spec("x"), spec("x")),
        [("x", n)],
        needs_mesh=True,
    )


def partly_manual(n: int, *, by_rows: bool = False) -> ShardedProgram:
    """Neighbours along one axis are seen in shard_map, the other axis is left to the partitioner."""
    spec = PartitionSpec
    d, m = 2, n // 2

    def local(x: Any, w: Any) -> Any:
        h = jnp.tanh(x @ w)
        means = lax.psum(h.sum(0), "d") / 12
        others = lax.all_gather(h, "d", tiled=True).max(1, keepdims=True)

        def step(carry: Any, row: Any) -> Any:
            return carry * 0.5 + row, carry.sum()

        last, sums = lax.scan(step, lax.pcast(means, "d", to="varying"), h)
        turned = lax.ppermute(h, "d", [(0, 1), (1, 0)])
        return turned + last + sums[:, None] + others[: h.shape[0]]

    def run(mesh: Any, x: Any, w: Any, v: Any) -> Any:
        mapped = jax.shard_map(
            local, mesh=mesh, in_specs=(spec("d"), spec()), out_specs=spec("d"), axis_names={"d"}
        )
        return mapped(x, w) @ v

    return ShardedProgram(
        run,
        (_random(16, 8), _random(8, 12), _random(12, 5)),
        (spec(("d", "m")), spec(), spec()) if by_rows else (spec("d"), spec(None, "m"), spec("m")),
        [("d", d), ("m", m)],
        spec("d"),
        needs_mesh=True,
    )


PROGRAMS: dict[str, Callable[[int], ShardedProgram]] = {
    "mlp_step": mlp_step,
    "mlp_step uneven": lambda n: uneven(mlp_step(n, 13)),
    "fsdp_step": fsdp_step,
    "fsdp_step uneven": lambda n: uneven(replace(fsdp_step(n, 29), out_specs=None)),
    "megatron": megatron,
    "megatron uneven": lambda n: uneven(megatron(n, 3)),
    "embedding": embedding,
    "embedding uneven": lambda n: uneven(embedding(n, 23)),
    "spatial_convolution": spatial_convolution,
    "spatial_convolution uneven": lambda n: uneven(spatial_convolution(n, 18)),
    "lstm": lstm,
    "lstm uneven": lambda n: uneven(lstm(n, 7)),
    "linear_recurrence": linear_recurrence,
    "linear_recurrence uneven": lambda n: uneven(replace(linear_recurrence(n, 21), out_specs=None)),
    "noise": noise,
    "ring_attention": ring_attention,
    "pipeline": pipeline,
    "experts": experts,
    "partly_manual": partly_manual,
    "partly_manual by rows": lambda n: partly_manual(n, by_rows=True),
}
"""By name, for a number of devices."""
