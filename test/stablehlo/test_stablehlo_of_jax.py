"""
What JAX prints today as StableHLO, custom and generic form.

Both forms have to give the same module, and the reference has to compute on it what XLA computes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import has_jax

from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

pytestmark = pytest.mark.jax

RANDOM = np.random.default_rng(0)
FLOATS = RANDOM.standard_normal((4, 6)).astype(np.float32)
POSITIVE = np.abs(FLOATS) + np.float32(0.5)
INTEGERS = RANDOM.integers(-50, 50, (4, 6), dtype=np.int32)
UNSIGNED = RANDOM.integers(0, 255, (4, 6), dtype=np.uint8)
TRUTHS = FLOATS > 0


def float_functions(x: Any, y: Any) -> Any:
    return (
        *(f(x) for f in (lax.exp, lax.log, lax.tanh, lax.sqrt, lax.rsqrt, lax.logistic, lax.cbrt)),
        *(f(x) for f in (lax.sin, lax.cos, lax.tan, lax.expm1, lax.log1p, lax.erf, lax.square)),
        *(f(y) for f in (lax.floor, lax.ceil, lax.sign, lax.neg, lax.abs, lax.is_finite)),
        *(lax.round(y, method) for method in lax.RoundingMethod),
        *(f(x, y) for f in (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.pow, lax.atan2)),
        *(f(x, y) for f in (lax.max, lax.min, lax.lt, lax.le, lax.gt, lax.ge, lax.eq, lax.ne)),
        *(f(y / 8) for f in (lax.asin, lax.acos, lax.atanh, lax.asinh, lax.sinh, lax.cosh)),
        lax.acosh(x + 1),
    )


def integer_functions(x: Any, y: Any) -> Any:
    return (
        *(f(x, y | 1) for f in (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min)),
        *(f(x, y) for f in (lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, lax.lt, lax.ge)),
        *(lax.shift_left(x, y), lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y)),
        *(f(x) for f in (lax.bitwise_not, lax.population_count, lax.clz)),
    )


def complex_functions(x: Any, y: Any) -> Any:
    z = lax.complex(x, y)
    w = lax.conj(z) * 2j
    return z + w, z * w, z / w, lax.exp(z), abs(z), lax.real(z), lax.imag(w), z == w, jnp.sum(z)


def conversions(x: Any) -> Any:
    types = (jnp.int8, jnp.uint32, jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn, jnp.bool_)
    wide = tuple((x * 3).astype(type_) for type_ in types)
    return *wide, *(value.astype(jnp.float32) for value in wide), x.view(jnp.int32), x.view("uint8")


def constants(x: Any) -> Any:
    return (
        x + np.float32(-np.inf),
        np.array([[1.5, np.nan], [np.inf, -0.0]], np.float32),
        np.arange(1200, dtype=np.float32).reshape(30, 40) / 7,
        np.arange(300) % 3 == 0,
        np.array([1 + 2j, complex(np.nan, -np.inf)], np.complex64),
        *(jnp.array([1, -2, 7], t) for t in (jnp.int4, jnp.int8, jnp.bfloat16, jnp.float8_e5m2)),
        np.zeros((0, 3), np.float32),
        jnp.full((2, 3), -0.0),
        lax.iota(jnp.uint8, 5),
        lax.broadcasted_iota(jnp.bfloat16, (2, 3), 1),
    )


def movements(x: Any, i: Any) -> Any:
    return (
        *(x.reshape(3, 8), x.T, x[::-1, ::2], x[1:3, 5], x[None, :, None], x[:0]),
        lax.rev(x, (0, 1)),
        lax.slice(x, (1, 0), (4, 5), (2, 3)),
        lax.pad(x, jnp.float32(-1), ((-1, 2, 0), (1, -1, 2))),
        lax.concatenate([x, x[:1], x[:0]], 0),
        lax.broadcast(x, (2, 1)),
        lax.broadcast_in_dim(x[:1], (3, 1, 6), (0, 2)),
        lax.broadcast_in_dim(x[:1], (3, 2, 6), (0, 2)),
        lax.dynamic_slice(x, (i, -i), (2, 3)),
        lax.dynamic_update_slice(x, x[:2, :2], (i, 7)),
        lax.select_n(x[0, 0] > 0, x, -x),
        jnp.where(x > 0, x, 0),
        lax.clamp(jnp.float32(-0.5), x, jnp.float32(0.5)),
        lax.clamp(x - 1, x.T.T, x + 1),
    )


def reductions(x: Any, n: Any, p: Any) -> Any:
    return (
        *(x.sum(), x.sum(0), x.max(1), x.min((0, 1)), x.prod(1), x[:0].sum(0), x[:0].max(1)),
        *(n.max(), n.min(0), lax.reduce(n, np.int32(-1), lax.bitwise_and, (0,)), p.all(), p.any(1)),
        *(x.argmax(1), x.argmin(0), n.argmax()),
        *lax.reduce((x, x), (0.0, -jnp.inf), lambda a, b: (a[0] + b[0], lax.max(a[1], b[1])), (1,)),
    )


def contractions(x: Any, n: Any) -> Any:
    return (
        *(x @ x.T, x[0] @ x[1], x @ x[0], x[:, :0] @ x.T[:0], jnp.outer(x[0], x[1])),
        jnp.einsum("ij,kj->ik", x, x, precision="highest"),
        jnp.einsum("ij,ij->i", x, x),
        jnp.einsum("bij,bjk->bik", x.reshape(2, 2, 6), x.reshape(2, 6, 2)),
        lax.dot(x.astype(jnp.bfloat16), x.T.astype(jnp.bfloat16)),
        lax.dot(n.astype(jnp.int8), n.T.astype(jnp.int8), preferred_element_type=jnp.int32),
    )


def gathers(x: Any, n: Any) -> Any:
    i = n[0] % 4
    return (
        *(x[i], x[:, i], x[i, i], x[i[0]], jnp.take(x, n, axis=1, mode="clip")),
        *(jnp.take(x, n, axis=0), jnp.take_along_axis(x, n % 6, 1)),
        jax.vmap(lambda row, k: row[k])(x, n[:4, 0] % 6),
        jax.vmap(lambda row, k: lax.dynamic_slice(row, (k,), (2,)))(x, n[:4, 0]),
    )


def scatters(x: Any, n: Any) -> Any:
    i = n[0] % 4
    return (
        *(x.at[i].add(1.5), x.at[:, i].set(x[:, :6]), x.at[i, i].max(0.0), x.at[i[0]].mul(2.0)),
        x.at[jnp.array([-9, 2])].add(x[:2], mode="drop"),
        jax.vmap(lambda row, k: row.at[k].add(row[0]))(x, n[:4, 0] % 6),
        jax.ops.segment_sum(x, i[:4], num_segments=3),
    )


def windows(x: Any) -> Any:
    y = x[None, :, :, None]
    pool = (1, 2, 2, 1)
    return (
        lax.reduce_window(y, 0.0, lax.add, pool, (1, 1, 2, 1), "SAME"),
        lax.reduce_window(x, -jnp.inf, lax.max, (2, 3), (1, 1), ((0, 1), (2, 0)), (2, 1), (1, 2)),
        jax.grad(
            lambda v: (lax.reduce_window(v, -jnp.inf, lax.max, pool, pool, "VALID") ** 2).sum()
        )(y),
        *(jnp.cumsum(x, 0), lax.cummax(x, 1, reverse=True), lax.cumprod(x, 1)),
    )


def convolutions(x: Any, k: Any) -> Any:
    image = x[None, :, :, None]
    names = ("NHWC", "HWIO", "NHWC")

    def conv(strides: Any, padding: Any, **options: Any) -> Any:
        return lax.conv_general_dilated(
            image, k, strides, padding, dimension_numbers=names, **options
        )

    return (
        conv((1, 1), "SAME"),
        conv((2, 1), ((1, 0), (-1, 2)), rhs_dilation=(1, 2), precision="highest"),
        conv((1, 1), ((0, 0), (1, 0)), lhs_dilation=(2, 3)),
        lax.conv_transpose(image, k, (2, 2), "SAME", dimension_numbers=names),
        lax.conv_general_dilated(x, 2 * x[:1], (), "VALID"),
        *jax.grad(lambda v, w: (lax.conv(v[None, None], w, (1, 1), "SAME") ** 2).sum(), (0, 1))(
            x, jnp.moveaxis(k, (2, 3), (1, 0))
        ),
    )


def sorts(x: Any, n: Any) -> Any:
    return (
        *(lax.sort(x, dimension=0), jnp.argsort(n, axis=1), jnp.median(x), jnp.unique(n, size=9)),
        *lax.sort((n, x), dimension=1, num_keys=2),
        *lax.top_k(x, 3),
        *lax.top_k(n, 0),
    )


def transforms(x: Any) -> Any:
    return (
        *(jnp.fft.rfft(x), jnp.fft.irfft(x[:, :4] + 1j), jnp.fft.fft2(x), jnp.fft.ifft(x + 0j)),
        *(lax.reduce_precision(x, 5, 2), lax.reduce_precision(x, 8, 7)),
    )


def control(x: Any, k: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        return carry * 0.5 + row, jax.nn.relu(carry)

    return (
        lax.cond(k > 1, lambda v: v + 1, lambda v: v * 2, x),
        lax.switch(k, [lambda: (x, x.sum()), lambda: (-x, x[0, 0]), lambda: (x * x, x.max())]),
        lax.switch(k + 9, [lambda: x, lambda: -x]),
        lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.5), (k, x)),
        lax.fori_loop(0, k, lambda i, c: c + x[i], x[0]),
        lax.scan(step, x[0], x),
        lax.optimization_barrier((x, k)),
        jax.jit(lambda v: v + 1)(x),
    )


PROGRAMS: dict[str, tuple[Callable[..., Any], *tuple[Any, ...]]] = {
    "float_functions": (float_functions, POSITIVE, FLOATS),
    "float_functions_f16": (float_functions, POSITIVE.astype("f2"), FLOATS.astype("f2")),
    "integer_functions": (integer_functions, INTEGERS, np.abs(INTEGERS) % 32),
    "integer_functions_u8": (integer_functions, UNSIGNED, UNSIGNED % 8),
    "complex_functions": (complex_functions, FLOATS, POSITIVE),
    "logic": (lambda p: (p & ~p, p | p[::-1], p ^ p[::-1], p.astype("int32")), TRUTHS),
    "conversions": (conversions, FLOATS),
    "constants": (constants, FLOATS),
    "movements": (movements, FLOATS, np.int32(3)),
    "reductions": (reductions, FLOATS, INTEGERS, TRUTHS),
    "contractions": (contractions, FLOATS, INTEGERS),
    "gathers": (gathers, FLOATS, INTEGERS),
    "scatters": (scatters, FLOATS, INTEGERS),
    "windows": (windows, FLOATS),
    "convolutions": (convolutions, FLOATS, FLOATS[:3, :4].reshape(3, 2, 1, 2)),
    "sorts": (sorts, FLOATS, INTEGERS),
    "transforms": (transforms, FLOATS),
    "control": (control, FLOATS, np.int32(2)),
    "softmax_gradient": (lambda x: jax.grad(lambda v: jax.nn.softmax(v)[0, 0])(x), FLOATS),
    "no_results": (lambda x: (), FLOATS),
    "no_arguments": (lambda: jnp.eye(3),),
    "unused_argument": (lambda x, y: y, FLOATS, INTEGERS),
}

TOLERANCES = {"float32": 2e-6, "complex64": 2e-6, "float16": 2e-3, "bfloat16": 1e-2}
"""Relative to the largest magnitude, per element type; what is not listed has to be equal."""


def assert_equal(ours: Any, theirs: Any) -> None:
    theirs = np.asarray(theirs)
    ours = np.asarray(ours)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    tolerance = TOLERANCES.get(theirs.dtype.name)
    if tolerance is None:
        np.testing.assert_array_equal(ours, theirs)
        return
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    ours, theirs = ours.astype(wide), theirs.astype(wide)
    finite = np.abs(theirs[np.isfinite(theirs)])
    scale = float(finite.max()) if finite.size else 1.0
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale)


def compiler_ir(lowered: Any) -> Any:
    """The MLIR module that JAX has made."""
    return lowered.compiler_ir()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str):
    function, *arguments = PROGRAMS[name]
    jitted = jax.jit(function, keep_unused=True)
    lowered = jitted.lower(*arguments)
    module = read_stablehlo(lowered.as_text(), "custom.mlir")
    generic = compiler_ir(lowered).operation.get_asm(print_generic_op_form=True)
    assert module.is_structurally_equivalent(read_stablehlo(generic, "generic.mlir"))
    debug = lowered.as_text(debug_info=True)
    assert module.is_structurally_equivalent(read_stablehlo(debug, "debug.mlir"))
    results = flatten_results(run(module, arguments))
    expected = jax.tree.leaves(jitted(*arguments))
    assert len(results) == len(expected)
    for ours, theirs in zip(results, expected, strict=True):
        assert_equal(ours, theirs)


def test_attributes_of_jax_are_kept():
    """A donated buffer, a sharding over one device, and the names of the results."""
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))

    def function(x: Any, y: Any) -> Any:
        return {"sum": lax.with_sharding_constraint(x + y, sharding), "y": y}

    arguments = (jax.device_put(FLOATS, sharding), FLOATS)
    lowered = jax.jit(function, donate_argnums=0).lower(*arguments)
    text = str(read_stablehlo(lowered.as_text()))
    for kept in ("mhlo.num_partitions = 1", "jax.result_info", "sum", "tf.aliasing_output"):
        assert kept in text
    assert text.count("sdy.") >= 2
