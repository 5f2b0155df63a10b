"""JAX's transformations and control flow."""

from typing import Any, NamedTuple

import numpy as np
from peers import has_jax

from jax_programs.program import EXACT, SUMS, Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    import jax.scipy.optimize
    import jax.scipy.sparse.linalg
    from jax import lax

RANDOM = np.random.default_rng(8)
X = RANDOM.standard_normal((4, 5)).astype(np.float32)
W = RANDOM.standard_normal((5, 5)).astype(np.float32)
N = RANDOM.integers(0, 9, (6,), dtype=np.int32)

ITERATED = Bound(128, "every step adds to the roundings of those before it")


class State(NamedTuple):
    """A pytree of a class of one's own."""

    value: Any
    rest: dict[str, Any]


def derivatives(x: Any, w: Any) -> Any:
    """Forward, reverse, both, and of batches."""

    def layer(x: Any, w: Any) -> Any:
        return jnp.tanh(x @ w)

    def loss(x: Any, w: Any) -> Any:
        return (layer(x, w) ** 2).sum()

    value, pull = jax.vjp(layer, x, w)
    return (
        *(pull(value), jax.jvp(layer, (x, w), (x * 2, w - 1)), jax.jacfwd(layer)(x[0], w)),
        *(jax.jacrev(layer)(x[0], w), jax.hessian(loss)(x[0], w), jax.grad(jax.grad(jnp.sin))(0.5)),
        jax.vmap(jax.grad(loss), (0, None))(x, w),
        jax.linearize(layer, x, w)[1](x, w),
        jax.value_and_grad(lambda t: loss(t["x"], t["w"]))({"x": x, "w": w}),
        jax.linear_transpose(lambda y: y @ w, x)(x),
    )


def custom_rules(x: Any) -> Any:
    """Derivatives by rules of one's own."""

    @jax.custom_jvp
    def softened(x: Any) -> Any:
        return jnp.log1p(jnp.exp(x))

    @softened.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return softened(*primals), jax.nn.sigmoid(primals[0]) * tangents[0]

    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return x * x

    clipped.defvjp(lambda x: (clipped(x), x), lambda x, g: (jnp.clip(g * x, -0.5, 0.5),))
    return (
        jax.grad(lambda x: softened(x).sum())(x),
        jax.grad(lambda x: clipped(x).sum())(x),
        jax.grad(lambda x: lax.stop_gradient(x * x).sum() + x.sum())(x),
        jax.vmap(jax.vmap(jax.grad(softened)))(x),
    )


def recomputed(x: Any, w: Any) -> Any:
    """Checkpoints, whose barriers keep XLA from merging what is computed twice."""
    policy = jax.checkpoint_policies.dots_saveable

    def block(x: Any, w: Any) -> Any:
        return jnp.sin(jnp.cos(x @ w) @ w)

    return (
        jax.grad(lambda x: jax.checkpoint(block)(x, w).sum())(x),
        jax.grad(lambda x: jax.checkpoint(block, policy=policy)(x, w).sum())(x),
        jax.grad(lambda w: lax.scan(jax.remat(lambda c, _: (block(c, w), None)), x, None, 3)[0].sum())(w),
    )  # fmt: skip


def scans(x: Any, n: Any) -> Any:
    """Scans over several arrays, backwards, unrolled, nested, with and without carries."""
    return (
        lax.scan(lambda c, row: (c + row, c * 2), n[0], n),
        lax.scan(lambda c, row: (c * 0.5 + row, c), x[0], x, reverse=True),
        lax.scan(lambda c, xs: (c + xs[0].sum() * xs[1], xs[1]), 0.0, (x, n[:4])),
        lax.scan(lambda c, _: (c * 3 % 7, c), n[1], None, 7, unroll=3),
        lax.scan(lambda c, row: lax.scan(lambda d, e: (d + e, d), c, row), 0, n.reshape(2, 3)),
        lax.map(lambda row: row[::-1], x),
        lax.scan(lambda c, row: ((), row + 1), (), n),
        lax.scan(lambda c, row: (c, row), n, n[:0])[0],
    )


def loops(x: Any, n: Any) -> Any:
    """Loops that count, search and iterate until they have converged."""

    def newton(c: Any) -> Any:
        step, y = c
        return step + 1, 0.5 * (y + 2 / y)

    return (
        lax.fori_loop(0, n[0], lambda i, c: c + i * n[1], 0),
        lax.fori_loop(2, 2, lambda i, c: c + i, n),
        lax.while_loop(lambda c: c[0] < 6, newton, (0, jnp.float32(1)))[1],
        lax.while_loop(lambda c: (c != 1).any(), collatz, n + 1),
        jax.vmap(lambda k: lax.while_loop(lambda c: c[0] < k, lambda c: (c[0] + 1, c[1] * 2), (0, 1)))(n),
        jax.vmap(lambda row, k: lax.fori_loop(0, k, lambda i, c: c - row[0], row))(x, n[:4]),
        lax.fori_loop(0, 3, lambda i, s: State(s.value.at[i].set(i), {"sum": s.rest["sum"] + s.value.sum()}), State(n, {"sum": 0})),
    )  # fmt: skip


def collatz(n: Any) -> Any:
    """The next numbers, until they are 1."""
    return jnp.where(n == 1, 1, jnp.where(n % 2 == 0, n // 2, 3 * n + 1))


def branches(x: Any, n: Any) -> Any:
    """Branches with operands, without, nested, batched, and out of range."""
    functions = [lambda v: v + 1, lambda v: v * 2, lambda v: -v]
    return (
        *(lax.switch(k, functions, n) for k in (n[0] - 20, n[1] % 3, n[2] + 20)),
        lax.cond(n[0] > 4, lambda: n, lambda: n[::-1]),
        lax.cond(x[0, 0] > 0, lambda v: lax.cond(n[1] > 1, jnp.sort, jnp.flip, v), lambda v: v, n),
        jax.vmap(lambda k, v: lax.switch(k, functions, v))(n % 3, n),
        jax.vmap(lambda p, v: lax.cond(p, jnp.negative, jnp.abs, v))(n > 3, n),
        lax.cond(n[0] > 4, lambda t: (t[1], t[0]), lambda t: t, (n, n + 1)),
        lax.select_n(n % 3, n, n + 10, n + 20),
        lax.platform_dependent(n, default=lambda v: v + 1),
    )


def batched(x: Any, n: Any) -> Any:
    """What batching makes of operations that move elements."""
    y = x.reshape(2, 2, 5)
    return (
        jax.vmap(jnp.sort)(x),
        jax.vmap(lambda a, i: a.at[i].set(0.0))(x, n[:4] % 5),
        jax.vmap(lambda a: jnp.convolve(a, jnp.array([1.0, 2.0])))(jnp.round(x)),
        jax.vmap(jax.vmap(lambda a, i: a[i], (0, None)), (0, 0))(y, n[:2] % 5),
        jax.vmap(lambda i: lax.dynamic_slice(x, (i, 0), (2, 3)))(n),
        jax.vmap(lambda a: jnp.flip(a), in_axes=1, out_axes=1)(x),
        jax.vmap(lambda a: jax.vmap(lambda b: jnp.maximum(a, b))(x))(x),
        jax.vmap(lambda k: jax.random.bits(k, (2,)))(jax.random.split(jax.random.key(0), 3)),
    )


def nested_functions(tree: Any, x: Any) -> Any:
    """Functions inside, called more than once, with pytrees in and out."""
    inner = jax.jit(lambda t, scale: {"b": t["a"] * scale, "c": (t["n"], None)})
    first = inner(tree, 2)
    second = inner({"a": first["b"], "n": first["c"][0] + 1}, 3)
    return first, second, State(x[0], {"x": x.T}), [], {"named": jax.named_call(jnp.abs)(x)}


def programs() -> dict[str, JaxProgram]:
    """By name."""
    tree = {"a": X, "n": N}
    return {
        "derivatives": JaxProgram(derivatives, (X, W / 4), bound=SUMS),
        "custom_rules": JaxProgram(custom_rules, (X,)),
        "recomputed": JaxProgram(recomputed, (X, W / 4), bound=ITERATED),
        "scans": JaxProgram(scans, (X, N), bound=ITERATED),
        "scan_gradient": JaxProgram(
            jax.grad(
                lambda w, x: lax.scan(lambda c, row: (jnp.tanh(w @ c + row), c.sum()), x[0], x)[
                    1
                ].sum()
            ),
            (W / 4, X),
            bound=ITERATED,
        ),
        "loops": JaxProgram(loops, (X, N), bound=ITERATED),
        "branches": JaxProgram(branches, (X, N), bound=EXACT),
        "batched_moves": JaxProgram(batched, (X, N), bound=EXACT),
        "nested_functions": JaxProgram(nested_functions, (tree, X), bound=EXACT),
        "donated_tree": JaxProgram(
            lambda t, x: ({"a": t["a"] + x, "n": t["n"] * 2}, x.max()),
            (tree, X),
            {"donate_argnums": 0},
            bound=EXACT,
        ),
        "game_of_life": JaxProgram(
            lambda cells: lax.fori_loop(0, 4, lambda _, c: next_generation(c), cells),
            (RANDOM.integers(0, 2, (8, 8), dtype=np.int8),),
            bound=EXACT,
        ),
        "conjugate_gradients": JaxProgram(
            lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a @ a.T @ v + v, b, maxiter=4)[0],
            (W / 4, X[0]),
            bound=ITERATED,
        ),
        "minimum": JaxProgram(
            lambda x: (
                jax.scipy.optimize.minimize(
                    lambda v: ((v - 1) ** 2).sum(), x, method="BFGS", options={"maxiter": 2}
                ).x
            ),
            (X[0],),
            bound=ITERATED,
        ),
        "differential_equation": JaxProgram(
            lambda y: lax.scan(lambda y, _: (y - 0.1 * jnp.sin(y), y), y, None, 5),
            (X[0],),
            bound=ITERATED,
        ),
    }


def next_generation(cells: Any) -> Any:
    """Conway's rule on a torus."""
    turns = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    count = sum(jnp.roll(cells, turn, (0, 1)) for turn in turns)
    return ((count == 3) | ((cells == 1) & (count == 2))).astype(cells.dtype)
