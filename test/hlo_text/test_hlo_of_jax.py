"""What JAX prints today, lowered and compiled, for every operation that the dialect has."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import has_jax
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import FuncOp

from xla_dialect.hlo_text import read_hlo
from xla_dialect.types import spell
from xla_dialect.verification import verify

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

pytestmark = pytest.mark.jax

FLOATS = np.arange(12, dtype=np.float32).reshape(3, 4)
INTEGERS = np.arange(12, dtype=np.int32).reshape(3, 4)


def unary(x: Any) -> Any:
    y = jnp.abs(x) + 1
    return (
        *(f(y) for f in (jnp.exp, jnp.log, jnp.tanh, jnp.sqrt, lax.rsqrt, lax.logistic)),
        *(f(y) for f in (jnp.sin, jnp.cos, jnp.tan, jnp.expm1, jnp.log1p, jnp.cbrt)),
        *(f(y) for f in (jnp.floor, jnp.ceil, jnp.round, lax.round, jnp.sign, jnp.isfinite)),
    )


def binary(x: Any, y: Any) -> Any:
    return x + y, x - y, x * y, x / y, x**y, x % y, lax.atan2(x, y), jnp.maximum(x, y)


def integer(x: Any) -> Any:
    bits = (x & 3, x | 5, x ^ 6, ~x, x << 2, x >> 1, lax.shift_right_logical(x, 1))
    return *bits, x // 3, x % 3, lax.clz(x), lax.population_count(x)


def constants(x: Any) -> Any:
    narrow = ((jnp.int4, -3), (jnp.bfloat16, -3), (jnp.float8_e4m3fn, -448), (jnp.uint8, 255))
    return (
        x,
        np.array([[1.5, np.nan], [np.inf, -0.0]], np.float32),
        jnp.array([1 + 2j, 3]),
        jnp.array([True, False]),
        *(jnp.array([1, 2, value], dtype) for dtype, value in narrow),
    )


def reductions(x: Any) -> Any:
    return x.sum(), x.max(0), x.min(1), x.prod(), (x > 1).any(), x.argmax(1), x.argmin(0)


def slices(x: Any, i: Any) -> Any:
    return lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (1, 4)), (0, i))


PROGRAMS: dict[str, tuple[Callable[..., Any], *tuple[Any, ...]]] = {
    "unary": (unary, FLOATS),
    "binary": (binary, FLOATS, FLOATS),
    "integer": (integer, INTEGERS),
    "logic": (lambda x, y: ((x < y) & (x != 0), jnp.where(x > y, x, y)), FLOATS, FLOATS),
    "complex": (lambda x: (lax.complex(x, x) * 1j, jnp.real(x + 1j), jnp.imag(x)), FLOATS),
    "constants": (constants, FLOATS),
    "convert": (lambda x: [x.astype(t) for t in ("int8", "bfloat16", "uint32", "bool")], FLOATS),
    "bitcast": (lambda x: lax.bitcast_convert_type(x, jnp.int32), FLOATS),
    "clamp": (lambda x: jnp.clip(x, 1, 7), FLOATS),
    "views": (lambda x: (x.reshape(2, 6), x.T, x[::-1, 1:3], x[1:, ::2], x[None]), FLOATS),
    "concatenate": (lambda x: jnp.concatenate([x, x[:1]], 0), FLOATS),
    "pad": (lambda x: lax.pad(x, -jnp.inf, ((1, 2, 1), (-1, 0, 0))), FLOATS),
    "slices": (slices, FLOATS, np.int32(1)),
    "iota": (lambda: (jnp.arange(5), lax.broadcasted_iota(jnp.float32, (2, 3), 1)),),
    "reductions": (reductions, FLOATS),
    "dot": (lambda x, y: (x @ y.T, jnp.einsum("bij,bkj->bik", x[None], y[None])), FLOATS, FLOATS),
    "gather": (lambda x, i: x[i], FLOATS, np.array([[0, 2], [1, 1]])),
    "take": (lambda x, i: jnp.take_along_axis(x, i, 1), FLOATS, INTEGERS[:, :2]),
    "loop": (lambda x: lax.fori_loop(0, 5, lambda i, c: (c[0] + i, c[1]), (x, 0)), FLOATS),
    "scan": (lambda x: lax.scan(lambda c, row: (c + row, c.sum()), jnp.zeros(4), x), FLOATS),
    "branch": (lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x), True, FLOATS),
    "switch": (
        lambda i, x: lax.switch(i, [lambda v: v, lambda v: -v, lambda v: v * v], x),
        np.int32(2),
        FLOATS,
    ),
    "call": (lambda x: jax.jit(lambda v: v + 1)(jax.jit(lambda v: v * 2)(x)), FLOATS),
    "scalar": (lambda x: x + 1, np.float32(1)),
    "empty": (lambda x: (x.sum(0), jnp.concatenate([x, x])), np.zeros((0, 3), np.float32)),
    "nothing": (lambda: (),),
    "softmax": (lambda x: jax.nn.softmax(jax.nn.gelu(x)), FLOATS),
    "gradient": (lambda x: jax.grad(lambda v: jax.checkpoint(jnp.sin)(v).sum())(x), FLOATS),
}


def result_sizes(module: ModuleOp) -> list[list[int]]:
    """The sizes of the results of the entry function."""
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    (result,) = main.function_type.outputs.data
    types = result.types.data if isinstance(result, TupleType) else (result,)
    return [list(map(int, re.findall(r"\d+", spell(t).partition("[")[2]))) for t in types]


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_and_compiled(name: str):
    function, *arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    sizes = [list(leaf.shape) for leaf in jax.tree.leaves(lowered.out_info)]
    for text in (lowered.as_text(dialect="hlo"), lowered.compile().as_text()):
        assert text is not None
        module = read_hlo(text, f"{name}.hlo")
        verify(module, {f"{name}.hlo": text})
        assert result_sizes(module) == sizes
